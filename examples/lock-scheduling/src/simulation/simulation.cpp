#include "simulation/simulation.h"

#include <cmath>
#include <deque>
#include <memory>
#include <queue>
#include <utility>

#include "locks/lock_manager.h"
#include "workloads/random_choices.h"

namespace lab {

namespace {

struct Running : Transaction {
  Script script;
  size_t next_step = 0;
};

enum class What : uint8_t { kContinue, kBegin };

struct Event {
  Nanoseconds time;
  uint64_t number;  // events at the same time happen in the order in which they were planned
  What what;
  Running* transaction;
};

struct Later {
  bool operator()(const Event& a, const Event& b) const {
    return std::pair(a.time, a.number) > std::pair(b.time, b.number);
  }
};

class Simulation {
 public:
  Simulation(const Settings& settings, const Workload& workload)
      : settings_(settings),
        workload_(workload),
        manager_(make_policy(settings.policy), settings.seed,
                 static_cast<uint64_t>(settings.patience)),
        scripts_(settings.seed),
        arrivals_(settings.seed + 1),
        back_off_(settings.seed + 2) {}

  Outcome run() {
    if (settings_.rate > 0) {
      plan(What::kBegin, nullptr, 0);
    } else {
      for (int client = 0; client < settings_.clients; ++client) {
        begin(0);
      }
    }
    while (outcome_.finished.size() < settings_.transactions && !outcome_.overloaded) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.time;
      if (event.what == What::kBegin) {
        begin(now_);
        const double gap = std::exponential_distribution<double>(settings_.rate)(arrivals_);
        plan(What::kBegin, nullptr, now_ + static_cast<Nanoseconds>(gap * 1e9));
        outcome_.overloaded = transactions_.size() - idle_.size() >= kOverload;
      } else {
        advance(*event.transaction);
      }
    }
    outcome_.waits = manager_.waits();
    outcome_.deadlocks = manager_.deadlocks();
    return std::move(outcome_);
  }

 private:
  void plan(What what, Running* transaction, Nanoseconds time) {
    events_.push({time, events_planned_++, what, transaction});
  }

  void begin(Nanoseconds time) {
    Running* transaction = nullptr;
    if (idle_.empty()) {
      transactions_.push_back(std::make_unique<Running>());
      transaction = transactions_.back().get();
    } else {
      transaction = idle_.back();
      idle_.pop_back();
    }
    transaction->id = ++last_id_;
    transaction->begin = time;
    transaction->script = workload_.next(scripts_);
    transaction->type = transaction->script.type;
    transaction->next_step = 0;
    plan(What::kContinue, transaction, time);
  }

  // The transaction's last work is done: to the next lock, or to its end.
  void advance(Running& transaction) {
    if (transaction.next_step == transaction.script.steps.size()) {
      commit(transaction);
      return;
    }
    const Step& step = transaction.script.steps[transaction.next_step];
    Effects effects;
    if (manager_.request(transaction, step.object, step.mode, now_, effects)) {
      work(transaction);
    }
    apply(effects);
  }

  void work(Running& transaction) {
    const double units = transaction.script.steps[transaction.next_step++].work;
    plan(What::kContinue, &transaction,
         now_ + static_cast<Nanoseconds>(units * settings_.unit_us * 1000));
  }

  void commit(Running& transaction) {
    outcome_.finished.push_back({transaction.type, transaction.begin, now_});
    Effects effects;
    manager_.release_all(transaction, true, now_, effects);
    apply(effects);
    idle_.push_back(&transaction);
    if (settings_.rate <= 0) {
      begin(now_);
    }
  }

  void apply(const Effects& effects) {
    for (Transaction* granted : effects.granted) {
      work(static_cast<Running&>(*granted));
    }
    for (Transaction* victim : effects.victims) {
      roll_back(static_cast<Running&>(*victim));
    }
  }

  // Releases everything, and tries again after a while.
  void roll_back(Running& transaction) {
    transaction.next_step = 0;
    const double pause = std::uniform_real_distribution<double>(0.5, 1.5)(back_off_);
    plan(What::kContinue, &transaction,
         now_ + static_cast<Nanoseconds>(pause * settings_.unit_us * 1000));
    Effects effects;
    manager_.release_all(transaction, false, now_, effects);
    apply(effects);
  }

  const Settings& settings_;
  const Workload& workload_;
  LockManager manager_;
  Random scripts_;
  Random arrivals_;
  Random back_off_;
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  uint64_t events_planned_ = 0;
  Nanoseconds now_ = 0;
  uint64_t last_id_ = 0;
  std::vector<std::unique_ptr<Running>> transactions_;
  std::vector<Running*> idle_;
  Outcome outcome_;
};

}  // namespace

Outcome simulate(const Settings& settings, const Workload& workload) {
  return Simulation(settings, workload).run();
}

}  // namespace lab
