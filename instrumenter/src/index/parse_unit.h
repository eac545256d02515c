#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

struct CompileCommand {
  std::string directory;
  std::string file;  ///< as the command names it
  std::vector<std::string> arguments;
};

/// The tree to index: its root, and the original text of the files that are currently rewritten in
/// it.
struct SourceTree {
  std::string root;                              ///< real path, no trailing slash
  std::map<std::string, std::string> originals;  ///< path relative to root → text
  /// The same by (device, inode) of the rewritten file.
  std::map<std::pair<uint64_t, uint64_t>, const std::string*> originals_by_inode;
};

struct ParsedUnit {
  Unit unit;
  std::vector<Function> functions;
  std::vector<std::string> outside;  ///< files outside the tree that were read, absolute
};

/// Parses one unit with Clang. A unit that Clang cannot parse has Unit::error set and no functions.
/// Thread-safe.
ParsedUnit parse_unit(const CompileCommand& command, const SourceTree& tree);

/// Reads a compilation database. Error: one line that names the file.
Result<std::vector<CompileCommand>> read_compile_commands(const std::string& path);

}  // namespace vprof::instrumenter
