// YCSB: one statement for each transaction on one of 1.2 million rows (scale factor 1200), "causing
// little or no contention" (section 3.5.1). The mix of OLTP-Bench.
#include <array>

#include "workloads/random_choices.h"

namespace lab {

namespace {

constexpr uint64_t kTable = 40;
constexpr uint64_t kRows = 1200000;
constexpr std::array<const char*, 6> kTypes{"Read",   "Insert", "Scan",
                                            "Update", "Delete", "ReadModifyWrite"};

class Ycsb : public Workload {
 public:
  Script next(Random& random) const override {
    const int type = weighted(random, {50, 5, 15, 10, 10, 10});
    ScriptBuilder script(random, type);
    const ObjectId key = row(kTable, uniform(random, kRows));
    switch (type) {
      case 0:
        script.read(key);
        break;
      case 2:
        for (uint64_t i = 0; i < 10; ++i) {
          script.read(key + i, 0.1);
        }
        break;
      case 5:
        script.read(key).write(key);
        break;
      default:
        script.write(key);
        break;
    }
    return script.done();
  }

  std::span<const char* const> types() const override { return kTypes; }
};

}  // namespace

std::unique_ptr<Workload> make_ycsb() { return std::make_unique<Ycsb>(); }

}  // namespace lab
