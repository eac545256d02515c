// Theorems 4.2, 4.3 and 4.6: what LDSF and bLDSF are worth beside the best possible decisions,
// which an exhaustive search finds.
//
// As in the theorems, the transactions are all there, ask for nothing more, and run for a time that
// is memoryless with mean 1 once they have all their locks. So with r of them running the next one
// ends after 1/r on average, and is any of them with the same probability.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "policies/policy.h"

namespace {

using lab::Mode;

enum class State : uint8_t { kWaits, kRuns, kEnded };

// What does not change.
struct Instance {
  struct Wish {
    int object = -1;  // -1: it has all its locks from the beginning
    Mode mode = Mode::kShared;
  };
  std::vector<Wish> wishes;                             // by transaction
  std::vector<std::vector<std::pair<int, Mode>>> held;  // by transaction, from the beginning
  int objects = 0;
};

using States = std::vector<State>;

// All or some of the shared requests may be granted at once.
enum class Sharing : uint8_t { kAll, kSome };

class Search {
 public:
  Search(const Instance& instance, Sharing sharing) : instance_(instance), sharing_(sharing) {}

  // The sum of the expected latencies from now on, if every decision is the best one, or that of
  // the policy.
  double best(const States& states) { return value(states, nullptr, best_); }
  double with(const lab::Policy& policy, const States& states) {
    return value(states, &policy, by_policy_);
  }

  // Over all states that were reached: the greatest number of critical objects of a transaction,
  // and of transactions that wait for a shared lock on the same object.
  int critical_objects() const { return critical_; }
  int waiting_shared() const { return waiting_shared_; }

 private:
  using Known = std::map<States, double>;

  double value(const States& states, const lab::Policy* policy, Known& known) {
    const auto found = known.find(states);
    if (found != known.end()) {
      return found->second;
    }
    look_at(states);
    const auto running = std::ranges::count(states, State::kRuns);
    const auto left =
        states.size() - static_cast<size_t>(std::ranges::count(states, State::kEnded));
    double sum = 0;
    if (left > 0) {
      REQUIRE(running > 0);
      for (size_t t = 0; t < states.size(); ++t) {
        if (states[t] == State::kRuns) {
          States next = states;
          next[t] = State::kEnded;
          sum += decide(next, objects_of(t), policy, known);
        }
      }
      sum = (sum + static_cast<double>(left)) / static_cast<double>(running);
    }
    return known[states] = sum;
  }

  // Goes through the objects that a transaction held, and grants those that are available.
  double decide(const States& states, std::vector<int> objects, const lab::Policy* policy,
                Known& known) {
    while (!objects.empty()) {
      const int object = objects.back();
      objects.pop_back();
      if (!holders(states, object).empty() || waiting(states, object).empty()) {
        continue;
      }
      double best = std::numeric_limits<double>::infinity();
      const std::vector<std::vector<int>> decisions =
          policy == nullptr ? choices(states, object)
                            : std::vector<std::vector<int>>{chosen_by(*policy, states, object)};
      for (const std::vector<int>& choice : decisions) {
        States next = states;
        for (const int t : choice) {
          next[static_cast<size_t>(t)] = State::kRuns;
        }
        best = std::min(best, decide(next, objects, policy, known));
      }
      return best;
    }
    return value(states, policy, known);
  }

  std::vector<std::vector<int>> choices(const States& states, int object) const {
    std::vector<std::vector<int>> result;
    std::vector<int> shared;
    for (const int t : waiting(states, object)) {
      if (instance_.wishes[static_cast<size_t>(t)].mode == Mode::kExclusive) {
        result.push_back({t});
      } else {
        shared.push_back(t);
      }
    }
    const size_t subsets = size_t{1} << shared.size();
    for (size_t subset = sharing_ == Sharing::kAll ? subsets - 1 : 1; subset < subsets; ++subset) {
      std::vector<int> choice;
      for (size_t i = 0; i < shared.size(); ++i) {
        if ((subset >> i & 1) != 0) {
          choice.push_back(shared[i]);
        }
      }
      if (!choice.empty()) {
        result.push_back(choice);
      }
    }
    return result;
  }

