// summary.json: how much of what the plan asks for is measured. The rewriter writes it, the driver
// shows it.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "vprof/support/result.h"

namespace vprof::instrumenter {

struct Summary {
  using Counts = std::map<std::string, size_t>;

  struct Functions {
    size_t measured = 0;
    Counts not_possible;  ///< by reason
  };
  struct Calls {
    Counts measured;      ///< by rule
    Counts by_rule;       ///< left alone, by reason
    Counts not_possible;  ///< by reason
  };
  struct FailedUnit {
    std::string file;
    std::string error;
  };

  std::vector<std::string> files_changed;
  std::map<std::string, std::string> rewritten;  ///< content_hash() of each rewritten file
  /// What the section `.vprof.units` of an object says about each rewritten unit: a hash of its
  /// text, a space, a name.
  std::map<std::string, std::string> units;
  size_t sites = 0;
  Functions functions;
  Calls calls;
  std::vector<FailedUnit> units_failed;
  std::vector<std::string> conflicts;  ///< places where units read a shared file differently
};

/// Error: one line that names the file.
Result<Summary> load_summary(const std::string& path);
Result<void> save_summary(const Summary& summary, const std::string& path);

}  // namespace vprof::instrumenter
