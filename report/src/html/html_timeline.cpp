#include "html/html_timeline.h"

#include <algorithm>
#include <map>

#include "exports/wait_spans.h"
#include "vprof/report/json.h"

namespace vprof::report {
namespace {

using Json = nlohmann::json;
using analyzer::TimelinePiece;

constexpr size_t kMostPieces = 400;

/// Merges the shortest pieces into the one before, if that is on the same thread.
std::vector<TimelinePiece> merged(const std::vector<TimelinePiece>& pieces) {
  if (pieces.size() <= kMostPieces) {
    return pieces;
  }
  std::vector<int64_t> lengths;
  lengths.reserve(pieces.size());
  for (const TimelinePiece& piece : pieces) {
    lengths.push_back(piece.to_ns - piece.from_ns);
  }
  std::nth_element(lengths.begin(), lengths.begin() + kMostPieces, lengths.end(), std::greater<>());
  const int64_t least = lengths[kMostPieces];
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

/// Numbers distinct values in the order in which they come.
template <class T>
class Numbering {
 public:
  size_t of(const T& value) {
    const auto [entry, is_new] = index_.try_emplace(value, values_.size());
    if (is_new) {
      values_.push_back(value);
    }
    return entry->second;
  }
  const std::vector<T>& values() const { return values_; }

 private:
  std::map<T, size_t> index_;
  std::vector<T> values_;
};

}  // namespace

nlohmann::json to_json(const SelectedTimeline& shown) {
  const analyzer::Timeline& timeline = shown.timeline;
  const std::vector<TimelinePiece> pieces = merged(timeline.pieces);
  Numbering<std::pair<std::string, std::string>> names;
  Numbering<std::vector<size_t>> places;
  Numbering<std::pair<uint32_t, uint32_t>> threads;
  Json thread_names = Json::array();
  Json rows = Json::array();
  for (const TimelinePiece& piece : pieces) {
    std::vector<size_t> place;
    place.reserve(piece.path.size());
    for (size_t i = 0; i < piece.path.size(); ++i) {
      place.push_back(names.of({piece.path[i], word_for(piece.kinds[i])}));
    }
    const size_t known = threads.values().size();
    const size_t thread = threads.of({piece.pid, piece.thread});
    if (thread == known) {
      thread_names.push_back(
          {{"pid", piece.pid}, {"thread", piece.thread}, {"name", piece.thread_name}});
    }
    rows.push_back({piece.from_ns, piece.to_ns, thread, places.of(place)});
  }
  Json waits = Json::array();
  for (const WaitSpan& span : wait_spans(timeline.pieces)) {
    const size_t known = threads.values().size();
    const size_t thread = threads.of({span.pid, span.thread});
    if (thread == known) {
      continue;  // its thread has only pieces that were merged
    }
    waits.push_back({span.from_ns, span.to_ns, thread, span.name, word_for(span.kind)});
  }
  return {{"why", shown.why},
          {"id", std::to_string(timeline.id)},
          {"key", timeline.key == 0 ? "" : std::to_string(timeline.key)},
          {"label", timeline.label},
          {"trace_id", timeline.trace.trace_id()},
          {"span_id", timeline.trace.span_id()},
          {"latency_ns", timeline.latency_ns},
          {"begin_ns", timeline.begin_ns},
          {"threads", std::move(thread_names)},
          {"names", names.values()},
          {"places", places.values()},
          {"pieces", std::move(rows)},
          {"waits", std::move(waits)},
          {"cut", timeline.pieces.size() - pieces.size()}};
}

}  // namespace vprof::report