  // Builds the graph, and asks the policy itself.
  std::vector<int> chosen_by(const lab::Policy& policy, const States& states, int object) const {
    std::deque<lab::Transaction> transactions(states.size());
    std::deque<lab::Object> objects(static_cast<size_t>(instance_.objects));
    for (int o = 0; o < instance_.objects; ++o) {
      lab::Object& built = objects[static_cast<size_t>(o)];
      for (const auto& [t, mode] : holders(states, o)) {
        lab::Transaction& holder = transactions[static_cast<size_t>(t)];
        built.holders.push_back({&holder, mode});
        holder.held.push_back(&built);
      }
      for (const int t : waiting(states, o)) {
        lab::Transaction& waiter = transactions[static_cast<size_t>(t)];
        waiter.waits_for = &built;
        built.waiters.push_back({&waiter, instance_.wishes[static_cast<size_t>(t)].mode, 0, 0});
      }
    }
    lab::DependencySets sets;
    sets.graph_has_changed();
    const std::vector<int> candidates = waiting(states, object);
    std::vector<int> result;
    for (const size_t index :
         policy.choose({false, objects[static_cast<size_t>(object)].waiters, sets, {}})) {
      result.push_back(candidates[index]);
    }
    return result;
  }

  std::vector<std::pair<int, Mode>> holders(const States& states, int object) const {
    std::vector<std::pair<int, Mode>> result;
    for (size_t t = 0; t < states.size(); ++t) {
      if (states[t] == State::kEnded) {
        continue;
      }
      for (const auto& [o, mode] : instance_.held[t]) {
        if (o == object) {
          result.emplace_back(static_cast<int>(t), mode);
        }
      }
      if (states[t] == State::kRuns && instance_.wishes[t].object == object) {
        result.emplace_back(static_cast<int>(t), instance_.wishes[t].mode);
      }
    }
    return result;
  }

  std::vector<int> waiting(const States& states, int object) const {
    std::vector<int> result;
    for (size_t t = 0; t < states.size(); ++t) {
      if (states[t] == State::kWaits && instance_.wishes[t].object == object) {
        result.push_back(static_cast<int>(t));
      }
    }
    return result;
  }

  std::vector<int> objects_of(size_t t) const {
    std::vector<int> result;
    for (const auto& [object, mode] : instance_.held[t]) {
      result.push_back(object);
    }
    if (instance_.wishes[t].object >= 0) {
      result.push_back(instance_.wishes[t].object);
    }
    return result;
  }

  void look_at(const States& states) {
    for (int o = 0; o < instance_.objects; ++o) {
      const auto shared = std::ranges::count_if(waiting(states, o), [&](int t) {
        return instance_.wishes[static_cast<size_t>(t)].mode == Mode::kShared;
      });
      waiting_shared_ = std::max(waiting_shared_, static_cast<int>(shared));
    }
    for (size_t t = 0; t < states.size(); ++t) {
      if (states[t] == State::kWaits) {
        std::set<int> critical;
        collect_critical(states, instance_.wishes[t].object, critical);
        critical_ = std::max(critical_, static_cast<int>(critical.size()));
      }
    }
  }

  // C(t): objects that can be reached and that a running transaction holds.
  void collect_critical(const States& states, int object, std::set<int>& critical) const {
    for (const auto& [t, mode] : holders(states, object)) {
      if (states[static_cast<size_t>(t)] == State::kRuns) {
        critical.insert(object);
      } else {
        collect_critical(states, instance_.wishes[static_cast<size_t>(t)].object, critical);
      }
    }
  }

