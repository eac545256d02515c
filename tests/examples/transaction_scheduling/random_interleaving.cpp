#include "random_interleaving.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>

namespace smf_test {

namespace {

using smf::Access;
using smf::Attempt;
using smf::Outcome;
using smf::Script;

struct Running {
  Script script;
  std::unique_ptr<smf::Execution> execution;
  bool waits = false;
};

// Reads and updates of a few rows, some of them both.
Script random_script(smf::Random& random, uint64_t keys) {
  Script script;
  const bool read_only = random() % 5 == 0;
  const uint64_t count = 1 + random() % 4;
  for (uint64_t i = 0; i < count; ++i) {
    const std::string key = "row" + std::to_string(random() % keys);
    const bool updates = !read_only && random() % 2 == 0;
    script.operations.push_back({key, Access::kRead, updates});
    if (updates) {
      script.operations.push_back({key, Access::kWrite, false, static_cast<int64_t>(random() % 9)});
    }
  }
  return script;
}

smf::Prediction prediction_of(const Script& script) {
  smf::Prediction prediction;
  for (const smf::ScriptOperation& operation : script.operations) {
    prediction.operations.push_back(
        {smf::hot_key_id(operation.key), operation.access, prediction.length++});
  }
  return prediction;
}

class Interleaver {
 public:
  Interleaver(smf::ConcurrencyControl& control, const Interleaving& settings)
      : control_(control),
        settings_(settings),
        random_(settings.seed),
        running_(settings.at_a_time) {}

  Interleaved run() {
    for (Running& running : running_) {
      begin(running);
    }
    while (result_.history.committed.size() < settings_.commits) {
      std::vector<Running*> able;
      for (Running& running : running_) {
        if (!running.waits) {
          able.push_back(&running);
        }
      }
      REQUIRE_FALSE(able.empty());
      step(*able[random_() % able.size()]);
    }
    for (Running& running : running_) {
      control_.rollback(running.execution->attempt());
      wake();
    }
    result_.history.order = control_.version_order();
    return std::move(result_);
  }

 private:
  bool chance(double probability) {
    return std::uniform_real_distribution<double>(0, 1)(random_) < probability;
  }

  void begin(Running& running) {
    running.script = random_script(random_, settings_.keys);
    running.execution = std::make_unique<smf::Execution>(running.script, ++last_id_);
    Attempt& attempt = running.execution->attempt();
    attempt.expected =
        prediction_of(chance(settings_.wrong_predictions) ? random_script(random_, settings_.keys)
                                                          : running.script);
    control_.begin(attempt);
  }

  void wake() {
    for (Attempt* attempt : control_.take_woken()) {
      for (Running& running : running_) {
        running.waits &= &running.execution->attempt() != attempt;
      }
    }
  }

  void roll_back(Running& running) {
    control_.rollback(running.execution->attempt());
    wake();
    begin(running);
  }

  void step(Running& running) {
    smf::Execution& execution = *running.execution;
    if (chance(settings_.forced_aborts)) {
      roll_back(running);
      return;
    }
    const bool commits = !execution.operations_left();
    Outcome outcome = execution.step(control_);
    wake();
    if (outcome == Outcome::kDone && commits) {
      outcome = control_.persist(execution.attempt());
    }
    if (outcome == Outcome::kWait) {
      running.waits = true;
      ++result_.waits;
    } else if (outcome == Outcome::kAbort) {
      ++result_.aborts;
      roll_back(running);
    } else if (commits) {
      control_.finish(execution.attempt());
      wake();
      result_.history.committed.push_back(execution.history());
      for (const smf::ScriptOperation& operation : running.script.operations) {
        result_.amounts[operation.key] += operation.amount;
      }
      begin(running);
    }
  }

  smf::ConcurrencyControl& control_;
  const Interleaving& settings_;
  smf::Random random_;
  std::deque<Running> running_;
  uint64_t last_id_ = 0;
  Interleaved result_;
};

}  // namespace

Interleaved interleave(smf::ConcurrencyControl& control, const Interleaving& settings) {
  return Interleaver(control, settings).run();
}

}  // namespace smf_test
