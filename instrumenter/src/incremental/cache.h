// Facts that earlier runs of the index collected, stored by command and by content of the files
// read.
//
//   stamps  {file: stamp}   every file that a unit read: the hash of its text inside the tree, size
//                           and time outside
//   units   {command hash: {unit, outside, functions}}   functions are positions in the pool
//   pool    [function, …]   each distinct function once: hundreds of units see those of a header
//
// A unit is taken from the cache if its command is the same and no file it read has changed.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "incremental/stamps.h"
#include "index/parse_unit.h"
#include "program/merge.h"

namespace vprof::instrumenter {

/// Raise it when the meaning of the facts changes, so that facts of an older vprof are dropped.
inline constexpr int kCacheVersion = 25;

/// Equal for equal commands.
std::string hash_of(const CompileCommand& command);

class IndexCache {
 public:
  /// Loads the cache. A missing or damaged one counts as empty.
  IndexCache(const std::string& path, const SourceTree& tree);
  ~IndexCache();
  IndexCache(const IndexCache&) = delete;
  IndexCache& operator=(const IndexCache&) = delete;

  /// What is known of a unit, if none of its files has changed. It is kept, too.
  std::optional<UnitView> find(const CompileCommand& command);
  /// Keeps what a unit says, and returns it. Thread-safe.
  UnitView store(const CompileCommand& command, ParsedUnit parsed);
  /// Hash of the text of each file in the tree that a kept unit read.
  std::map<std::string, std::string> tree_hashes() const;
  /// Stamps of all files that a kept unit read.
  const Stamps& stamps() const;
  /// Writes the units kept in this run. Units that were only loaded are dropped.
  Result<void> save() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vprof::instrumenter