  const Instance& instance_;
  Sharing sharing_;
  Known best_;
  Known by_policy_;
  int critical_ = 1;
  int waiting_shared_ = 1;
};

// Each transaction may wait for an object that earlier ones hold, so there is no cycle.
Instance draw(std::mt19937_64& random, int transactions, double shared) {
  const auto pick = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  const auto mode = [&] {
    return std::bernoulli_distribution(shared)(random) ? Mode::kShared : Mode::kExclusive;
  };
  Instance instance;
  std::vector<std::vector<int>> holders;
  for (int t = 0; t < transactions; ++t) {
    instance.wishes.emplace_back();
    instance.held.emplace_back();
    if (t >= 1 && instance.objects > 0) {
      instance.wishes.back() = {pick(instance.objects), mode()};
    }
    if (t == 0 || pick(2) == 0) {  // it also holds an object that later ones may wait for
      instance.held.back().emplace_back(instance.objects++, mode());
    } else if (pick(3) == 0) {
      // Or shares one, unless that would make it wait for itself.
      const int object = instance.objects - 1;
      if (instance.wishes.back().object != object &&
          std::ranges::all_of(instance.held, [&](const auto& held) {
            return std::ranges::all_of(held, [&](const auto& h) {
              return h.first != object || h.second == Mode::kShared;
            });
          })) {
        instance.held.back().emplace_back(object, Mode::kShared);
      }
    }
  }
  return instance;
}

States begin_of(const Instance& instance) {
  States states;
  for (const Instance::Wish& wish : instance.wishes) {
    states.push_back(wish.object < 0 ? State::kRuns : State::kWaits);
  }
  return states;
}

}  // namespace

TEST_CASE("without shared locks, LDSF is optimal: theorem 4.2") {
  std::mt19937_64 random(42);
  const auto ldsf = lab::make_policy("ldsf");
  const auto fcfs = lab::make_policy("fcfs");
  int better_than_fcfs = 0;
  for (int i = 0; i < 60; ++i) {
    CAPTURE(i);
    const Instance instance = draw(random, 7, 0);
    Search search(instance, Sharing::kAll);
    const States states = begin_of(instance);
    const double best = search.best(states);
    CHECK(search.with(*ldsf, states) == Approx(best).epsilon(1e-9));
    better_than_fcfs += Search(instance, Sharing::kAll).with(*fcfs, states) > best * 1.0001 ? 1 : 0;
  }
  CHECK(better_than_fcfs > 10);  // there was something to decide
}

TEST_CASE("with shared locks, LDSF is within c·u of the best that grants them all: theorem 4.3") {
  std::mt19937_64 random(43);
  const auto ldsf = lab::make_policy("ldsf");
  double worst = 1;
  for (int i = 0; i < 60; ++i) {
    CAPTURE(i);
    const Instance instance = draw(random, 7, 0.5);
    Search search(instance, Sharing::kAll);
    const States states = begin_of(instance);
    const double ratio = search.with(*ldsf, states) / search.best(states);
    CHECK(ratio >= 1 - 1e-9);
    CHECK(ratio <= search.critical_objects() * search.waiting_shared() + 1e-9);
    worst = std::max(worst, ratio);
  }
  CHECK(worst > 1.0001);  // not always optimal
  CHECK(worst < 1.2);     // and far better than the bound
}

TEST_CASE("bLDSF is within c·v²·f(v) of the best of all: theorem 4.6") {
  std::mt19937_64 random(44);
  const auto bldsf = lab::make_policy("bldsf");
  double worst = 1;
  for (int i = 0; i < 60; ++i) {
    CAPTURE(i);
    const Instance instance = draw(random, 7, 0.5);
    Search search(instance, Sharing::kSome);
    const States states = begin_of(instance);
    const double ratio = search.with(*bldsf, states) / search.best(states);
    const int v = search.waiting_shared();
    CHECK(ratio >= 1 - 1e-9);
    CHECK(ratio <= search.critical_objects() * v * v * std::log2(1 + v) + 1e-9);
    worst = std::max(worst, ratio);
  }
  CHECK(worst > 1.0001);
  CHECK(worst < 1.2);
}
