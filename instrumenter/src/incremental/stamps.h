// Whether a file has changed.
#pragma once

#include <map>
#include <string>

#include "index/parse_unit.h"

namespace vprof::instrumenter {

/// Stamps of files by path. Relative paths are files of the tree, known by the hash of their
/// original text; absolute paths are system headers, known by size and time of change.
using Stamps = std::map<std::string, std::string>;

/// Stamp of a file as it is now; `missing` if it does not exist.
std::string stamp_of(const std::string& file, const SourceTree& tree);

/// What an index was made from. It is kept beside the cache, so that indexing an unchanged program
/// costs no more than looking at its files.
struct Origin {
  int version = 0;
  std::string commands;  ///< hash of all compile commands
  std::string index;     ///< hash of index.json
  Stamps stamps;
};

std::string hash_of(const std::vector<CompileCommand>& commands);

/// Whether this version of vprof made `index` from exactly these commands and files.
bool is_fresh(const std::string& origin_file, const std::string& index,
              const std::vector<CompileCommand>& commands, const SourceTree& tree);
/// `commands`: hash of all compile commands. Error: one line with the path and the system's reason.
Result<void> save_origin(const std::string& origin_file, const std::string& index,
                         const std::string& commands, const Stamps& stamps);

}  // namespace vprof::instrumenter
