// Histories of all concurrency controls are serializable, whatever interleaves and is aborted, and
// whatever the hints say.
#include <catch2/catch.hpp>

#include "broken_controls.h"
#include "history/serialization_graph.h"
#include "program/outcome.h"
#include "program/session.h"
#include "random_interleaving.h"

using smf_test::interleave;
using smf_test::Interleaved;
using smf_test::Interleaving;

namespace {

// The rows hold what the committed transactions have added, no more and no less.
bool amounts_are_right(smf::ConcurrencyControl& control, const Interleaved& result) {
  for (const auto& [key, amount] : result.amounts) {
    if (control.committed(key).value_or(smf::Value{}).amount != amount) {
      return false;
    }
  }
  return true;
}

smf::Settings small(std::string_view system, std::string_view workload) {
  smf::Settings settings;
  settings.system = smf::find_system(system);
  settings.workload = workload;
  settings.clients = 48;
  settings.workers = 24;
  settings.barrier = 16;
  settings.seconds = 1000;
  settings.transactions = 400;
  settings.trace = 3000;
  settings.check = true;
  return settings;
}

}  // namespace

TEST_CASE("random interleavings are serializable, under aborts and wrong predictions") {
  const std::string control_name = GENERATE("occ", "mvtso", "mvschedo");
  uint64_t aborts = 0;
  uint64_t waits = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(control_name, seed);
    const smf::Directory directory("");
    const auto control = smf::make_control(control_name, {directory.path(), false});
    Interleaving settings;
    settings.seed = seed;
    settings.forced_aborts = seed % 2 == 0 ? 0.05 : 0;
    settings.wrong_predictions = seed % 3 == 0 ? 0.7 : 0;
    settings.keys = 2 + seed;
    const Interleaved result = interleave(*control, settings);
    const auto anomaly = smf::find_anomaly(result.history);
    CAPTURE(anomaly.value_or(""));
    REQUIRE_FALSE(anomaly);
    REQUIRE(amounts_are_right(*control, result));
    aborts += result.aborts;
    waits += result.waits;
  }
  REQUIRE(aborts > 100);  // there were conflicts
  REQUIRE((waits > 0) == (control_name != "occ"));
}

TEST_CASE("with right predictions, MVSchedO aborts far less than MVTSO") {
  const auto aborts_of = [](const char* name) {
    const smf::Directory directory("");
    Interleaving settings;
    settings.commits = 1000;
    return interleave(*smf::make_control(name, {directory.path(), false}), settings).aborts;
  };
  const uint64_t mvtso = aborts_of("mvtso");
  const uint64_t mvschedo = aborts_of("mvschedo");
  CAPTURE(mvtso, mvschedo);
  REQUIRE(mvschedo * 5 < mvtso);
}

TEST_CASE("the checker sees that no control is none, and what snapshot isolation lets through") {
  Interleaving settings;
  smf_test::NoControl none;
  const Interleaved without = interleave(none, settings);
  REQUIRE(smf::find_anomaly(without.history));
  REQUIRE_FALSE(amounts_are_right(none, without));

  settings.forced_aborts = 0.05;
  smf_test::NoControl dirty;
  REQUIRE(smf::find_anomaly(interleave(dirty, settings).history));

  smf_test::SnapshotIsolation snapshots;
  const Interleaved skewed = interleave(snapshots, settings);
  const auto anomaly = smf::find_anomaly(skewed.history);
  REQUIRE(anomaly.value_or("").find("-rw(") != std::string::npos);
  REQUIRE(amounts_are_right(snapshots, skewed));
}

TEST_CASE("the workloads are serializable on every system, on a simulated clock") {
  for (const char* workload : {"smallbank", "tpcc", "ycsb", "epinions", "taobench"}) {
    for (const smf::System& system : smf::kSystems) {
      if (system.control != "locks") {
        CAPTURE(workload, system.name);
        smf::Settings settings = small(system.name, workload);
        settings.forced_aborts = 0.1;
        const smf::RunOutcome outcome = smf::simulate(settings);
        CAPTURE(outcome.anomaly.value_or(""));
        REQUIRE_FALSE(outcome.anomaly);
        REQUIRE(outcome.committed.size() == settings.transactions);
        REQUIRE(outcome.aborts.size() > 10);
      }
    }
  }
}

TEST_CASE("wrong hints do no harm but to the time") {
  for (const char* system : {"smf-occ", "mvschedo", "r-smf"}) {
    smf::Settings settings = small(system, "tpcc");
    settings.wrong_hints = 1;
    REQUIRE_FALSE(smf::simulate(settings).anomaly);
    settings.wrong_hints = 0;
    for (const auto kind : {smf::HintKind::kNone, smf::HintKind::kInverted}) {
      settings.hints = kind;
      const smf::RunOutcome outcome = smf::simulate(settings);
      REQUIRE_FALSE(outcome.anomaly);
      REQUIRE(outcome.committed.size() == settings.transactions);
    }
  }
}

TEST_CASE("a simulation says the same again") {
  for (const smf::System& system : smf::kSystems) {
    if (system.control != "locks") {
      const smf::Settings settings = small(system.name, "smallbank");
      const std::string first = smf::figures(settings, smf::simulate(settings));
      const std::vector<std::string> elsewhere(1000, first);  // the second has other addresses
      REQUIRE(smf::figures(settings, smf::simulate(settings)) == first);
    }
  }
}

TEST_CASE("threads: every system is serializable and comes to its end") {
  for (const smf::System& system : smf::kSystems) {
    CAPTURE(system.name);
    smf::Settings settings = small(system.name, "smallbank");
    settings.clients = 16;
    settings.workers = 8;
    settings.transactions = 300;
    settings.operation_us = 20;
    settings.commit_us = 20;
    settings.forced_aborts = 0.1;
    settings.wrong_hints = 0.1;
    const smf::RunOutcome outcome = smf::run_clients(settings);
    CAPTURE(outcome.anomaly.value_or(""));
    REQUIRE_FALSE(outcome.anomaly);
    REQUIRE(outcome.committed.size() >= settings.transactions);
  }
}
