// A small storage engine to study what makes its transactions' latency vary.
//
//   lock_lab run       threads, and work that is sleep: what vprof looks at
//   lock_lab simulate  the same locks and transactions on a simulated clock
#include <cstdio>
#include <string>

#include "engine/engine.h"
#include "program/figures.h"
#include "program/options.h"
#include "simulation/simulation.h"

int main(int argc, char** argv) {
  lab::Settings settings;
  std::string error;
  if (!lab::read_options(argc, argv, settings, error)) {
    std::fprintf(stderr, "lock_lab: %s\n%s", error.c_str(), lab::usage().c_str());
    return 2;
  }
  const auto workload = lab::make_workload(settings.workload);
  lab::Outcome outcome = settings.simulated ? lab::simulate(settings, *workload)
                                            : lab::run_engine(settings, *workload);
  std::printf("%s\n", lab::figures(settings, std::move(outcome)).c_str());
  return 0;
}
