// vprof.json: what the user says about a program. Reference for users: docs/configuration.md.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "vprof/analyzer/analyzer.h"
#include "vprof/support/files.h"

namespace vprof::driver {

/// An event of the running program: entry to a function or exit from it, with a value taken there.
struct Point {
  std::string function;
  std::string at;     ///< `entry` or `exit`
  std::string value;  ///< `key` of an interval, or `value` of a text: `arg:0->name`
  int line = 0;       ///< in vprof.json
};

/// One semantic interval: either one call of `function`, or from `begin` to `end`.
struct Interval {
  std::string name;
  std::string function;
  std::vector<Point> begin, end, switches, label, trace_context;
  int line = 0;
};

/// One of the program's own synchronisation functions.
struct Sync {
  std::string role;  ///< `acquire`, `release`, `enqueue`, `dequeue`
  std::string function;
  std::string value;    ///< the lock, or the task
  bool shared = false;  ///< the object is in memory that processes share
  int line = 0;
};

struct Config {
  fs::path file;  ///< vprof.json itself
  fs::path source;
  std::string configure, build, run;
  double run_timeout_s = 0;  ///< how long `run` may take before it is ended; 0: for ever
  std::map<std::string, std::string> env;
  std::string compile_commands;  ///< relative to the source; empty: recorded by the compiler shims
  std::vector<Interval> intervals;
  std::vector<Sync> sync;
  analyzer::Options factors;
  std::vector<std::string> exclude;
  std::vector<std::string> leave_out;  ///< kinds of waits that are not recorded
  int ring_mb = 0;                     ///< what each thread keeps; 0: everything
  int max_mb = 0;                      ///< size limit of a process's trace; 0: libvprof's default
  double overhead_budget = 0.05;  ///< how much measuring may raise the mean latency; a fraction
  int max_iterations = 0;         ///< 0: no limit
  int jobs = 0;                   ///< at least 1 after parsing

  /// `vprof.json:LINE`, or `vprof.json` if the line is unknown (0).
  std::string location(int line) const;
};

/// Reads a configuration and checks everything that can be checked without the program. Error:
/// `file:LINE: what; what to do`.
Result<Config> load_config(const fs::path& file);

/// The same from text. Messages name `file`, and relative paths are relative to its directory.
Result<Config> parse_config(const std::string& text, const fs::path& file);

/// Every key that vprof.json may have, as `factors.k` or `intervals.begin.key`. The documentation
/// and the JSON Schema are tested against this list.
std::vector<std::string> known_keys();

}  // namespace vprof::driver
