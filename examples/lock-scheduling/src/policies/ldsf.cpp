// Largest dependency set first (section 4.3.2, Algorithm 5). Line 8 is printed the wrong way round,
// `τ(Tⁱ) < |g(x)|`: the text above it, and Algorithm 6, grant the shared locks if their dependency
// sets are together at least as large as that of the exclusive request.
#include <algorithm>

#include "policies/grant_in_order.h"

namespace lab {

namespace {

class Ldsf : public Policy {
 public:
  std::vector<size_t> choose(const Decision& decision) const override {
    if (decision.still_held) {  // lines 1 to 3
      return {};
    }
    const auto [shared, exclusive] = by_mode(decision.waiting);  // lines 4 and 5
    if (exclusive.empty()) {
      return shared;
    }
    std::vector<Transaction*> sharing;
    for (const size_t index : shared) {
      sharing.push_back(decision.waiting[index].transaction);
    }
    const size_t tau = decision.sets.union_size(sharing);  // line 6
    size_t largest = 0;  // line 7; the first to arrive of equal ones
    size_t best = exclusive.front();
    for (const size_t index : exclusive) {
      const size_t size = decision.sets.exact_size(decision.waiting[index].transaction);
      if (size > largest) {
        largest = size;
        best = index;
      }
    }
    if (tau < largest) {  // line 8, put right
      return {best};
    }
    return shared;
  }

  bool needs_barrier() const override { return true; }
};

}  // namespace

std::unique_ptr<Policy> make_ldsf() { return std::make_unique<Ldsf>(); }

}  // namespace lab
