#include <catch2/catch.hpp>
#include <random>

#include "rewrite/text/edits.h"

using vprof::instrumenter::apply_edits;
using vprof::instrumenter::Edit;
using vprof::instrumenter::overlapping;

TEST_CASE("insertions nest as their ranges do") {
  const std::string text = "f(g(x))(y);";
  const std::vector<Edit> edits{
      {2, 6, "<b>", "</b>"}, {0, 7, "<a>", "</a>"}, {0, 10, "<c>", "</c>"}};
  CHECK(apply_edits(text, edits) == "<c><a>f(<b>g(x)</b>)</a>(y)</c>;");
}

TEST_CASE("what closes comes before what opens at the same offset") {
  CHECK(apply_edits("abcd", {{2, 4, "[", "]"}, {0, 2, "(", ")"}}) == "(ab)[cd]");
}

TEST_CASE("insertions at one offset keep their order and come before a range that begins there") {
  CHECK(apply_edits("ab", {{1, 1, "1", ""}, {1, 2, "<", ">"}, {1, 1, "2", ""}}) == "a12<b>");
}

TEST_CASE("insertion at the end of the text") {
  CHECK(apply_edits("ab", {{2, 2, "!", ""}}) == "ab!");
}

TEST_CASE("ranges that overlap without nesting are found") {
  const std::vector<Edit> edits{{0, 4, "", ""}, {2, 6, "", ""}, {2, 3, "", ""}, {4, 6, "", ""}};
  CHECK(overlapping(edits) == std::vector<size_t>{1});
}

TEST_CASE("whatever nests: the original text stays, character by character") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string text;
    for (int i = 0; i < 40; ++i) {
      text += static_cast<char>('a' + random() % 26);
    }
    std::vector<Edit> edits;
    for (int i = 0; i < 12; ++i) {
      const uint32_t begin = random() % 40;
      edits.push_back({begin, begin + static_cast<uint32_t>(random() % (41 - begin)), "{", "}"});
    }
    std::vector<Edit> kept;
    const std::vector<size_t> bad = overlapping(edits);
    for (size_t i = 0; i < edits.size(); ++i) {
      if (std::find(bad.begin(), bad.end(), i) == bad.end()) {
        kept.push_back(edits[i]);
      }
    }
    const std::string out = apply_edits(text, kept);
    std::string without;
    int depth = 0;
    for (const char c : out) {
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
      REQUIRE(depth >= 0);
      if (c != '{' && c != '}') {
        without += c;
      }
    }
    CHECK(depth == 0);
    CHECK(without == text);
  }
}
