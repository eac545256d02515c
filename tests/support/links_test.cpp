#include "vprof/support/links.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace vprof;

namespace {

/// A source tree with one file.
struct Tree {
  fs::path root = fs::temp_directory_path() / ("vprof links " + std::to_string(::getpid()));
  Tree() {
    fs::create_directories(root / "src");
    std::ofstream(root / "src/a b.c") << "x";
    std::ofstream(root / "src/worker.cpp") << "x";
  }
  ~Tree() { fs::remove_all(root); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
};

std::string link(const std::string& url, const std::string& text) {
  return "\033]8;;" + url + "\033\\" + text + "\033]8;;\033\\";
}

}  // namespace

TEST_CASE("places whose file exists become links, and nothing else changes") {
  const Tree tree;
  const LinkFormat format{"vscode://file{path}:{line}:{column}"};
  std::string path = tree.root.string() + "/src/worker.cpp";
  for (size_t at = 0; (at = path.find(' ', at)) != std::string::npos;) {
    path.replace(at, 1, "%20");
  }
  const auto linked = [&](const std::string& text) { return with_links(text, format, tree.root); };
  CHECK(linked("f  src/worker.cpp:41") ==
        "f  " + link("vscode://file" + path + ":41:1", "src/worker.cpp:41"));
  CHECK(linked("src/worker.cpp:41:7: x\nsrc/worker.cpp:2, y") ==
        link("vscode://file" + path + ":41:7", "src/worker.cpp:41:7") + ": x\n" +
            link("vscode://file" + path + ":2:1", "src/worker.cpp:2") + ", y");
  CHECK(linked("\033[1msrc/worker.cpp:3\033[0m") ==
        "\033[1m" + link("vscode://file" + path + ":3:1", "src/worker.cpp:3") + "\033[0m");
  const std::string absolute = (tree.root / "src/worker.cpp").string() + ":5";
  CHECK(linked(absolute.substr(absolute.find("links"))) ==
        absolute.substr(absolute.find("links")));  // the name has a space in it
  for (const std::string text :
       {"src/missing.cpp:41", "src:1", "key 12:34", "std::vector", "src/worker.cpp:", ":7", "",
        "src/worker.cp\u2026:41", "a::b::c src/worker.cpp"}) {
    CHECK(linked(text) == text);
  }
}

TEST_CASE("without a format or a tree there are no links") {
  const Tree tree;
  CHECK(with_links("src/worker.cpp:41", {}, tree.root) == "src/worker.cpp:41");
  CHECK(with_links("src/worker.cpp:41", {"file://{path}"}, {}) == "src/worker.cpp:41");
}

TEST_CASE("standard output that is no terminal gets no links, whatever the format") {
  // Tests write to a pipe or a file. The driver's tests have a terminal.
  ::setenv("VPROF_LINK_FORMAT", "vscode", 1);
  const auto format = link_format();
  REQUIRE(format);
  CHECK((::isatty(STDOUT_FILENO) != 0 || format->url.empty()));
  ::unsetenv("VPROF_LINK_FORMAT");
}
