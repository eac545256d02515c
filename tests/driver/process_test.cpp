#include "process/process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>

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

TEST_CASE("a command has output, an exit code and a working directory") {
  Fixture f;
  auto finished = run_command(f.command("pwd; echo two >&2; exit 3"));
  REQUIRE(finished);
  CHECK(finished->code == 3);
  CHECK(vprof::test::read(f.directory / "log") ==
        fs::canonical(f.directory.path()).string() + "\ntwo\n");
}

TEST_CASE("death by a signal is an exit code above 128") {
  Fixture f;
  CHECK(run_command(f.command("kill -9 $$"))->code == 128 + SIGKILL);
}

TEST_CASE("variables are added to the environment and removed from it") {
  Fixture f;
  ::setenv("VPROF_TEST_GONE", "1", 1);
  Command command = f.command("echo \"${VPROF_TEST_NEW}${VPROF_TEST_GONE-none}\"");
  command.environment = {{"VPROF_TEST_NEW", "a b"}, {"VPROF_TEST_GONE", ""}};
  REQUIRE(run_command(command));
  CHECK(vprof::test::read(f.directory / "log") == "a bnone\n");
}

TEST_CASE("standard output goes to the caller line by line, standard error to the log") {
  Fixture f;
  std::vector<std::string> lines;
  Command command = f.command("echo one; echo error >&2; printf 'two\\nrest'");
  command.on_line = [&lines](std::string_view line) { lines.emplace_back(line); };
  REQUIRE(run_command(command));
  CHECK(lines == std::vector<std::string>{"one", "two"});
  CHECK(vprof::test::read(f.directory / "log") == "error\n");
}

TEST_CASE("processes that a command leaves running are ended") {
  // As in main(): otherwise init adopts the leftover, and the test cannot wait for its end.
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  Fixture f;
  REQUIRE(::mkfifo((f.directory / "gate").c_str(), 0600) == 0);
  // Opening a FIFO that nobody writes to blocks until a signal ends the process.
  Command command = f.command("cat gate & echo $! > pid");
  command.end_leftovers = true;
  auto finished = run_command(command);
  REQUIRE(finished);
  CHECK_FALSE(finished->leftovers.empty());
  const int pid = std::stoi(vprof::test::read(f.directory / "pid"));
  // Reaped already, or killed and about to end. If it was not ended, this hangs.
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  CHECK((::kill(pid, 0) < 0 && errno == ESRCH));
}

TEST_CASE("a daemon that ends while the command waits for it is reaped") {
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  Fixture f;
  // The daemon is an orphan of another session. As a zombie it would satisfy `kill -0` for ever.
  auto finished =
      run_command(f.command("setsid sh -c 'sleep 1000 & echo $! > pid'; pid=$(cat pid); kill $pid;"
                            "while kill -0 $pid 2> /dev/null; do sleep 0.01; done; echo gone"));
  REQUIRE(finished);
  CHECK(finished->code == 0);
  CHECK(vprof::test::read(f.directory / "log") == "gone\n");
}

TEST_CASE("a daemon in a session of its own is a leftover, what there was before is not") {
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  Fixture f;
  REQUIRE(run_command(f.command("setsid sh -c 'sleep 1000 & echo $! > spared'")));
  Command command = f.command(
      "setsid sh -c 'sh -c \"trap : TERM; echo \\$\\$ > pid; cat gate\" &';"
      "while ! test -s pid; do sleep 0.01; done");
  REQUIRE(::mkfifo((f.directory / "gate").c_str(), 0600) == 0);
  command.end_leftovers = true;
  auto finished = run_command(command);
  REQUIRE(finished);
  CHECK_FALSE(finished->leftovers.empty());
  const int pid = std::stoi(vprof::test::read(f.directory / "pid"));
  CHECK((::kill(pid, 0) < 0 && errno == ESRCH));
  const int spared = std::stoi(vprof::test::read(f.directory / "spared"));
  CHECK(::kill(spared, SIGKILL) == 0);
  CHECK(::waitpid(spared, nullptr, 0) == spared);
}

TEST_CASE("a command that runs for too long is ended with all that it started") {
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  Fixture f;
  Command command = f.command("setsid sleep 1000 & sleep 1000");
  command.timeout_s = 0.05;
  auto finished = run_command(command);
  REQUIRE(finished);
  CHECK(finished->timed_out);
  CHECK_FALSE(finished->leftovers.empty());
}

TEST_CASE("a command that is stopped after a time has not failed") {
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  Fixture f;
  // The shell ends with the signal; its background job ignores SIGINT and gets SIGTERM.
  Command command = f.command("sleep 1000 & wait");
  command.stop_after_s = 0.05;
  command.end_leftovers = true;
  const auto finished = run_command(command);
  REQUIRE(finished);
  CHECK(finished->stopped);
  CHECK_FALSE(finished->timed_out);
}

TEST_CASE("a program or a log that does not exist is an error") {
  Fixture f;
  Command command = f.command("");
  command.argv = {"/no/such/program"};
  CHECK_FALSE(run_command(command));
  command = f.command("");
  command.log = f.directory / "no/such/log";
  CHECK_FALSE(run_command(command));
}
