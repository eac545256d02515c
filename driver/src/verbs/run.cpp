#include "verbs/run.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "process/commands.h"
#include "process/interrupt.h"
#include "vprof/report/terminal.h"

namespace vprof::driver {

namespace {

constexpr int kError = 2;

}  // namespace

void prepare_process() {
  // Makes orphans of a workload children of vprof, which can then tell dead ones from live ones
  // (process.cpp).
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // A parent that ignores its children's ends passes that on, and the kernel would then discard
  // their exit codes.
  ::signal(SIGCHLD, SIG_DFL);
  interrupt::install();
}

int exit_with(std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  message = report::for_terminal("vprof: " + message, STDERR_FILENO);
  std::fprintf(stderr, "%s\n", message.c_str());
  return kError;
}

int when_written(int code) {
  const Result<void> written = standard_output_is_written();
  return code != 0 || written ? code : exit_with(written.error().message);
}

Result<int> print(const std::string& text) {
  answer(text);
  return 0;
}

int run(const std::function<Result<int>()>& verb, const std::string& directory) {
  if (!directory.empty() && ::chdir(directory.c_str()) != 0) {
    return exit_with("cannot enter directory " + directory);
  }
  const Result<int> result = verb();
  if (result) {
    return when_written(*result);
  }
  // A system call that the signal cut short fails the step that made it.
  if (result.error().kind != ErrorKind::kInterrupted && !interrupt::requested()) {
    return exit_with(result.error().message);
  }
  std::fprintf(stderr, "vprof: interrupted; run the same command again to resume\n");
  return interrupt::exit_code();
}

}  // namespace vprof::driver
