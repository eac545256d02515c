// Variance-aware transaction scheduling (section 3.3.2): the eldest transaction, by its begin and
// not by its arrival in this queue. Theorem 3.1: optimal for every Lp norm of the latencies, if
// remaining times are independent of the age.
#include <algorithm>
#include <numeric>
#include <utility>

#include "policies/grant_in_order.h"

namespace lab {

namespace {

class Vats : public Policy {
 public:
  std::vector<size_t> choose(const Decision& decision) const override {
    std::vector<size_t> order(decision.waiting.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, {}, [&](size_t index) {
      const Transaction* transaction = decision.waiting[index].transaction;
      return std::pair(transaction->begin, transaction->id);
    });
    return grant_in_order(decision, order);
  }

  // Only elder transactions overtake, and there is a finite number of those.
  bool needs_barrier() const override { return false; }
};

}  // namespace

std::unique_ptr<Policy> make_vats() { return std::make_unique<Vats>(); }

}  // namespace lab
