#include "exports/wait_spans.h"

#include <optional>
#include <tuple>
#include <utility>

namespace vprof::report {
namespace {

using analyzer::NodeKind;
using analyzer::TimelinePiece;

struct OpenWait {
  WaitSpan span;
  size_t depth = 0;                                     // in the path
  std::optional<std::pair<uint32_t, uint32_t>> waiter;  // pid and thread, once known
};

/// Depths of waits and queues in the path of a piece.
std::vector<size_t> waits_of(const TimelinePiece& piece) {
  std::vector<size_t> depths;
  for (size_t i = 0; i < piece.path.size(); ++i) {
    if (piece.kinds[i] == NodeKind::kWait || piece.kinds[i] == NodeKind::kQueue ||
        piece.kinds[i] == NodeKind::kParked) {
      depths.push_back(i);
    }
  }
  return depths;
}

class WaitSpanBuilder {
 public:
  void add(const TimelinePiece& piece) {
    const std::vector<size_t> depths = waits_of(piece);
    size_t same = 0;
    while (same < open_.size() && same < depths.size() && open_[same].depth == depths[same] &&
           open_[same].span.name == piece.path[depths[same]]) {
      ++same;
    }
    close(same, &piece);
    for (size_t i = same; i < depths.size(); ++i) {
      OpenWait& one = open_.emplace_back();
      one.depth = depths[i];
      one.span = {piece.from_ns, piece.to_ns,           piece.pid,
                  piece.thread,  piece.path[depths[i]], piece.kinds[depths[i]]};
    }
    for (OpenWait& one : open_) {
      one.span.to_ns = piece.to_ns;
      const bool waking =
          piece.path.size() == one.depth + 2 && piece.kinds[one.depth + 1] == NodeKind::kBody;
      if (waking) {
        one.waiter = {piece.pid, piece.thread};
      }
    }
  }

  std::vector<WaitSpan> finish() {
    close(0, nullptr);
    return std::move(closed_);
  }

 private:
  void close(size_t depth, const TimelinePiece* next) {
    while (open_.size() > depth) {
      OpenWait& one = open_.back();
      if (one.waiter) {
        std::tie(one.span.pid, one.span.thread) = *one.waiter;
      } else if (next != nullptr) {
        one.span.pid = next->pid;
        one.span.thread = next->thread;
      }
      closed_.push_back(std::move(one.span));
      open_.pop_back();
    }
  }

  std::vector<OpenWait> open_;
  std::vector<WaitSpan> closed_;
};

}  // namespace

std::vector<WaitSpan> wait_spans(const std::vector<analyzer::TimelinePiece>& pieces) {
  WaitSpanBuilder spans;
  for (const TimelinePiece& piece : pieces) {
    spans.add(piece);
  }
  return spans.finish();
}

}  // namespace vprof::report
