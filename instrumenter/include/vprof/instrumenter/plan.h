// plan.json: what the driver wants measured (docs/formats.md). The driver writes it, the rewriter
// reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "vprof/support/result.h"

namespace vprof::instrumenter {

/// A value in the program under study that names an interval, a lock or a task: `arg:1->field`,
/// `*arg:0`, `return`, `this`. `thread` is the calling thread, for threads that work for one
/// interval at a time.
struct Value {
  enum class Base : uint8_t { kArgument, kReturn, kThis, kThread };

  Base base = Base::kArgument;
  bool dereferenced = false;
  unsigned argument = 0;  ///< for kArgument, from 0
  std::string suffix;     ///< `->field`, `.field`, `[0]`, …
  std::string text;       ///< as the user wrote it

  bool operator==(const Value&) const = default;
};

/// Error: the text is not a value, or its evaluation could have an effect.
Result<Value> parse_value(const std::string& text);

enum class At : uint8_t { kEntry, kExit };

/// Where an interval begins or ends, or where a thread switches to it.
struct IntervalPoint {
  std::string function;
  At at = At::kEntry;
  Value key;

  bool operator==(const IntervalPoint&) const = default;
};

/// Where an interval gets its label or its trace context.
struct LabelPoint {
  std::string function;
  At at = At::kEntry;
  Value value;
  std::optional<Value> key;  ///< names the interval; without it, the thread's current one is meant

  bool operator==(const LabelPoint&) const = default;
};

struct IntervalPlan {
  unsigned index = 0;
  std::string name;
  std::string function;  ///< each execution is an interval; empty if points say where intervals are
  std::vector<IntervalPoint> begin, end, switches;
  std::vector<LabelPoint> labels, trace_contexts;
};

enum class SyncRole : uint8_t { kAcquire, kRelease, kEnqueue, kDequeue };

struct SyncPlan {
  unsigned index = 0;
  SyncRole role = SyncRole::kAcquire;
  std::string function;
  std::optional<Value> object;  ///< of kAcquire and kRelease
  std::optional<Value> task;    ///< of kEnqueue and kDequeue
  bool shared = false;          ///< the object is in memory that processes share

  /// The object or the task. load_plan() has checked that it is there.
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access)
  const Value& value() const { return is_task(role) ? *task : *object; }
  static bool is_task(SyncRole role) {
    return role == SyncRole::kEnqueue || role == SyncRole::kDequeue;
  }
};

struct Plan {
  bool all = false;  ///< every function and call, trivial ones included
  /// Of a program built for `vprof live`, or a frontier in one: no site in small helpers, so that
  /// the compiler inlines them as before, nor for trivial calls. What small helpers call is
  /// measured at its entry. With `all`, no scope where all calls have a site.
  bool armed = false;
  /// Armed: the smallest function of C++, in nodes, whose body is there twice, with and without its
  /// sites. The compiler puts smaller ones in line.
  uint32_t cxx_twins_from = 200;
  std::set<std::string> expanded;  ///< function keys
  std::set<std::string> measured;  ///< function keys
  /// `file:line:column` of calls that are not timed, and of functions without a scope of their own.
  std::set<std::string> demoted;
  std::vector<std::string> exclude;
  std::vector<IntervalPlan> intervals;
  std::vector<SyncPlan> sync;
};

/// Error: one line that names the file and the entry.
Result<Plan> load_plan(const std::string& path);
Result<void> save_plan(const Plan& plan, const std::string& path);

/// `entry` or `exit`.
Result<At> at_of(const std::string& word);
/// `acquire`, `release`, `enqueue` or `dequeue`.
Result<SyncRole> role_of(const std::string& word);
const char* role_name(SyncRole role);

}  // namespace vprof::instrumenter
