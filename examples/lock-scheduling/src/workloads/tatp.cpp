// TATP, a register of mobile telephones: the mix of the benchmark, short transactions on one
// subscriber. Few subscribers are active at a time, which is ours: the dissertation's scale is "a
// contended workload (but not as contended as TPC-C)" (section 3.5.1).
#include <array>

#include "workloads/random_choices.h"

namespace lab {

namespace {

enum Table : uint64_t { kSubscriber = 24, kFacility, kForwarding, kAccess };

constexpr std::array<const char*, 7> kTypes{
    "DeleteCallForwarding", "GetAccessData",  "GetNewDestination",   "GetSubscriberData",
    "InsertCallForwarding", "UpdateLocation", "UpdateSubscriberData"};

class Tatp : public Workload {
 public:
  Script next(Random& random) const override {
    const int type = weighted(random, {2, 35, 10, 35, 2, 14, 2});
    ScriptBuilder script(random, type);
    const uint64_t subscriber = subscribers_(random);
    const ObjectId facility = row(kFacility, subscriber * 4 + uniform(random, 4));
    const ObjectId forwarding = row(kForwarding, subscriber * 12 + uniform(random, 12));
    switch (type) {
      case 0:
        script.read(row(kSubscriber, subscriber)).write(forwarding);
        break;
      case 1:
        script.read(row(kAccess, subscriber * 4 + uniform(random, 4)));
        break;
      case 2:
        script.read(facility).read(forwarding);
        break;
      case 3:
        script.read(row(kSubscriber, subscriber));
        break;
      case 4:
        script.read(row(kSubscriber, subscriber)).read(facility).write(forwarding);
        break;
      case 5:
        script.write(row(kSubscriber, subscriber));
        break;
      default:
        script.write(row(kSubscriber, subscriber)).write(facility);
        break;
    }
    return script.done();
  }

  std::span<const char* const> types() const override { return kTypes; }

 private:
  Zipf subscribers_{1000, 0.9};
};

}  // namespace

std::unique_ptr<Workload> make_tatp() { return std::make_unique<Tatp>(); }

}  // namespace lab
