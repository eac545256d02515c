#include "text/layout.h"

#include <catch2/catch.hpp>

using namespace vprof::report;

TEST_CASE("counts and parts") {
  CHECK(human_count(0) == "0");
  CHECK(human_count(999) == "999");
  CHECK(human_count(1000) == "1,000");
  CHECK(human_count(1234567) == "1,234,567");
  CHECK(percent(0.1234) == "12.3 %");
  CHECK(percent(-0.0001) == "0.0 %");
  CHECK(plural(1, "wait", "waits") == "1 wait");
}

TEST_CASE("text is cut by columns, not by bytes") {
  CHECK(columns("± 3") == 3);
  CHECK(fit("äöü", 3) == "äöü");
  CHECK(fit("äöüß", 3) == "äö…");
  CHECK(fit("abc", 0).empty());
  CHECK(pad("ä", 3) == "ä  ");
}

TEST_CASE("wide characters take two columns, combining ones none") {
  CHECK(columns("漢字") == 4);
  CHECK(columns("e\u0301") == 1);
  CHECK(fit("漢字漢字", 5) == "漢字…");
  CHECK(fit("漢字漢字", 4) == "漢…");
  CHECK(fit("xe\u0301yz", 3) == "xe\u0301…");
  CHECK(columns("\xff\xfe") == 2);
}

TEST_CASE("a path keeps its ends") {
  const std::vector<std::string> path = {"request", "handle", "process_order", "slow_path"};
  CHECK(fit_path(path, 80) == "request > handle > process_order > slow_path");
  CHECK(fit_path(path, 41) == "request > … > process_order > slow_path");
  CHECK(fit_path(path, 25) == "request > … > slow_path");
  CHECK(fit_path(path, 8) == "slow_pa…");
  CHECK(fit_path({"request", "f"}, 8) == "f");
  CHECK(fit_path({}, 8).empty());
}

TEST_CASE("paragraphs break at spaces") {
  CHECK(wrap("one two three", 2, 14) == "  one two\n  three\n");
  CHECK(wrap("", 2, 20).empty());
}

TEST_CASE("bars are clamped to 0 and 1") {
  CHECK(bar(1, 4) == "████");
  CHECK(bar(2, 4) == "████");
  CHECK(bar(-1, 4) == "    ");
  CHECK(bar(0.5, 4) == "██  ");
  CHECK(bar(0.53125, 4) == "██▏ ");
}
