#pragma once

#include <set>
#include <string>
#include <unordered_set>

#include "vprof/instrumenter/plan.h"
#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

/// Calls that are measured at the entry of what they call, in place of a site of their own.
class CalleeEntries {
 public:
  CalleeEntries(const Program& program, const Plan& plan);

  /// Whether the function is to have no site.
  bool is_spared(const Function& f) const { return spared_.contains(&f); }

  /// Measures the functions that the call may reach; in place of those that are spared, the
  /// functions that these call.
  /// @return whether there is one
  bool measure(const Call& call);

  /// Keys of all functions that are measured so.
  const std::set<std::string>& measured() const { return measured_; }

 private:
  using Functions = std::unordered_set<const Function*>;

  Functions reached_by(const Call& call) const;
  /// What is called by a spared function, as far as it can be measured or is spared.
  Functions called_by(const Function& f) const;
  void find_leading();

  const Program& program_;
  const Plan& plan_;
  Functions spared_;
  Functions leading_;  ///< spared functions behind which there are some to measure
  Functions seen_;     ///< spared functions behind which everything is measured
  std::set<std::string> measured_;
};

/// Whether a path or a function name matches the plan's "exclude".
bool is_excluded(const Plan& plan, const std::string& file, const std::string& name);

}  // namespace vprof::instrumenter
