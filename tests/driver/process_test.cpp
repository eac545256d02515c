#include "process/process.h"

#include <signal.h>

#include <catch2/catch.hpp>

#include "temporary.h"

using namespace vprof;
using namespace vprof::driver;
using vprof::test::Temporary;

namespace {

struct Fixture {
  Temporary directory;
  Command command(const std::string& text) {
    Command result;
    result.argv = shell(text);
    result.directory = directory.path();
    result.log = directory / "log";
    return result;
  }
};

}  // namespace

TEST_CASE("output, exit code and place of a command") {
  Fixture f;
  auto finished = run_command(f.command("pwd; echo two >&2; exit 3"));
  REQUIRE(finished);
  CHECK(finished->code == 3);
  CHECK(vprof::test::read(f.directory / "log") ==
        fs::canonical(f.directory.path()).string() + "\ntwo\n");
}

TEST_CASE("death by a signal is told") {
  Fixture f;
  CHECK(run_command(f.command("kill -9 $$"))->code == 128 + SIGKILL);
}

TEST_CASE("the environment is extended and cut") {
  Fixture f;
  ::setenv("VPROF_TEST_GONE", "1", 1);
  Command command = f.command("echo \"${VPROF_TEST_NEW}${VPROF_TEST_GONE-none}\"");
  command.environment = {{"VPROF_TEST_NEW", "a b"}, {"VPROF_TEST_GONE", ""}};
  REQUIRE(run_command(command));
  CHECK(vprof::test::read(f.directory / "log") == "a bnone\n");
}

TEST_CASE("lines are handed over while standard error goes to the log") {
  Fixture f;
  std::vector<std::string> lines;
  Command command = f.command("echo one; echo error >&2; printf 'two\\nrest'");
  command.on_line = [&lines](std::string_view line) { lines.emplace_back(line); };
  REQUIRE(run_command(command));
  CHECK(lines == std::vector<std::string>{"one", "two"});
  CHECK(vprof::test::read(f.directory / "log") == "error\n");
}

TEST_CASE("what a workload leaves running is ended") {
  Fixture f;
  Command command = f.command("sleep 1000 & echo $! > pid");
  command.end_leftovers = true;
  auto finished = run_command(command);
  REQUIRE(finished);
  CHECK(finished->leftovers);
  CHECK(finished->seconds < 60);
  const int pid = std::stoi(vprof::test::read(f.directory / "pid"));
  // Dead, or a zombie that whoever adopted it has not reaped yet.
  const std::string status = vprof::test::read("/proc/" + std::to_string(pid) + "/stat");
  CHECK((status.empty() || status.find(") Z") != std::string::npos));
}

TEST_CASE("a program that is not there") {
  Fixture f;
  Command command = f.command("");
  command.argv = {"/no/such/program"};
  CHECK_FALSE(run_command(command));
  command = f.command("");
  command.log = f.directory / "no/such/log";
  CHECK_FALSE(run_command(command));
}
