// Timelines for the page.
#include <algorithm>

#include "exports/wait_spans.h"
#include "vprof/report/html.h"
#include "vprof/report/json.h"

namespace vprof::report {
namespace {

using Json = nlohmann::json;
using analyzer::TimelinePiece;

/// Merges the shortest pieces into the one before, if that is on the same thread.
std::vector<TimelinePiece> merged(const std::vector<TimelinePiece>& pieces, size_t most) {
  if (pieces.size() <= most) {
    return pieces;
  }
  std::vector<int64_t> lengths;
  lengths.reserve(pieces.size());
  for (const TimelinePiece& piece : pieces) {
    lengths.push_back(piece.to_ns - piece.from_ns);
  }
  std::nth_element(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(most),
                   lengths.end(), std::greater<>());
  const int64_t least = lengths[most];
  std::vector<TimelinePiece> result;
  for (const TimelinePiece& piece : pieces) {
    const bool same_thread =
        !result.empty() && result.back().pid == piece.pid && result.back().thread == piece.thread;
    if (same_thread && piece.to_ns - piece.from_ns <= least) {
      result.back().to_ns = piece.to_ns;
    } else {
      result.push_back(piece);
    }
  }
  return result;
}

/// The threads of a timeline, numbered in the order in which they come.
class Threads {
 public:
  size_t add(const TimelinePiece& piece) {
    const auto [entry, is_new] = numbers_.try_emplace({piece.pid, piece.thread}, names_.size());
    if (is_new) {
      names_.push_back({{"pid", piece.pid}, {"thread", piece.thread}, {"name", piece.thread_name}});
    }
    return entry->second;
  }
  /// Null if all its pieces were merged into others.
  const size_t* find(const WaitSpan& span) const {
    const auto found = numbers_.find({span.pid, span.thread});
    return found == numbers_.end() ? nullptr : &found->second;
  }
  const Json& names() const { return names_; }

 private:
  std::map<std::pair<uint32_t, uint32_t>, size_t> numbers_;
  Json names_ = Json::array();
};

}  // namespace

uint32_t PageTimelines::place_of(const TimelinePiece& piece) {
  uint32_t at = 0;
  for (size_t i = 0; i < piece.path.size(); ++i) {
    PlaceOnPath place{.parent = at, .name = piece.path[i], .kind = piece.kinds[i]};
    const auto [entry, is_new] =
        numbers_.try_emplace({place.parent, place.name, place.kind}, places_.size());
    if (is_new) {
      places_.push_back(std::move(place));
    }
    at = entry->second;
  }
  return at;
}

void PageTimelines::add(size_t order, const SelectedTimeline& shown) {
  const analyzer::Timeline& timeline = shown.timeline;
  const std::vector<TimelinePiece> pieces = merged(timeline.pieces, most_pieces_);
  Threads threads;
  Json rows = Json::array();
  for (const TimelinePiece& piece : pieces) {
    rows.push_back({piece.from_ns, piece.to_ns, threads.add(piece), place_of(piece)});
  }
  Json waits = Json::array();
  for (const WaitSpan& span : wait_spans(timeline.pieces)) {
    if (const size_t* const thread = threads.find(span); thread != nullptr) {
      waits.push_back({span.from_ns, span.to_ns, *thread, span.name, word_for(span.kind)});
    }
  }
  all_[order] = {{"why", shown.why},
                 {"id", std::to_string(timeline.id)},
                 {"key", timeline.key == 0 ? "" : std::to_string(timeline.key)},
                 {"label", timeline.label},
                 {"trace_id", timeline.trace.trace_id()},
                 {"span_id", timeline.trace.span_id()},
                 {"latency_ns", timeline.latency_ns},
                 {"begin_ns", timeline.begin_ns},
                 {"threads", threads.names()},
                 {"pieces", std::move(rows)},
                 {"waits", std::move(waits)},
                 {"cut", timeline.pieces.size() - pieces.size()}};
}

}  // namespace vprof::report
