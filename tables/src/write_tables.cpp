#include <fmt/format.h>
#include <xxhash.h>

#include <charconv>
#include <chrono>
#include <filesystem>

#include "table_files.h"
#include "vprof/analyzer/table_rows.h"
#include "vprof/report/json.h"
#include "vprof/tables/tables.h"

namespace vprof::tables {
namespace {

using analyzer::BinRow;
using analyzer::LatencyRow;
using analyzer::ProductRow;
using analyzer::RecordingRow;
using analyzer::SumsRow;
using analyzer::TableInterval;
using analyzer::TablePlace;
using analyzer::TableTime;

/// Follows from the recording and from which part of it is asked for, not from who exports it.
std::string id_of(const analyzer::RecordingStart& start, const analyzer::Options& options) {
  const std::string text =
      fmt::format("{}/{}/{}/{}/{}/{}", start.run_ns, start.pid, options.interval, options.skip_ns,
                  options.epoch.from, options.epoch.to);
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

std::optional<std::string> unless_empty(std::string text) {
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

std::optional<int64_t> unless_zero(uint64_t value) {
  return value == 0 ? std::nullopt : std::optional(static_cast<int64_t>(value));
}

class RecordingTables {
 public:
  RecordingTables(const TablesRequest& request, std::string recording, int64_t run_ns,
                  TableFiles& files)
      : request_(request),
        privacy_(request.privacy),
        recording_(std::move(recording)),
        run_ns_(run_ns),
        files_(files) {}

  analyzer::TableSink sink() {
    analyzer::TableSink sink;
    if (!request_.rollups) {
      sink.interval = [this](const TableInterval& row) { return add(row); };
    }
    sink.sums = [this](const SumsRow& row) { return add(row); };
    sink.product = [this](const ProductRow& row) { return add(row); };
    sink.bin = [this](const BinRow& row) { return add(row); };
    sink.latency = [this](const LatencyRow& row) { return add(row); };
    sink.place = [this](const TablePlace& row) { return add(row); };
    sink.recording = [this](const RecordingRow& row) { return add(row); };
    return sink;
  }

  /// `2000 intervals, 61234 times`
  std::string written() const {
    return request_.rollups ? fmt::format("{} intervals, as roll-ups", intervals_)
                            : fmt::format("{} intervals, {} times", intervals_, times_);
  }

 private:
  /// What is not of one interval is in the day on which the recording began.
  Result<ParquetFile*> file(const Table& table) { return files_.file(table, run_ns_); }

  std::string label(const std::string& text) const { return privacy_.apply(privacy_.labels, text); }
  std::optional<std::string> label(const std::optional<std::string>& text) const {
    return text ? std::optional(label(*text)) : std::nullopt;
  }
  /// 0 stays 0.
  uint64_t key(uint64_t value) const {
    if (value == 0 || privacy_.labels == Treatment::kKeep) {
      return value;
    }
    const std::string digits = privacy_.apply(privacy_.labels, std::to_string(value));
    uint64_t hashed = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), hashed, 16);
    return hashed;
  }

  std::string program(const std::string& path) const {
    return request_.program.empty() ? fs::path(path).filename().string() : request_.program;
  }

  Result<void> add(const TableInterval& row) {
    if (request_.stopped != nullptr && *request_.stopped != 0) {
      return fail(ErrorKind::kInterrupted, "interrupted");
    }
    VPROF_TRY(VPROF_TRY(files_.file(kIntervals, row.begin_ns))
                  ->append(recording_, row.number, row.name, program(row.program), request_.version,
                           static_cast<int32_t>(row.process), label(row.label), key(row.key),
                           row.id, Timestamp{row.begin_ns}, row.latency_ns, unless_zero(row.work),
                           unless_empty(row.trace.trace_id()), unless_empty(row.trace.span_id()),
                           int64_t{1}));
    ParquetFile* const times = VPROF_TRY(files_.file(kTimes, row.begin_ns));
    for (const TableTime& time : row.times) {
      VPROF_TRY(times->append(recording_, row.name, row.number, static_cast<int32_t>(time.place),
                              time.total_ns, time.self_ns, time.wait_ns, time.blame_ns));
    }
    times_ += row.times.size();
    return {};
  }

  Result<void> add(const SumsRow& row) {
    return VPROF_TRY(file(kSums))
        ->append(recording_, row.name, row.batch, static_cast<int32_t>(row.place), label(row.label),
                 Timestamp{row.begin_ns}, Timestamp{row.end_ns}, row.n, row.count, row.x, row.xx,
                 row.xt, row.w, row.ww, row.xw);
  }

  Result<void> add(const ProductRow& row) {
    return VPROF_TRY(file(kProducts))
        ->append(recording_, row.name, row.batch, static_cast<int32_t>(row.a),
                 static_cast<int32_t>(row.b), row.xy);
  }

  Result<void> add(const BinRow& row) {
    return VPROF_TRY(file(kBins))
        ->append(recording_, row.name, static_cast<int32_t>(row.place),
                 static_cast<int32_t>(row.bin), row.x);
  }

  Result<void> add(const LatencyRow& row) {
    return VPROF_TRY(file(kLatencies))
        ->append(recording_, row.name, label(row.label), static_cast<int32_t>(row.bucket), row.n,
                 row.least_ns, row.greatest_ns);
  }

  Result<void> add(const TablePlace& row) {
    const bool is_root = row.number == 0;
    paths_.push_back(is_root ? row.function : paths_[row.parent] + " > " + row.function);
    const size_t colon = row.definition.rfind(':');
    const bool is_defined = colon != std::string::npos;
    int32_t line = 0;
    if (is_defined) {
      std::from_chars(&row.definition[colon + 1], row.definition.data() + row.definition.size(),
                      line);
    }
    return VPROF_TRY(file(kPlaces))
        ->append(recording_, static_cast<int32_t>(row.number),
                 is_root ? std::nullopt : std::optional(static_cast<int32_t>(row.parent)),
                 report::word_for(row.kind), row.blamed, row.function,
                 privacy_.apply_to_key(row.key),
                 privacy_.apply(privacy_.paths,
                                is_defined ? row.definition.substr(0, colon) : std::string()),
                 is_defined ? std::optional(line) : std::nullopt,
                 privacy_.apply_to_position(row.location), privacy_.apply_to_position(row.position),
                 paths_.back(), static_cast<int32_t>(row.height), row.expandable, row.expanded);
  }

  Result<void> add(const RecordingRow& row) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const Timestamp exported{std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()};
    const analyzer::Losses& losses = row.losses;
    intervals_ += row.intervals;
    return VPROF_TRY(file(kRecordings))
        ->append(recording_, kSchema, row.name,
                 program(row.programs.empty() ? "" : row.programs.front()), request_.version,
                 request_.vprof, row.run_ns, Timestamp{row.begin_ns}, Timestamp{row.end_ns},
                 exported, row.intervals, row.incomplete, row.left_out,
                 static_cast<int32_t>(row.batch_shift), static_cast<int32_t>(row.root_height),
                 losses.dropped, losses.torn, losses.unreadable_bytes, losses.unknown_waits,
                 losses.outside_waits, losses.inferred_edges, losses.exact_edges, row.records);
  }

  const TablesRequest& request_;
  const Privacy& privacy_;
  const std::string recording_;
  const int64_t run_ns_;
  TableFiles& files_;
  std::vector<std::string> paths_;  // by place
  uint64_t intervals_ = 0, times_ = 0;
};

}  // namespace

Result<std::string> write_tables(const TablesRequest& request) {
  const auto start = VPROF_TRY(analyzer::recording_start(request.trace_dir));
  const std::string recording = id_of(start, request.analysis);
  const std::string host = request.privacy.apply(request.privacy.hosts, request.host);
  const auto files = VPROF_TRY(TableFiles::create(request.out, recording, host));
  RecordingTables tables(request, recording, start.run_ns, *files);
  VPROF_TRY(
      analyzer::table_rows(request.trace_dir, request.sites_json, request.analysis, tables.sink()));
  VPROF_TRY(files->publish());
  return tables.written();
}

}  // namespace vprof::tables
