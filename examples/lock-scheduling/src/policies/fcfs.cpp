// First come, first served (section 3.3.1): the request that has waited longest in this queue.
#include <numeric>

#include "policies/grant_in_order.h"

namespace lab {

namespace {

class Fcfs : public Policy {
 public:
  std::vector<size_t> choose(const Decision& decision) const override {
    std::vector<size_t> order(decision.waiting.size());
    std::iota(order.begin(), order.end(), size_t{0});
    return grant_in_order(decision, order);
  }

  bool needs_barrier() const override { return false; }
};

}  // namespace

std::unique_ptr<Policy> make_fcfs() { return std::make_unique<Fcfs>(); }

}  // namespace lab
