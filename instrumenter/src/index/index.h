#pragma once

#include <string>

#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

struct IndexOptions {
  std::string compile_commands;
  std::string mirror;
  std::string pristine;
  std::string cache;  ///< directory
  unsigned jobs = 0;  ///< 0: one per core
};

/// Indexes all units of a compilation database: those that are not in the cache are parsed, on all
/// cores. Units that Clang cannot parse are left out and listed in Program::units. Errors: no
/// database, none of its units lies in the mirror, none parses.
Result<Program> index_program(const IndexOptions& options);

}  // namespace vprof::instrumenter
