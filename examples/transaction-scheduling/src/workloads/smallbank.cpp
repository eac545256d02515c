// SmallBank as H-Store has it: 90 % of the transactions take their accounts from a hotspot of 100.
// The rows of a million customers: their names, and two accounts of each.
#include <array>

#include "workloads/random_choices.h"
#include "workloads/workloads.h"

namespace smf {

namespace {

constexpr uint64_t kCustomers = 1000000;
constexpr uint64_t kHotspot = 100;
constexpr std::array<const char*, 6> kTypes{"Amalgamate",  "Balance",         "DepositChecking",
                                            "SendPayment", "TransactSavings", "WriteCheck"};

class SmallBank : public Workload {
 public:
  Script next(Random& random) const override {
    const bool hot = chance(random, 0.9);
    const uint64_t from = uniform(random, hot ? kHotspot : kCustomers);
    uint64_t to = from;
    while (to == from) {
      to = uniform(random, hot ? kHotspot : kCustomers);
    }
    const auto amount = static_cast<int64_t>(1 + uniform(random, 50));
    const uint32_t type = weighted(random, {15, 15, 15, 25, 15, 15});
    ScriptBuilder script(type);
    // The hints are the accounts that the customers' numbers stand for. The first statement reads
    // the customer by name.
    script.hint(savings(from)).hint(checking(from)).read(row("name", from));
    switch (type) {
      case 0:
        script.hint(savings(to)).hint(checking(to)).read(row("name", to));
        return script.update(savings(from), -amount)
            .update(checking(from), -amount)
            .update(checking(to), 2 * amount)
            .done();
      case 1:
        return script.read(savings(from)).read(checking(from)).done();
      case 2:
        return script.update(checking(from), amount).done();
      case 3:
        script.hint(savings(to)).hint(checking(to)).read(row("name", to));
        return script.update(checking(from), -amount).update(checking(to), amount).done();
      case 4:
        return script.update(savings(from), amount).done();
      default:
        return script.read(savings(from)).update(checking(from), -amount).done();
    }
  }

  std::span<const char* const> types() const override { return kTypes; }
  double hot_share() const override { return 0.002; }

 private:
  static std::string savings(uint64_t customer) { return row("savings", customer); }
  static std::string checking(uint64_t customer) { return row("checking", customer); }
};

}  // namespace

std::unique_ptr<Workload> make_smallbank() { return std::make_unique<SmallBank>(); }

}  // namespace smf
