#include "vprof/analyzer/table_rows.h"

#include <algorithm>
#include <set>

#include "analysis/collector.h"
#include "analysis/recording_sums.h"
#include "analysis/rows/table_sums.h"
#include "analysis/rows/walked_intervals.h"
#include "trace/trace_file.h"

namespace vprof::analyzer {
namespace {

bool is_waiting(NodeKind kind) {
  return kind == NodeKind::kWait || kind == NodeKind::kQueue || kind == NodeKind::kParked;
}

class TableWriter {
 public:
  TableWriter(const std::string& trace_dir, const Sites& sites, const Options& options,
              const TableSink& sink)
      : trace_dir_(trace_dir), sites_(sites), options_(options), sink_(sink), tree_(sites) {}

  /// `kinds`: sums_of_recording()
  Result<void> write(std::vector<IntervalSums> kinds) {
    for (IntervalSums& sums : kinds) {
      VPROF_TRY(add_sums(sums));
      sums = {};
    }
    programs_.resize(recordings_.size());
    const ScanResult scanned =
        VPROF_TRY(walk_intervals(trace_dir_, sites_, options_, tree_,
                                 [this](const WalkedInterval& walked) { return add(walked); }));
    VPROF_TRY(sums_.finish());
    if (std::ranges::all_of(recordings_, [](const auto& one) { return one.intervals == 0; })) {
      return fail(ErrorKind::kNoInterval, "{}: no completed interval{}", trace_dir_,
                  options_.interval.empty() ? "" : " '" + options_.interval + "'");
    }
    VPROF_TRY(write_places());
    return write_recordings(scanned);
  }

 private:
  /// What the first pass has found out about the intervals of one kind.
  Result<void> add_sums(const IntervalSums& sums) {
    RecordingRow& recording = recordings_.emplace_back();
    recording.name = sums.interval;
    recording.incomplete = sums.incomplete;
    recording.batch_shift = sums.batch_shift;
    recording.root_height = sums.root_height;
    recording.losses = sums.losses;
    recording.records = sums.overhead.records;
    recording.begin_ns = INT64_MAX;
    recording.end_ns = INT64_MIN;
    if (sums.count() == 0) {
      return {};
    }
    std::vector<uint32_t> to(sums.places.size(), 0);
    for (uint32_t i = 1; i < to.size(); ++i) {
      to[i] = places_.number_of(to[sums.places[i].parent], sums.places[i]);
    }
    const auto children = children_of(sums.places);
    for (const Batch& batch : sums.batches) {
      VPROF_TRY(add_products(sums.interval, batch, children, to));
    }
    return add_bins(sums, to);
  }

  Result<void> add_products(const std::string& name, const Batch& batch,
                            const std::vector<std::vector<uint32_t>>& children,
                            const std::vector<uint32_t>& to) {
    const auto pass = [&](uint32_t a, uint32_t b, UInt128 xy) -> Result<void> {
      const auto [least, greatest] = std::minmax(to[a], to[b]);
      return xy == 0 ? Result<void>()
                     : sink_.product({name, UINT64_MAX - batch.order, least, greatest, xy});
    };
    for (const std::vector<uint32_t>& siblings : children) {
      for (uint32_t later = 1; later < siblings.size(); ++later) {
        for (uint32_t rank = 0; rank < later; ++rank) {
          VPROF_TRY(
              pass(siblings[rank], siblings[later], batch.sums.product(siblings[later], rank)));
        }
      }
    }
    for (uint32_t place = 0; place < batch.sums.others.size(); ++place) {
      VPROF_TRY(pass(place, place, batch.sums.others[place]));
    }
    return {};
  }

  Result<void> add_bins(const IntervalSums& sums, const std::vector<uint32_t>& to) {
    Result<void> passed;
    for (uint32_t place = 0; place < sums.tails.size(); ++place) {
      sums.tails[place].for_each([&](uint32_t bin, UInt128 ns) {
        if (passed && ns != 0) {
          passed = sink_.bin({sums.interval, to[place], bin, ns});
        }
      });
    }
    return passed;
  }

  Result<void> add(const WalkedInterval& walked) {
    const Interval& interval = walked.interval;
    number_new_nodes();
    RecordingRow& recording = recordings_[interval.kind];
    const Window& window = walked.portion.window;
    const Process& process = window.processes[window.threads[interval.end_thread].process];
    TableInterval row;
    row.name = recording.name;
    row.number = interval.number;
    row.process = process.pid;
    row.program = process.program;
    row.label = walked.label;
    row.key = interval.key;
    row.id = static_cast<uint64_t>(interval.id);
    row.begin_ns = walked.portion.run + (interval.begin - walked.portion.start);
    row.latency_ns = walked.latency_ns;
    row.work = interval.work;
    row.trace = interval.trace;
    recording.run_ns = walked.portion.run;
    recording.begin_ns = std::min(recording.begin_ns, row.begin_ns);
    recording.end_ns = std::max(recording.end_ns, row.begin_ns);
    ++recording.intervals;
    programs_[interval.kind].insert(process.program);
    VPROF_TRY(sums_.add(row, interval.number >> recording.batch_shift, interval.label,
                        totals(walked.times)));
    if (!sink_.interval) {
      return {};
    }
    row.times = divided(walked.times);
    return sink_.interval(row);
  }

