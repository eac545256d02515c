// A recording as the rows of tables, for engines that read many of them (docs/tables.md, which says
// what each column means).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "vprof/analyzer/analyzer.h"
#include "vprof/analyzer/trace_context.h"

namespace vprof::analyzer {

using UInt128 = unsigned __int128;

/// What the intervals of one name have in common.
struct RecordingRow {
  std::string name;
  /// When the recording began, ns of CLOCK_REALTIME.
  int64_t run_ns = 0;
  /// Of the first interval's begin and the last one's, ns of CLOCK_REALTIME.
  int64_t begin_ns = 0, end_ns = 0;
  uint64_t intervals = 0, incomplete = 0, left_out = 0;
  unsigned batch_shift = 0;
  int root_height = 0;
  Losses losses;
  uint64_t records = 0;
  /// Paths of the programs that were recorded, without repetition.
  std::vector<std::string> programs;
};

struct TablePlace {
  /// Counts up from 0, the interval itself, which is its own parent. Parents come first.
  uint32_t number = 0, parent = 0;
  NodeKind kind = NodeKind::kFunction;
  bool blamed = false;
  /// As Node::function; `key` is that of a function in sites.json, else empty.
  std::string function, key;
  /// `file:line` of the function's definition and of the call; empty if unknown.
  std::string definition, location;
  /// `file:line:column` of the call, with a number appended if that is not unique.
  std::string position;
  int height = 0;
  bool expandable = false, expanded = false;
};

/// On the critical path of one interval, ns.
struct TableTime {
  uint32_t place = 0;  ///< never a body: that is `self_ns` of its parent
  uint64_t total_ns = 0, self_ns = 0, wait_ns = 0, blame_ns = 0;
};

struct TableInterval {
  std::string name;
  uint64_t number = 0;   ///< of those of the name, from the latest end
  uint32_t process = 0;  ///< in which it ended
  std::string program;   ///< path of its executable
  std::string label;
  uint64_t key = 0, id = 0;  ///< as Exemplar
  int64_t begin_ns = 0;      ///< of CLOCK_REALTIME
  uint64_t latency_ns = 0;
  uint64_t work = 0;
  TraceContext trace;
  std::vector<TableTime> times;  ///< by place
};

/// Sums of a place over intervals of one batch and label. Those of the same key may come in parts.
struct SumsRow {
  std::string name;
  uint64_t batch = 0;
  std::optional<std::string> label;  ///< nothing: all labels beyond 64
  uint32_t place = 0;
  int64_t begin_ns = 0, end_ns = 0;  ///< of the first interval's begin and the last one's
  uint64_t n = 0, count = 0;
  UInt128 x = 0, xx = 0, xt = 0;
  UInt128 w = 0, ww = 0, xw = 0;
};

struct ProductRow {
  std::string name;
  uint64_t batch = 0;
  uint32_t a = 0, b = 0;
  UInt128 xy = 0;
};

struct BinRow {
  std::string name;
  uint32_t place = 0, bin = 0;
  UInt128 x = 0;
};

struct LatencyRow {
  std::string name;
  std::optional<std::string> label;
  uint32_t bucket = 0;
  uint64_t n = 0, least_ns = 0, greatest_ns = 0;
};

/// Receives the rows: the intervals in one pass, roughly latest first; the places and then the
/// recordings last. An error ends the pass. `interval` may be empty: nobody wants them.
struct TableSink {
  std::function<Result<void>(const TableInterval&)> interval;
  std::function<Result<void>(const SumsRow&)> sums;
  std::function<Result<void>(const ProductRow&)> product;
  std::function<Result<void>(const BinRow&)> bin;
  std::function<Result<void>(const LatencyRow&)> latency;
  std::function<Result<void>(const TablePlace&)> place;
  std::function<Result<void>(const RecordingRow&)> recording;
};

/// What tells recordings apart.
struct RecordingStart {
  int64_t run_ns = 0;  ///< when it began, ns of CLOCK_REALTIME
  uint32_t pid = 0;    ///< of the process that began it
};

/// Error: as for analyze().
Result<RecordingStart> recording_start(const std::string& trace_dir);

/// Makes two passes over a recording, in about as much memory as analyze(). An empty
/// Options::interval means all kinds. Errors as for analyze(), or the error of the sink.
Result<void> table_rows(const std::string& trace_dir, const std::string& sites_json,
                        const Options& options, const TableSink& sink);

}  // namespace vprof::analyzer
