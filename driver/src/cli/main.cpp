// The command line: parses it, runs one verb, and turns the result into an exit code.
//
//   0             done
//   1             a condition of `diff --fail-if` holds
//   2             an error; standard error has one line about it
//   128 + signal  interrupted; the same command resumes
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/command_line.h"
#include "process/interrupt.h"

namespace vprof::driver {
namespace {

constexpr int kError = 2;

int fail_with(std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::fprintf(stderr, "vprof: %s\n", message.c_str());
  return kError;
}

int run_verb(const CommandLine& line) {
  if (!line.directory.empty() && ::chdir(line.directory.c_str()) != 0) {
    return fail_with("cannot enter directory " + line.directory);
  }
  const Result<int> result = line.verb();
  if (result) {
    return *result;
  }
  if (!interrupt::requested()) {
    return fail_with(result.error().message);
  }
  std::fprintf(stderr, "vprof: interrupted; run the same command again to resume\n");
  return interrupt::exit_code();
}

int vprof_main(int argc, char** argv) {
  CommandLine line;
  CLI::App app("Tells why the latency of a C or C++ server varies.", "vprof");
  define(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      return app.exit(error);  // --help and --version
    }
    return fail_with(std::string(error.what()) + "; `vprof --help` lists the verbs");
  }
  return run_verb(line);
}

}  // namespace
}  // namespace vprof::driver

int main(int argc, char** argv) {
  // Makes orphans of a workload children of vprof, which can then tell dead ones from live ones
  // (process.cpp).
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  vprof::driver::interrupt::install();
  try {
    return vprof::driver::vprof_main(argc, argv);
  } catch (const std::exception& error) {
    return vprof::driver::fail_with(std::string("unexpected: ") + error.what());
  }
}