  void number_new_nodes() {
    const std::vector<PathNode>& nodes = tree_.nodes();
    for (auto i = static_cast<uint32_t>(to_.size()); i < nodes.size(); ++i) {
      to_.push_back(i == PathTree::kRoot ? 0
                                         : places_.number_of(to_[nodes[i].parent],
                                                             place_of(nodes[i], tree_, sites_)));
    }
  }

  std::vector<TableSums::PlaceTotal> totals(std::span<const NodeTimes::Time> times) const {
    std::vector<TableSums::PlaceTotal> all;
    all.reserve(times.size());
    for (const NodeTimes::Time& time : times) {
      all.push_back({to_[time.node], time.ns});
    }
    return all;
  }

  /// The time of each place, divided into what is its own, waiting, and the work of others.
  std::vector<TableTime> divided(std::span<const NodeTimes::Time> times) {
    const std::vector<PathNode>& nodes = tree_.nodes();
    parts_.resize(nodes.size());
    for (const NodeTimes::Time& time : times) {
      parts_[time.node] = {.total_ns = time.ns, .self_ns = time.ns};
    }
    for (size_t i = times.size(); i-- > 0;) {  // children before their parents
      const uint32_t number = times[i].node;
      const PathNode& node = nodes[number];
      TableTime& part = parts_[number];
      if (is_waiting(node.kind)) {
        part.wait_ns = part.total_ns;
      }
      if (node.shown_kind() == NodeKind::kBlame) {
        part.blame_ns = part.total_ns;
      }
      if (number != PathTree::kRoot && node.kind != NodeKind::kBody) {
        TableTime& parent = parts_[node.parent];
        parent.self_ns -= part.total_ns;
        parent.wait_ns += part.wait_ns;
        parent.blame_ns += part.blame_ns;
      }
    }
    std::vector<TableTime> all;
    all.reserve(times.size());
    for (const NodeTimes::Time& time : times) {
      if (nodes[time.node].kind != NodeKind::kBody) {
        all.push_back(parts_[time.node]);
        all.back().place = to_[time.node];
      }
    }
    std::ranges::sort(all, {}, &TableTime::place);
    return all;
  }

  Result<void> write_places() const {
    const std::vector<Place>& places = places_.places();
    for (uint32_t i = 0; i < places.size(); ++i) {
      const Place& place = places[i];
      TablePlace row;
      row.number = i;
      row.parent = i == 0 ? 0 : place.parent;
      row.kind = place.kind == NodeKind::kFunction && place.blamed ? NodeKind::kBlame : place.kind;
      row.blamed = place.blamed;
      row.function = i == 0 ? root_name(sites_, options_) : name(i);
      row.key = place.key;
      row.definition = place.definition;
      row.location = place.location;
      row.position = place.position;
      row.height = place.height;
      row.expandable = place.expandable;
      row.expanded = place.expanded;
      VPROF_TRY(sink_.place(row));
    }
    return {};
  }

  std::string name(uint32_t number) const {
    const Place& place = places_.places()[number];
    if (place.kind != NodeKind::kBody) {
      return place.name;
    }
    const Place& parent = places_.places()[place.parent];
    return body_name(parent.kind, place.parent == 0 ? root_name(sites_, options_) : parent.name);
  }

  Result<void> write_recordings(const ScanResult& scanned) {
    for (size_t i = 0; i < recordings_.size(); ++i) {
      RecordingRow& row = recordings_[i];
      row.left_out = scanned.given_up + scanned.skipped;
      row.programs.assign(programs_[i].begin(), programs_[i].end());
      if (row.intervals != 0) {
        VPROF_TRY(sink_.recording(row));
      }
    }
    return {};
  }

  const std::string& trace_dir_;
  const Sites& sites_;
  const Options& options_;
  const TableSink& sink_;
  PathTree tree_;
  PlaceIndex places_;
  std::vector<uint32_t> to_;      // by node: its place
  std::vector<TableTime> parts_;  // by node; of one interval
  TableSums sums_{sink_};
  std::vector<RecordingRow> recordings_;         // by kind
  std::vector<std::set<std::string>> programs_;  // by kind
};

}  // namespace

Result<RecordingStart> recording_start(const std::string& trace_dir) {
  const auto files = VPROF_TRY(open_traces(trace_dir));
  RecordingStart start{.run_ns = INT64_MAX};
  for (const TraceFile& file : files) {
    const auto run = static_cast<int64_t>(file.header.start_realtime_ns);
    if (run < start.run_ns) {
      start = {.run_ns = run, .pid = file.header.pid};
    }
  }
  return start;
}

Result<void> table_rows(const std::string& trace_dir, const std::string& sites_json,
                        const Options& options, const TableSink& sink) {
  const auto sites = VPROF_TRY(read_sites(sites_json, options.interval));
  auto kinds = VPROF_TRY(sums_of_recording(trace_dir, sites_json, options));
  return TableWriter(trace_dir, sites, options, sink).write(std::move(kinds));
}

}  // namespace vprof::analyzer
