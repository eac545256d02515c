#pragma once

#include <string>

#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

struct IndexOptions {
  std::string compile_commands;
  std::string mirror;
  std::string pristine;
  std::string cache;  ///< directory
  std::string out;    ///< index.json
  unsigned jobs = 0;  ///< 0: one per core
};

/// Indexes all units of a compilation database. Units that are not in the cache are parsed in
/// parallel. Units that Clang cannot parse are left out and listed in Program::units. An index made
/// from the same commands and files is left as it is. Errors: no database, no unit that exists, no
/// unit that Clang can parse, the disk.
Result<void> index_program(const IndexOptions& options);

}  // namespace vprof::instrumenter
