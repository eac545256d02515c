// What a run does.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "scheduler/schedule.h"

namespace smf {

// A concurrency control and how transactions come to it.
struct System {
  std::string_view name;
  std::string_view control;
  bool predicts;  // the scheduler, or the concurrency control, knows what is expected
  bool samples;   // SMF; else transactions begin in the order of arrival
  bool bolt_on;   // the concurrency control does not enforce the schedule
};

// The names are the paper's (section 5.1).
inline constexpr std::array<System, 7> kSystems{{
    {"occ", "occ", false, false, false},
    {"locks", "locks", false, false, false},
    {"mvtso", "mvtso", false, false, false},
    {"smf-occ", "occ", true, true, true},
    {"smf-locks", "locks", true, true, true},
    {"mvschedo", "mvschedo", true, false, false},
    {"r-smf", "mvschedo", true, true, false},
}};

// Null if there is none of this name.
const System* find_system(std::string_view name);

enum class HintKind : uint8_t {
  kRight,
  kNone,
  kInverted,  // each read predicted as a write, and each write as a read
};

struct Settings {
  bool simulated = false;
  std::string workload = "smallbank";
  const System* system = &kSystems[0];
  uint32_t clients = 256;
  // A run ends after this time, or when this many transactions are committed, if that is not 0.
  double seconds = 15;
  uint64_t transactions = 0;
  double warm_up = 5;  // the first seconds, which the figures leave out
  uint64_t seed = 1;
  // A request and its answer on the network, and the server's I/O: before each operation, and
  // before the commit. In microseconds, on average.
  double operation_us = 2000;
  double commit_us = 2000;
  uint32_t sample = 5;
  uint32_t workers = 64;  // how many transactions the server executes at a time
  uint32_t barrier = 256;
  // A key is hot if this share of the transactions accesses it; 0: what suits the workload.
  double hot_share = 0;
  bool hold = true;  // what the bolt-on scheduler does, see Rules
  HintKind hints = HintKind::kRight;
  double wrong_hints = 0;    // the share of transactions that name the keys of another one
  double forced_aborts = 0;  // the share of attempts that the client rolls back, and tries again
  size_t trace = 20000;      // how many transactions the classifier learns from
  bool check = false;        // record the history, and check that it is serializable
  bool sync = false;
  std::string directory;  // of the database; empty: a temporary one, removed at the end
};

Rules rules_of(const Settings& settings);

}  // namespace smf
