// What a run has to show for itself.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "history/history.h"
#include "program/settings.h"

namespace smf {

using Nanoseconds = int64_t;

struct Committed {
  Nanoseconds begin;  // of the first attempt
  Nanoseconds end;
  uint32_t aborts;  // of attempts before the one that was committed
};

struct RunOutcome {
  std::vector<Committed> committed;    // by the time of the commit
  std::optional<std::string> anomaly;  // if the history was checked, and is not serializable
};

// On a simulated clock: the same on every machine. Not for locks, where threads wait in RocksDB.
RunOutcome simulate(const Settings& settings);
// With threads and real sleep. Calls `on_commit` with each committed transaction before its client
// goes on, from several threads at the same time.
using OnCommit = std::function<void(const HistoryTransaction&)>;
RunOutcome run_clients(const Settings& settings, const OnCommit& on_commit = {});

// One line, `name=value` separated by spaces. Latencies are in ms, from the begin of the first
// attempt to the commit, and the throughput is in transactions a second, without the first `warm_up`
// to be committed.
std::string figures(const Settings& settings, const RunOutcome& outcome);

}  // namespace smf
