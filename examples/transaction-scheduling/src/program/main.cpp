// Clients with contended transactions on RocksDB, with and without a scheduler.
//
//   scheduling_lab run       threads, and network and I/O that are sleep: what vprof looks at
//   scheduling_lab simulate  the same transactions on a simulated clock
#include <cstdio>
#include <exception>

#include "program/options.h"
#include "program/outcome.h"

int main(int argc, char** argv) {
  smf::Settings settings;
  std::string error;
  if (!smf::read_options(argc, argv, settings, error)) {
    std::fprintf(stderr, "scheduling_lab: %s\n%s", error.c_str(), smf::usage().c_str());
    return 2;
  }
  try {
    const smf::RunOutcome outcome =
        settings.simulated ? smf::simulate(settings) : smf::run_clients(settings);
    std::printf("%s\n", smf::figures(settings, outcome).c_str());
    if (outcome.anomaly) {
      std::fprintf(stderr, "scheduling_lab: not serializable: %s\n", outcome.anomaly->c_str());
      return 1;
    }
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "scheduling_lab: %s\n", failure.what());
    return 2;
  }
  return 0;
}
