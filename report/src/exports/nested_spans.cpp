#include "exports/nested_spans.h"

#include <algorithm>
#include <numeric>

namespace vprof::report {
namespace {

using analyzer::NodeKind;
using analyzer::TimelinePiece;

bool ends_by_another(NodeKind kind) {
  return kind == NodeKind::kWait || kind == NodeKind::kQueue || kind == NodeKind::kParked;
}

/// How many levels of the path are spans: own time is what the children of its span leave.
size_t levels_of(const TimelinePiece& piece) {
  return piece.path.size() - (piece.kinds.back() == NodeKind::kBody ? 1 : 0);
}

/// Whether the span at this level of the path is on the thread of the piece. Below a wait are other
/// threads; a wait itself is on the thread that shows between wake-up and running again.
bool is_own_thread(const TimelinePiece& piece, size_t level) {
  const size_t levels = levels_of(piece);
  if (ends_by_another(piece.kinds[level])) {
    return level + 1 == levels && levels < piece.path.size();
  }
  for (size_t below = level + 1; below < levels; ++below) {
    if (ends_by_another(piece.kinds[below])) {
      return false;
    }
  }
  return level != 0;  // an interval is on no thread in particular
}

class NestedSpanBuilder {
 public:
  explicit NestedSpanBuilder(const analyzer::Timeline& timeline) {
    NestedSpan root;
    root.name = timeline.interval;
    root.to_ns = timeline.latency_ns;
    spans_.push_back(std::move(root));
    open_.push_back(0);
  }

  void add(const TimelinePiece& piece) {
    const std::vector<size_t> before = open_;
    const size_t levels = levels_of(piece);
    size_t same = 1;
    while (same < std::min(levels, open_.size()) && continues(spans_[open_[same]], piece, same)) {
      ++same;
    }
    open_.resize(std::min(same, open_.size()));
    for (size_t level = open_.size(); level < levels; ++level) {
      NestedSpan span;
      span.name = piece.path[level];
      span.kind = piece.kinds[level];
      span.parent = open_.back();
      span.from_ns = piece.from_ns;
      span.inferred = piece.inferred;
      open_.push_back(spans_.size());
      spans_.push_back(std::move(span));
    }
    for (size_t level = 1; level < open_.size(); ++level) {
      NestedSpan& span = spans_[open_[level]];
      span.to_ns = piece.to_ns;
      span.inferred = span.inferred && piece.inferred;
      if (!span.pid && is_own_thread(piece, level)) {
        span.pid = piece.pid;
        span.thread = piece.thread;
        span.tid = piece.tid;
        span.thread_name = piece.thread_name;
      }
    }
    link(before, piece);
    previous_ = &piece;
  }

  std::vector<NestedSpan> take() { return std::move(spans_); }

 private:
  static bool continues(const NestedSpan& span, const TimelinePiece& piece, size_t level) {
    const bool moved = span.pid && is_own_thread(piece, level) &&
                       (*span.pid != piece.pid || span.thread != piece.thread);
    return span.name == piece.path[level] && span.kind == piece.kinds[level] && !moved;
  }

  /// The path came from another thread: what went on there ended a wait, or handed over.
  void link(const std::vector<size_t>& before, const TimelinePiece& piece) {
    if (previous_ == nullptr ||
        (previous_->pid == piece.pid && previous_->thread == piece.thread) || before.size() < 2) {
      return;
    }
    // The outermost wait that ended here, or else what goes on now.
    size_t woken = open_.back();
    for (size_t level = 1; level < before.size(); ++level) {
      const bool ended = level >= open_.size() || open_[level] != before[level] ||
                         (level + 1 == open_.size() && is_own_thread(piece, level));
      if (ended && ends_by_another(spans_[before[level]].kind)) {
        woken = before[level];
        break;
      }
    }
    std::vector<size_t>& by = spans_[woken].woken_by;
    if (woken != before.back() && std::ranges::find(by, before.back()) == by.end()) {
      by.push_back(before.back());
    }
  }

  std::vector<NestedSpan> spans_;
  std::vector<size_t> open_;  // by level
  const TimelinePiece* previous_ = nullptr;
};

}  // namespace

std::vector<NestedSpan> nested_spans(const analyzer::Timeline& timeline) {
  NestedSpanBuilder builder(timeline);
  for (const TimelinePiece& piece : timeline.pieces) {
    builder.add(piece);
  }
  return builder.take();
}

std::vector<NestedSpan> longest_spans(std::vector<NestedSpan> spans, size_t most) {
  if (spans.size() <= most) {
    return spans;
  }
  // A parent is not shorter than its children, and comes before those of its length.
  std::vector<size_t> order(spans.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](size_t i) { return spans[i].to_ns - spans[i].from_ns; });
  order.resize(most);
  std::ranges::sort(order);
  std::vector<size_t> moved(spans.size(), NestedSpan::kNone);
  for (size_t i = 0; i < order.size(); ++i) {
    moved[order[i]] = i;
  }
  std::vector<NestedSpan> kept;
  kept.reserve(most);
  for (const size_t i : order) {
    NestedSpan& span = kept.emplace_back(std::move(spans[i]));
    span.parent = span.parent == NestedSpan::kNone ? span.parent : moved[span.parent];
    for (size_t& by : span.woken_by) {
      by = moved[by];
    }
    std::erase(span.woken_by, NestedSpan::kNone);
  }
  return kept;
}

}  // namespace vprof::report
