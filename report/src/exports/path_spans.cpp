#include "exports/path_spans.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace vprof::report {
namespace {

using analyzer::NodeKind;
using analyzer::TimelinePiece;
using ThreadId = std::pair<uint32_t, uint32_t>;  // pid and thread

bool is_wait_kind(NodeKind kind) {
  return kind == NodeKind::kWait || kind == NodeKind::kQueue || kind == NodeKind::kParked;
}

/// How many elements of a path are spans. Own time is that of its function. The interval itself is
/// a span of the thread only where nothing else is.
size_t spans_of(const TimelinePiece& piece) {
  const size_t count = piece.path.size();
  return count > 1 && piece.kinds.back() == NodeKind::kBody ? count - 1 : count;
}

/// Depth at which the work of the last thread of a path begins: below its last wait.
size_t last_group(const TimelinePiece& piece, size_t count) {
  for (size_t depth = count; depth-- > 1;) {
    if (depth + 1 < count && is_wait_kind(piece.kinds[depth])) {
      return depth + 1;
    }
  }
  return count > 1 ? 1 : 0;
}

class PathSpanBuilder {
 public:
  void add(const TimelinePiece& piece) {
    names_[{piece.pid, piece.thread}] = {piece.thread_name, piece.tid};
    const size_t count = spans_of(piece);
    const size_t own = last_group(piece, count);
    close(common_with(piece, count, own), &piece);
    while (open_.size() < count) {
      open(piece, open_.size());
    }
    groups_[spans_[open_.back()].group] = ThreadId(piece.pid, piece.thread);
    for (size_t depth = 0; depth < count; ++depth) {
      PathSpan& span = spans_[open_[depth]].span;
      span.to_ns = piece.to_ns;
      span.inferred |= piece.inferred && depth >= own && own > 1;
    }
    spans_[open_.back()].span.self_ns += piece.to_ns - piece.from_ns;
  }

  std::vector<PathSpan> finish() {
    close(0, nullptr);
    std::vector<PathSpan> result;
    for (Numbered& one : spans_) {
      if (one.span.path.size() == 1 && one.span.self_ns == 0) {
        continue;  // the interval, all of which is in functions
      }
      const ThreadId thread = groups_[one.group].value_or(ThreadId());
      std::tie(one.span.pid, one.span.thread) = thread;
      std::tie(one.span.thread_name, one.span.tid) = names_[thread];
      result.push_back(std::move(one.span));
    }
    return result;
  }

 private:
  struct Numbered {
    PathSpan span;
    size_t group = 0;  // index into groups_: the spans that are on one thread
  };

  /// How many of the open spans go on in this piece.
  size_t common_with(const TimelinePiece& piece, size_t count, size_t own) const {
    size_t same = 0;
    while (same < open_.size() && same < count &&
           spans_[open_[same]].span.path.back() == piece.path[same] &&
           spans_[open_[same]].span.kind == piece.kinds[same]) {
      ++same;
    }
    // The root spans all threads, but where it is a span, it is one per stretch of a thread.
    const bool alone = count == 1 || open_.size() == 1;
    if (same == 1 && alone) {
      return 0;
    }
    if (same > own) {
      const auto& thread = groups_[spans_[open_[own]].group];
      if (thread && *thread != ThreadId(piece.pid, piece.thread)) {
        return own;
      }
    }
    return same;
  }

  void open(const TimelinePiece& piece, size_t depth) {
    Numbered one;
    one.span.from_ns = piece.from_ns;
    one.span.kind = piece.kinds[depth];
    one.span.path.assign(piece.path.begin(),
                         piece.path.begin() + static_cast<std::ptrdiff_t>(depth) + 1);
    one.span.monotonic_ns = piece.monotonic_ns;
    const bool begins_group = depth <= 1 || is_wait_kind(piece.kinds[depth - 1]);
    if (begins_group) {
      groups_.emplace_back();
    }
    one.group = begins_group ? groups_.size() - 1 : spans_[open_.back()].group;
    open_.push_back(spans_.size());
    spans_.push_back(std::move(one));
  }

  void close(size_t depth, const TimelinePiece* next) {
    while (open_.size() > depth) {
      std::optional<ThreadId>& thread = groups_[spans_[open_.back()].group];
      if (!thread && next != nullptr) {
        thread = ThreadId(next->pid, next->thread);
      }
      open_.pop_back();
    }
  }

  std::vector<Numbered> spans_;
  std::vector<size_t> open_;  // indices of spans, outermost first
  std::vector<std::optional<ThreadId>> groups_;
  std::map<ThreadId, std::pair<std::string, uint32_t>> names_;
};

}  // namespace

std::vector<PathSpan> path_spans(const analyzer::Timeline& timeline) {
  PathSpanBuilder spans;
  for (const TimelinePiece& piece : timeline.pieces) {
    spans.add(piece);
  }
  return spans.finish();
}

}  // namespace vprof::report
