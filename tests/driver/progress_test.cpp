#include "process/progress.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "process/build_progress.h"
#include "temporary.h"

using vprof::driver::BuildProgress;
using vprof::driver::progress_line;
using vprof::test::Temporary;

namespace {

void append(const vprof::fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::app) << text;
}

/// Lines of the shims.
const std::string kCompiled = "{\"directory\":\"/\",\"file\":\"a.c\",\"output\":\"a.o\"}\n";
const std::string kLinked = "{\"directory\":\"/\",\"dynamic\":\"a\",\"inputs\":[\"a.o\"]}\n";

}  // namespace

TEST_CASE("the progress line says what it knows") {
  CHECK(progress_line("build", 2, 0, {}) == "build: 2.0 s");
  CHECK(progress_line("build", 2, 0, {.done = 1, .total = 9, .what = "a.c"}) ==
        "build: 2.0 s [1/9] a.c");
  CHECK(progress_line("run", 2, 0, {.what = "(5 intervals)"}) == "run: 2.0 s (5 intervals)");
}

TEST_CASE("what is left follows from the last run, or from what is done") {
  CHECK(progress_line("run", 10, 45, {}) == "run: 10.0 s, about 35 s left");
  CHECK(progress_line("run", 10, 200, {}) == "run: 10.0 s, about 3 min 10 s left");
  CHECK(progress_line("run", 50, 45, {}) == "run: 50.0 s");  // longer than usual
  CHECK(progress_line("build", 10, 0, {.done = 4, .total = 12, .what = "a.c"}) ==
        "build: 10.0 s, about 20 s left [4/12] a.c");
  // The first items say little.
  CHECK(progress_line("build", 10, 0, {.done = 1, .total = 12, .what = "a.c"}) ==
        "build: 10.0 s [1/12] a.c");
  CHECK(progress_line("build", 1, 0, {.done = 4, .total = 12, .what = "a.c"}) ==
        "build: 1.0 s [4/12] a.c");
}

TEST_CASE("a build says itself how far it is") {
  const Temporary directory;
  BuildProgress progress(directory / "log", directory / "compiled", 0);
  CHECK(progress.at(0).what.empty());
  append(directory / "log", "-- Configuring done\n[1/12] Building a.c\nwarning: [0/0] of a\n");
  CHECK(progress.at(0.01).what.empty());  // looked a moment ago
  const auto ninja = progress.at(1);
  CHECK(ninja.done == 1);
  CHECK(ninja.total == 12);
  CHECK(ninja.what == "Building a.c");
  append(directory / "log", "[ 42%] Building C object b.c.o\n[x/y] no\n[7/3] no\n[9] no\n");
  CHECK(progress.at(2).what == "[ 42%] Building C object b.c.o");
  CHECK(progress.at(2).total == 0);
}

TEST_CASE("other builds are judged by what the shims log") {
  const Temporary directory;
  append(directory / "compiled", kCompiled + kCompiled);  // of configure
  append(directory / "log", "gcc -c a.c\n");
  BuildProgress progress(directory / "log", directory / "compiled", 2);
  CHECK(progress.at(0).what.empty());
  append(directory / "compiled", kCompiled + kCompiled.substr(0, 9));  // a line is being written
  CHECK(progress.at(1).done == 1);
  CHECK(progress.at(1).total == 2);
  append(directory / "compiled", kCompiled.substr(9) + kLinked);
  CHECK(progress.at(2).done == 2);
  append(directory / "compiled", kCompiled);  // more than expected
  CHECK(progress.at(3).total == 0);
  CHECK(progress.at(3).what == "3 files compiled");
}
