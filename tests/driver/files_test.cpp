#include "vprof/support/files.h"

#include <catch2/catch.hpp>

#include "process/command_log.h"
#include "temporary.h"
#include "vprof/support/json.h"

using namespace vprof;
using namespace vprof::driver;
using vprof::test::Temporary;

TEST_CASE("a file is replaced as a whole") {
  const Temporary directory;
  const fs::path file = directory / "a.json";
  REQUIRE(write_file_atomic(file, "one"));
  REQUIRE(write_file_atomic(file, "two"));
  CHECK(read_file(file).value() == "two");
  CHECK(std::distance(fs::directory_iterator(directory.path()), fs::directory_iterator()) == 1);
  CHECK_FALSE(write_file_atomic(file / "b.json", "x"));
}

TEST_CASE("files that cannot be read are errors") {
  const Temporary directory;
  CHECK_FALSE(read_file(directory / "none"));
  CHECK_FALSE(read_file(directory.path()));
  vprof::test::write(directory / "bad.json", "{");
  CHECK_THAT(read_json(directory / "bad.json").error().message, Catch::Contains("damaged"));
}

TEST_CASE("the last lines of a log") {
  const Temporary directory;
  std::string text;
  for (int i = 0; i < 20000; ++i) {
    text += "line " + std::to_string(i) + "\n";
  }
  vprof::test::write(directory / "log", text + "the end");
  CHECK(last_lines(directory / "log", 2) == std::vector<std::string>{"line 19999", "the end"});
  CHECK(last_lines(directory / "none", 2).empty());
}

TEST_CASE("errors are found anywhere in a build's log") {
  const Temporary directory;
  std::string text =
      "cc -c a.c\na.c:3:5: warning: error handling is missing\n"
      "a.c:4:5: error: unknown type name 'x'\nmake[1]: *** [Makefile:9: a.o] Error 1\n";
  for (int i = 0; i < 100; ++i) {
    text += "cc -c b.c\n";
  }
  text += "ld: b.o: undefined reference to `f'\r\n";
  vprof::test::write(directory / "log", text);
  const std::vector<std::string> all{"a.c:4:5: error: unknown type name 'x'",
                                     "make[1]: *** [Makefile:9: a.o] Error 1",
                                     "ld: b.o: undefined reference to `f'"};
  CHECK(error_lines(directory / "log", 5) == all);
  CHECK(error_lines(directory / "log", 1) == std::vector<std::string>{all[0]});
  CHECK(error_lines(directory / "none", 5).empty());
}
