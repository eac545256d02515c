// Hybrid LDSF (section 4.7.2, Algorithm 7): as LDSF, but by the speed of progress. A transaction
// whose type takes long makes all that depend on it progress slowly.
#include <algorithm>

#include "policies/grant_in_order.h"

namespace lab {

namespace {

class Hldsf : public Policy {
 public:
  std::vector<size_t> choose(const Decision& decision) const override {
    if (decision.still_held) {  // lines 1 to 3
      return {};
    }
    const auto [shared, exclusive] = by_mode(decision.waiting);  // lines 4 and 5
    if (exclusive.empty()) {
      return shared;
    }
    const auto size = [&](size_t index) {
      return decision.sets.effective_size(decision.waiting[index].transaction);
    };
    const auto time = [&](size_t index) {
      return decision.remaining.expected(decision.waiting[index].transaction->type);
    };
    const size_t best = *std::ranges::max_element(  // line 6
        exclusive, {}, [&](size_t index) { return size(index) / time(index); });
    double sum = 0;
    double longest = 1;
    for (const size_t index : shared) {
      sum += size(index);
      longest = std::max(longest, time(index));
    }
    if (!shared.empty() && size(best) / time(best) <= sum / longest) {  // line 7
      return shared;
    }
    return {best};
  }

  bool needs_barrier() const override { return true; }
};

}  // namespace

std::unique_ptr<Policy> make_hldsf() { return std::make_unique<Hldsf>(); }

}  // namespace lab
