// sites.json, which says what the site numbers of a trace mean: checked once, as dense tables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

inline constexpr uint32_t kNone = UINT32_MAX;

struct Function {
  std::string key, name, file;
  int line = 0;
  int height = 0;
  bool expandable = false;
  bool expanded = false;
  bool wrapper =
      false;  ///< calls what it is given: through a pointer, a function object, a parameter
};

struct Site {
  uint32_t function = kNone;  ///< index into Sites::functions; the callee of a call site
  uint32_t parent = kNone;    ///< the function that contains the call site; else kNone
  std::string location;       ///< file:line
  std::string position;       ///< file:line:column, numbered where that is not unique
};

/// Where a coroutine can be suspended.
struct SuspensionPoint {
  std::string name;         ///< `co_await(f)`, `co_yield`
  uint32_t parent = kNone;  ///< the coroutine
  /// Coroutines that may begin because of it, as indices into the functions.
  std::vector<uint32_t> awaits;
};

/// Site 0 and sites that the file does not define have function == kNone. Their records are skipped
/// and counted.
struct Sites {
  int root_height = 0;
  std::vector<Function> functions;
  std::vector<Site> sites;                   ///< by site id
  std::vector<std::string> intervals;        ///< names by index
  std::vector<std::string> sync;             ///< function names by index
  std::vector<SuspensionPoint> suspensions;  ///< by index
  std::vector<uint32_t> shared_sync;         ///< indices of those with objects in shared memory

  bool defines(uint32_t site) const { return site < sites.size() && sites[site].function != kNone; }
  std::string sync_name(uint32_t index) const;
  std::string interval_name(uint32_t index) const;
};

/// Error: one line that names the file and the entry at fault.
Result<Sites> read_sites(const std::string& path);

/// @param interval a name of intervals; empty: of any
/// Error: as above, or none of its intervals can have that name.
Result<Sites> read_sites(const std::string& path, const std::string& interval);

}  // namespace vprof::analyzer
