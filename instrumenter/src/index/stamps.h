// Whether a file is still what it was.
#pragma once

#include <map>
#include <string>

#include "index/parse_unit.h"

namespace vprof::instrumenter {

/// Stamps of files by path: relative ones lie in the tree and are known by their (original)
/// content, absolute ones, system headers, by size and time of change.
using Stamps = std::map<std::string, std::string>;

/// Stamp of a file as it is now; `missing` if it is not there.
std::string stamp_of(const std::string& file, const SourceTree& tree);

/// What an index was made from, kept beside the cache, so that an index of an unchanged program
/// costs no more than looking at its files.
struct Origin {
  std::string commands;  ///< hash of all compile commands
  Stamps stamps;
};

std::string hash_of(const std::vector<CompileCommand>& commands);

/// Whether `index` was made from exactly these commands and files by this version of vprof.
bool is_fresh(const std::string& origin_file, const std::string& index,
              const std::vector<CompileCommand>& commands, const SourceTree& tree);
/// Error: one line with the path and the system's reason.
Result<void> save_origin(const std::string& origin_file, const std::string& index,
                         const Origin& origin);

}  // namespace vprof::instrumenter
