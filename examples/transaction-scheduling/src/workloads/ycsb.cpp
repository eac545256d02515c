// YCSB, 16 operations a transaction, as in the paper: a million rows, Zipfian with theta 0.9 and 5
// % writes (its workload B), or less skewed. A write reads the row first. All keys are known when
// the transaction begins.
#include <array>

#include "workloads/random_choices.h"
#include "workloads/workloads.h"

namespace smf {

namespace {

constexpr size_t kRows = 1000000;
constexpr int kOperations = 16;
constexpr std::array<const char*, 2> kTypes{"Read", "Update"};

class Ycsb : public Workload {
 public:
  Ycsb(double theta, double writes) : rows_(kRows, theta), writes_(writes) {}

  Script next(Random& random) const override {
    ScriptBuilder script(1);
    for (int i = 0; i < kOperations; ++i) {
      const std::string key = row("user", rows_(random));
      if (chance(random, writes_)) {
        script.update(key);
      } else {
        script.read(key);
      }
    }
    Script done = script.hint_all().done();
    done.type = done.read_only() ? 0 : 1;
    return done;
  }

  std::span<const char* const> types() const override { return kTypes; }
  double hot_share() const override { return 0.005; }

 private:
  Zipf rows_;
  double writes_;
};

}  // namespace

std::unique_ptr<Workload> make_ycsb(double theta, double writes) {
  return std::make_unique<Ycsb>(theta, writes);
}

}  // namespace smf
