// After TAOBench's Workload T, whose distributions are Meta's: the paper describes them as mostly
// short transactions that read, some with up to 10 operations that also write, and few with up to
// 60. Objects are Zipfian, in no fixed order. A transaction's objects are all known when it begins.
#include <array>

#include "workloads/random_choices.h"
#include "workloads/workloads.h"

namespace smf {

namespace {

constexpr size_t kObjects = 1000000;
constexpr std::array<const char*, 3> kTypes{"Read", "Write", "LongWrite"};

class TaoBench : public Workload {
 public:
  Script next(Random& random) const override {
    const uint32_t type = weighted(random, {80, 18, 2});
    ScriptBuilder script(type);
    const uint64_t most = type == 2 ? 60 : 10;
    const uint64_t count =
        type == 2 ? 20 + uniform(random, most - 19) : 2 + uniform(random, most - 1);
    for (uint64_t i = 0; i < count; ++i) {
      const std::string key = row("object", objects_(random));
      if (type != 0 && (i == 0 || chance(random, 0.3))) {
        script.update(key);
      } else {
        script.read(key);
      }
    }
    return script.hint_all().done();
  }

  std::span<const char* const> types() const override { return kTypes; }
  double hot_share() const override { return 0.003; }

 private:
  Zipf objects_{kObjects, 0.9};
};

}  // namespace

std::unique_ptr<Workload> make_taobench() { return std::make_unique<TaoBench>(); }

}  // namespace smf
