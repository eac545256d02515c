// plan.json: what the driver wants measured (docs/formats.md).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

enum class At : uint8_t { kEntry, kExit };

/// A value in the program that names an interval, a lock or a task: `arg:1->field`, `*arg:0`,
/// `return`, `this`, `thread` (the calling thread: for a thread that has one interval at a time).
struct Value {
  bool is_return = false;
  bool is_this = false;
  bool is_thread = false;
  bool dereferenced = false;
  unsigned argument = 0;
  std::string suffix;  ///< `->field`, `.field`, `[0]`, …
  std::string text;    ///< as the user wrote it, for messages
};

/// begin, end, switch or label of an interval at a function.
struct IntervalPoint {
  std::string function;
  At at = At::kEntry;
  Value value;  ///< the key; for a label, the label
  bool has_key =
      false;  ///< labels: whether `key` names the interval (else the thread's current one)
  Value key;
};

struct IntervalPlan {
  unsigned index = 0;
  std::string name;
  std::string function;  ///< the whole execution of one function; empty if given by points
  std::vector<IntervalPoint> begin, end, switches, labels;
};

enum class SyncRole : uint8_t { kAcquire, kRelease, kEnqueue, kDequeue };

struct SyncPlan {
  unsigned index = 0;
  SyncRole role = SyncRole::kAcquire;
  std::string function;
  Value value;          ///< the object or the task
  bool shared = false;  ///< the object lies in memory that processes share
};

struct Plan {
  bool all = false;                ///< every function and call, trivial ones too
  std::set<std::string> expanded;  ///< function keys
  std::set<std::string> measured;  ///< function keys
  std::set<std::string> demoted;   ///< file:line:column
  std::vector<std::string> exclude;
  std::vector<IntervalPlan> intervals;
  std::vector<SyncPlan> sync;
};

/// Reads plan.json. Error: one line that names the file and the entry.
Result<Plan> load_plan(const std::string& path);

/// The value as text of the source language inside `function`. Error: one line, what is wrong and
/// what to do.
Result<std::string> value_text(const Value& value, const Function& function);

const char* role_name(SyncRole role);

}  // namespace vprof::instrumenter
