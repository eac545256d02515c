// The program of a live run: built once with the sites of every call, all of them off.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/steps.h"
#include "vprof/instrumenter/program.h"
#include "vprof/instrumenter/sites.h"
#include "workspace/session.h"

namespace vprof::driver {

struct ArmedProgram {
  instrumenter::Program program;
  Targets targets;
  instrumenter::SitesFile sites;  ///< of all that is compiled in
};

/// Copies, builds and indexes the source as the loop does, with everything instrumented. Does
/// nothing that was done for the same source and configuration. Error: as for these steps.
Result<ArmedProgram> arm(Session& session);

/// The program as arm() has left it, which runs meanwhile: nothing of it is touched, whatever has
/// become of the source. Error: there is none for this configuration.
Result<ArmedProgram> armed_before(const Session& session);

/// What is switched on.
struct Frontier {
  size_t sites = 0;
  std::vector<uint32_t> on;  ///< their numbers and those of their gates (sites.h)
};

/// Makes sites.json, of the workspace and of the current iteration, that of the functions that the
/// state has expanded.
Result<Frontier> move_frontier(const Session& session, const ArmedProgram& armed);

/// Names of those functions of which no call has a site, because they are small.
std::vector<std::string> names_without_sites(const ArmedProgram& armed,
                                             const std::vector<std::string>& keys);

}  // namespace vprof::driver
