#include "vprof/analyzer/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "intervals.h"
#include "links.h"
#include "path.h"
#include "stream.h"

namespace vprof::analyzer {
namespace {

std::string name_of(uint32_t node, const PathTree& tree, const Sites& sites, uint32_t kind) {
  const PathNode& path = tree.nodes()[node];
  if (node == PathTree::kRoot) return sites.interval_name(kind);
  if (path.kind == NodeKind::kFunction) return sites.functions[path.ident].name;
  if (path.kind == NodeKind::kBody) return "(own time)";
  return tree.name(path.ident);
}

Timeline make(const Interval& interval, const std::string& label, Window& window,
              const Sites& sites) {
  Links links;
  links.build(window);
  PathTree tree(sites);
  PathWalker walker(window, sites, links, tree);
  std::vector<PathPiece> pieces;
  walker.record_pieces(&pieces);
  walker.walk(interval);
  Timeline made;
  made.interval = sites.interval_name(interval.kind);
  made.label = label;
  made.id = interval.id;
  made.latency_ns = interval.latency();
  std::sort(pieces.begin(), pieces.end(),
            [](const PathPiece& a, const PathPiece& b) { return a.lo < b.lo; });
  for (const PathPiece& piece : pieces) {
    const Thread& thread = window.threads[piece.thread];
    TimelinePiece& shown = made.pieces.emplace_back();
    shown.from_ns = piece.lo - interval.begin;
    shown.to_ns = piece.hi - interval.begin;
    shown.pid = window.processes[thread.process].pid;
    shown.thread = thread.serial;
    shown.thread_name = thread.name;
    for (uint32_t node = piece.leaf; node != kNone; node = tree.nodes()[node].parent) {
      shown.path.push_back(name_of(node, tree, sites, interval.kind));
    }
    std::reverse(shown.path.begin(), shown.path.end());
  }
  return made;
}

}  // namespace

Result<Timeline> timeline_of(const std::string& trace_dir, const std::string& sites_json,
                             uint64_t id, const Options& options) {
  const auto sites = read_sites(sites_json);
  if (!sites) return tl::make_unexpected(sites.error());
  auto stream = TraceStream::open(trace_dir, *sites, true);
  if (!stream) return tl::make_unexpected(stream.error());
  const unsigned workers =
      options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  IntervalBuilder builder(stream->window(), true);
  Timeline slowest;
  uint64_t found = 0;
  int64_t needed_before = INT64_MAX;
  while (stream->next(needed_before, options.window, workers)) {
    for (const Interval& interval : builder.take(stream->complete_after())) {
      const bool wanted =
          options.interval.empty() || sites->interval_name(interval.kind) == options.interval;
      if (interval.id != id || !wanted) continue;
      ++found;
      if (found > 1 && interval.latency() <= slowest.latency_ns) continue;
      slowest = make(interval, builder.labels()[interval.label], stream->window(), *sites);
    }
    needed_before = builder.needed_before(stream->complete_after());
  }
  if (found == 0) {
    return tl::make_unexpected(fmt::format(
        "{}: no completed interval has the id {}; the report names some under \"worst\"", trace_dir,
        id));
  }
  slowest.others = found - 1;
  return slowest;
}

}  // namespace vprof::analyzer
