// Randomized scheduling (section 3.5.2): "similar to VATS, except that transactions are sorted
// according to a random order rather than by age". Each request draws its number when it arrives.
#include <algorithm>
#include <numeric>

#include "policies/grant_in_order.h"

namespace lab {

namespace {

class Rs : public Policy {
 public:
  std::vector<size_t> choose(const Decision& decision) const override {
    std::vector<size_t> order(decision.waiting.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {},
                             [&](size_t index) { return decision.waiting[index].lottery; });
    return grant_in_order(decision, order);
  }

  // The one with the highest number would wait for as long as others arrive.
  bool needs_barrier() const override { return true; }
};

}  // namespace

std::unique_ptr<Policy> make_rs() { return std::make_unique<Rs>(); }

}  // namespace lab
