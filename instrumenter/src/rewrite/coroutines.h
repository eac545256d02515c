// What is inserted into coroutines, whether they are measured or not: where one begins and where it
// is suspended. Without that, an interval would stay with the thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "rewrite/text/edits.h"
#include "vprof/instrumenter/plan.h"
#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

/// A suspension point in the rewritten text. Its index is in the trace.
struct NumberedSuspension {
  uint32_t index = 0;
  const Function* function = nullptr;
  const Suspension* suspension = nullptr;
};

class Coroutines {
 public:
  /// `configured`: keys of functions that the configuration names, which are rewritten even where
  /// they are excluded.
  Coroutines(const Program& program, const Plan& plan, const std::set<std::string>& configured);

  /// From 1 on; 0: the function is no coroutine, or nothing is inserted into it.
  uint32_t number_of(const Function& f) const;
  const std::vector<NumberedSuspension>& suspensions() const { return suspensions_; }
  Edit edit_of(const NumberedSuspension& numbered) const;
  /// Keys of the coroutines that may begin because of the co_await.
  std::vector<std::string> awaited_by(const NumberedSuspension& numbered) const;

 private:
  struct Expected {
    bool by_call = false;  ///< the operand is a call of one of them, or one of them, made before
    std::vector<uint32_t> functions;  ///< one that is called twice is here twice
  };
  Expected expected_by(const NumberedSuspension& numbered) const;

  const Program& program_;
  std::map<std::string, uint32_t> numbers_;              // by key
  std::vector<const Function*> numbered_;                // by number, less 1
  std::map<std::string, std::set<uint32_t>> returning_;  // by Function::returns
  std::vector<NumberedSuspension> suspensions_;
};

}  // namespace vprof::instrumenter
