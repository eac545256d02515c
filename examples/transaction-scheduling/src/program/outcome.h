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

// All times are since the begin of the run.
struct Committed {
  Nanoseconds begin;  // of the first attempt
  Nanoseconds end;
};

struct RunOutcome {
  std::vector<Committed> committed;
  std::vector<Nanoseconds> aborts;
  std::vector<Nanoseconds> unfinished;  // when transactions began that are not committed at the end
  Nanoseconds end = 0;                  // of the run
  std::optional<std::string> anomaly;   // if the history was checked, and is not serializable
};

// On a simulated clock: the same on every machine. Not for locks, where threads wait in RocksDB.
RunOutcome simulate(const Settings& settings);
// With threads and real sleep. Calls `on_commit` with each committed transaction before its client
// goes on, from several threads at the same time.
using OnCommit = std::function<void(const HistoryTransaction&)>;
RunOutcome run_clients(const Settings& settings, const OnCommit& on_commit = {});

// One line, `name=value` separated by spaces. Latencies are in ms, from the begin of the first
// attempt to the commit; the throughput is in transactions a second, and aborts are for each
// commit. `oldest` is for how many ms the oldest transaction has tried at the end of the run, in
// vain.
std::string figures(const Settings& settings, const RunOutcome& outcome);

}  // namespace smf
