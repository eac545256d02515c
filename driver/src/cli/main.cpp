// vprof: parses the command line and runs one verb.
#include "cli/command_line.h"
#include "verbs/run.h"

namespace vprof::driver {
namespace {

int vprof_main(int argc, char** argv) {
  CommandLine line;
  CLI::App app("Tells why the latency of a C or C++ server varies.", "vprof");
  define(app, line);
  try {
    app.parse(take_tried_command(argc, argv, line), argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      return app.exit(error);  // --help and --version
    }
    return exit_with(std::string(error.what()) + "; `vprof --help` lists the verbs");
  }
  return run(line.verb, line.directory);
}

}  // namespace
}  // namespace vprof::driver

int main(int argc, char** argv) {
  vprof::driver::prepare_process();
  try {
    return vprof::driver::vprof_main(argc, argv);
  } catch (const std::exception& error) {
    return vprof::driver::exit_with(std::string("unexpected: ") + error.what());
  }
}
