// Batched LDSF (section 4.4.2, Algorithm 6): shared locks may be granted to some only, since the
// slowest of k takes f(k) times as long as one. Sizes and unions are approximated as in section
// 4.5: effective sizes, the batches are the first k of the shared requests by falling size, and the
// size of a union is the sum.
#include <algorithm>
#include <cmath>

#include "policies/grant_in_order.h"

namespace lab {

namespace {

// The delay factor, section 4.6.1.
double f(size_t k) { return std::log2(1.0 + static_cast<double>(k)); }

class Bldsf : public Policy {
 public:
  std::vector<size_t> choose(const Decision& decision) const override {
    if (decision.still_held) {  // lines 1 to 3
      return {};
    }
    auto [shared, exclusive] = by_mode(decision.waiting);  // lines 4 and 5
    if (exclusive.empty()) {
      return shared;  // nobody would be delayed by a slow one
    }
    const auto size = [&](size_t index) {
      return decision.sets.effective_size(decision.waiting[index].transaction);
    };
    std::ranges::stable_sort(shared, std::ranges::greater{}, size);
    double sum = 0;  // line 6: the k for which Σ / f(k) is greatest
    double best_sum = 0;
    size_t best_k = 0;
    for (size_t k = 1; k <= shared.size(); ++k) {
      sum += size(shared[k - 1]);
      if (best_k == 0 || sum / f(k) > best_sum / f(best_k)) {
        best_k = k;
        best_sum = sum;
      }
    }
    const size_t largest = *std::ranges::max_element(exclusive, {}, size);  // line 7
    if (best_k > 0 && size(largest) * f(best_k) <= best_sum) {              // line 8
      shared.resize(best_k);
      return shared;
    }
    return {largest};
  }

  bool needs_barrier() const override { return true; }
};

}  // namespace

std::unique_ptr<Policy> make_bldsf() { return std::make_unique<Bldsf>(); }

}  // namespace lab
