// The verbs of the command line. Each has a file of its own that reads as a list of steps.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pipeline/recordings/tables.h"
#include "search/iterative_refinement.h"
#include "search/live/live_search.h"
#include "search/live/watch/flight_recorder.h"
#include "vprof/support/files.h"

namespace vprof::driver {

/// Applies to every verb: `--config`, or vprof.json in the directory of `-C`.
struct Global {
  fs::path config = "vprof.json";
};

struct InitOptions {
  std::string from;  ///< an entry of the catalogue; `list` prints all, `none` uses none of them
};

struct TryOptions {
  std::string function;              ///< what a request is; empty: guessed
  std::vector<std::string> command;  ///< what follows `--`; empty: "run" of vprof.json
  std::string build;                 ///< empty: guessed
  double seconds = 0;                ///< when the command is ended; 0: by itself, or by Ctrl-C
};

struct HistoryOptions {
  bool json = false;
};

struct InstrumentOptions {
  std::vector<std::string> expand;  ///< functions, besides those that the state has expanded
  bool all = false;                 ///< every function and call
  bool dry_run = false;             ///< show what would be inserted, change nothing
};

struct RecordOptions {
  std::vector<std::string> command;  ///< empty: "run" of vprof.json
  bool baseline = false;             ///< record intervals only
};

struct GraphOptions {
  std::string function;  ///< empty: the whole program, only with `dot` or `json`
  bool dot = false;
  bool json = false;
  bool names = false;  ///< the names that begin with `function`
};

struct ReportOptions {
  bool json = false;
  bool tree = false;
  std::string html;   ///< file to write
  int iteration = 0;  ///< 0: the last one
};

struct AnalyzeOptions {
  std::string trace;  ///< directory; empty: that of the current iteration
  std::string interval;
  bool json = false;
  std::string skip;     ///< `2s` or `300ms`: leave out intervals that began earlier
  std::string profile;  ///< file to write the profile to
  unsigned threads = 0;
};

struct MergeOptions {
  std::vector<std::string> profiles;
  std::string output;
  bool json = false;
};

struct TimelineOptions {
  std::string id;     ///< of an interval, its key, or of a trace
  std::string trace;  ///< directory; empty: that of the current iteration
  std::string interval;
  bool all = false;  ///< each piece, also short ones
  bool json = false;
  bool trace_events = false;  ///< for trace viewers
};

struct AnnotateOptions {
  std::string function;
  std::string interval;
  bool json = false;
};

struct CheckOptions {
  bool json = false;
};

struct SourceOptions {
  std::string function;
  bool json = false;
};

struct McpOptions {
  bool allow_runs = false;
};

struct ExportOptions {
  std::string trace;  ///< directory; empty: that of the current iteration
  std::string interval;
  std::map<std::string, std::string> files;  ///< by name of the format; empty: not asked for
  TableOptions tables;
};

struct DiffOptions {
  std::string a, b;
  std::vector<std::string> fail_if;
  bool certainly = false;  ///< conditions must hold over the whole confidence interval
  bool force = false;      ///< compare what looks like different programs
  std::string junit;       ///< file to write
  bool json = false;
  bool markdown = false;
};

/// All return the exit code, or an error of one line.
Result<int> verb_init(const Global& global, const InitOptions& options);
Result<int> verb_try(const Global& global, const TryOptions& options);
Result<int> verb_check(const Global& global, const CheckOptions& options);
Result<int> verb_loop(const Global& global, const LoopOptions& options);
Result<int> verb_live(const Global& global, const LiveOptions& options);
Result<int> verb_watch(const Global& global, const WatchOptions& options);
Result<int> verb_index(const Global& global);
Result<int> verb_instrument(const Global& global, const InstrumentOptions& options);
Result<int> verb_build(const Global& global);
Result<int> verb_record(const Global& global, const RecordOptions& options);
Result<int> verb_analyze(const Global& global, const AnalyzeOptions& options);
Result<int> verb_timeline(const Global& global, const TimelineOptions& options);
Result<int> verb_merge(const Global& global, const MergeOptions& options);
/// Exit code 1: a condition of `fail_if` holds.
Result<int> verb_diff(const Global& global, const DiffOptions& options);
Result<int> verb_export(const Global& global, const ExportOptions& options);
Result<int> verb_history(const Global& global, const HistoryOptions& options);
Result<int> verb_report(const Global& global, const ReportOptions& options);
Result<int> verb_graph(const Global& global, const GraphOptions& options);
Result<int> verb_source(const Global& global, const SourceOptions& options);
Result<int> verb_annotate(const Global& global, const AnnotateOptions& options);
/// The next two become another program, so they return only with an error.
/// @param arguments of `python3 -m vprof.fleet`
Result<int> verb_fleet(const std::vector<std::string>& arguments);
Result<int> verb_mcp(const Global& global, const McpOptions& options);

/// What `loop`, `live` and `watch` begin with. `budget`: percent; negative: that of vprof.json.
Result<Session> open_search(const Global& global, const std::string& interval, double budget,
                            bool json);

/// What they print at the end, and the report for a browser.
Result<int> print_search_result(const Session& session, bool json);

}  // namespace vprof::driver
