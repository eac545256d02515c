// The microbenchmark of section 4.6.1: one table of 20,000 records, five queries for each
// transaction, each a SELECT (shared) or an UPDATE (exclusive), on records by a Zipfian
// distribution.
#include <array>

#include "workloads/random_choices.h"

namespace lab {

namespace {

constexpr uint64_t kTable = 48;
constexpr size_t kRecords = 20000;
constexpr int kQueries = 5;
constexpr std::array<const char*, 1> kTypes{"queries"};

class Microbenchmark : public Workload {
 public:
  Microbenchmark(double theta, double updates) : records_(kRecords, theta), updates_(updates) {}

  Script next(Random& random) const override {
    ScriptBuilder script(random, 0);
    for (int i = 0; i < kQueries; ++i) {
      const ObjectId record = row(kTable, records_(random));
      if (chance(random, updates_)) {
        script.write(record);
      } else {
        script.read(record);
      }
    }
    return script.done();
  }

  std::span<const char* const> types() const override { return kTypes; }

 private:
  Zipf records_;
  double updates_;
};

}  // namespace

std::unique_ptr<Workload> make_microbenchmark(double theta, double updates) {
  return std::make_unique<Microbenchmark>(theta, updates);
}

}  // namespace lab
