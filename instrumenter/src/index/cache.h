// What earlier runs of the index found out, by content of files and flags.
//
//   stamps  {file: stamp}        every file that a unit read: hash of its text in the tree, size
//   and time outside it units   {command hash: {unit, files read, functions}} pool    [function,
//   ...]      each distinct function once: a header's functions are seen by hundreds of units
//
// A unit is taken from the cache if its command is the same and no file it read has changed.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "index/parse_unit.h"
#include "index/stamps.h"

namespace vprof::instrumenter {

/// Raised whenever the facts change their meaning, so that no facts of an older vprof are taken.
inline constexpr int kCacheVersion = 4;

/// Equal for equal commands.
std::string hash_of(const CompileCommand& command);

class IndexCache {
 public:
  /// Loads the cache; a missing or damaged one is empty (it is only a cache).
  IndexCache(const std::string& path, const SourceTree& tree);
  ~IndexCache();
  IndexCache(const IndexCache&) = delete;
  IndexCache& operator=(const IndexCache&) = delete;

  std::optional<ParsedUnit> find(const CompileCommand& command) const;
  void store(const CompileCommand& command, const ParsedUnit& parsed);
  /// Hash of the text of each file in the tree that a stored unit read.
  std::map<std::string, std::string> tree_hashes() const;
  /// Stamps of all files that a stored unit read.
  const Stamps& stamps() const;
  /// Writes what was stored in this run; what was only loaded is dropped.
  Result<void> save() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vprof::instrumenter
