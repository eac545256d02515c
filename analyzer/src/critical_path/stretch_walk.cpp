// The critical path within stretches of single threads: frames, the waits in them, and below each
// wait what its waker did meanwhile. critical_path.cpp connects the segments.
//
// A stretch [lo, hi] is walked backwards. The item that ended last comes first, and outer frames
// come before what they contain:
//
//      lo                                        hi
//       |   [ A ........ [ B ... ] [ C ... ] ] .. |       items:  A  C  B
//                                             <-- now
//
// Opening a frame gives it all of the time that it covers, and deducts that from the frame around
// it. So no work is left to do when a frame closes, and the sum over all nodes never changes.
#include <algorithm>

#include "critical_path/critical_path.h"
#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {
namespace {

/// Whether an open frame does not enclose the next item, whose parent is `parent`. Inner frames
/// have larger indices than outer ones. kNone, the bottom entry, must compare as the smallest.
bool must_close(uint32_t open, uint32_t parent) {
  return static_cast<int32_t>(open) > static_cast<int32_t>(parent);
}

}  // namespace

/// Adds to the time that a node itself owns. A frame gets all of its time when it is opened, and
/// loses what is found inside it (`deduct`).
[[gnu::always_inline]] inline void PathWalker::add(uint32_t node, int64_t ns) {
  if (times_.size() <= node) [[unlikely]] {
    make_room_for_nodes();
  }
  touch(times_.data(), touched_.data(), node, number_touched_);
  times_[node].ns += ns;
}

/// Not inlined: rare, on the path of every frame.
[[gnu::noinline]] void PathWalker::make_room_for_nodes() {
  times_.resize(2 * tree_.nodes().size());
  touched_.resize(times_.size() + 1);
}

/// Notes that the node has time, without a branch that depends on whether it had some.
[[gnu::always_inline]] inline void PathWalker::touch(NodeTime* times, uint32_t* touched,
                                                     uint32_t node, size_t& count) {
  touched[count] = node;
  count += times[node].touched ? 0 : 1;
  times[node].touched = true;
}

/// Gives [lo, hi] of a thread to a node.
void PathWalker::add(uint32_t node, uint32_t thread, int64_t lo, int64_t hi, bool inferred) {
  if (hi <= lo) {
    return;
  }
  if (pieces_ != nullptr) {
    add_piece(thread, node, lo, hi, inferred);
  }
  add(node, hi - lo);
}

/// The leaf that shows the time a node itself owns: its body, unless it is a leaf by kind.
uint32_t PathWalker::leaf_of(uint32_t node) {
  const NodeKind kind = tree_.nodes()[node].kind;
  const bool leaf =
      kind == NodeKind::kBody || kind == NodeKind::kUntracked || kind == NodeKind::kPreempted;
  return leaf ? node : tree_.body(node);
}

/// monitor_exec_time of Algorithm 2: attributes [lo, hi] of a thread, and all that it waited for,
/// to nodes below `node`. Time outside all frames goes to `outside`.
void PathWalker::attribute(uint32_t thread, int64_t lo, int64_t hi, uint32_t node, uint32_t outside,
                           bool exact) {
  begin_stretch({thread, lo, hi, exact, hi}, node, outside, 0, false);
  while (!stretches_.empty()) {
    if (step()) {
      continue;
    }
    Stretch& done = stretches_.back();
    close_down_to(done, kNone);
    flush_piece(done, done.lo);
    searched_[done.thread] = done.next;
    stretches_.pop_back();
  }
}

void PathWalker::begin_stretch(const Blame& blame, uint32_t node, uint32_t outside, uint32_t depth,
                               bool inferred) {
  const size_t base = stretches_.empty() ? 0 : stretches_.back().top + 1;
  if (base >= open_.size()) {
    open_.resize(base * 2 + 64);
  }
  open_[base] = {kNone, outside, node, kNone};
  const int64_t hi = blame.to;
  const size_t next = first_ended_before(blame.thread, hi);
  stretches_.push_back({blame.thread, blame.from, blame.released, hi, next, node, depth, base, base,
                        false, inferred || !blame.exact, hi});
  add(outside, hi - blame.from);
}

/// Most stretches of a thread end shortly before the previous one began.
size_t PathWalker::first_ended_before(uint32_t thread, int64_t time) {
  return window_.threads[thread].items.first_ended_before(time, searched_[thread]);
}

/// Opens the frames that enclose the end of the innermost stretch, the outermost first. They are
/// the item before `next`, which is the last one that ended before that instant, and its ancestors.
void PathWalker::open_enclosing_frames() {
  Stretch& stretch = stretches_.back();
  stretch.opened = true;
  const ItemArray& items = window_.threads[stretch.thread].items;
  const int64_t hi = stretch.now;
  chain_.clear();
  for (auto i = static_cast<uint32_t>(stretch.next) - 1; i != kNone; i = items[i].parent) {
    if (items[i].start < hi && items[i].end > stretch.lo) {
      chain_.push_back(i);
    }
  }
  for (auto it = chain_.rbegin(); it != chain_.rend(); ++it) {
    if (!items[*it].is_wait()) {
      if (items[*it].start < frames_from_ && stretch.depth == 0) {
        continue;  // whoever resumed the coroutine
      }
      open_frame(stretch, *it, items[*it]);
      continue;
    }
    const size_t depth = stretches_.size();
    const size_t frames = stretch.top;
    open_wait(*it, hi);
    // The wait was not opened: its time is attributed, whatever it contains.
    if (stretches_.size() != depth || stretch.top == frames) {
      break;
    }
  }
}

/// Attributes the frames of the innermost stretch down to the next wait. This is the hot loop of
/// the analysis. It keeps what it needs in local variables and leaves rare cases to `close_down_to`
/// and `open_frame`, which do the same.
void PathWalker::attribute_frames() {
  Stretch& stretch = stretches_.back();
  const ItemArray& items = window_.threads[stretch.thread].items;
  const int64_t lo = stretch.lo;
  const int64_t now = stretch.now;
  if (now <= lo) {
    return;
  }
  const Item* item = items.begin() + stretch.next;
  // Skips items inside a wait that is attributed, and items without duration. All later items end
  // at `now` or before. The fence behind the last item ends the loop.
  while (item->start >= now) {
    ++item;
  }
  auto index = static_cast<uint32_t>(item - items.begin());
  const uint32_t* const callers = callers_.data();
  for (; !item->is_wait() && item->end > lo; ++item, ++index) {
    // Loaded again after each open_frame, which may grow any of these arrays.
    OpenFrame* const base = open_.data() + stretch.base;
    const OpenFrame* const last = pieces_ == nullptr ? open_.data() + open_.size() - 1 : base;
    OpenFrame* top = open_.data() + stretch.top;
    const size_t known = tree_.nodes().size();
    if (times_.size() < known) {
      make_room_for_nodes();
    }
    NodeTime* const times = times_.data();
    uint32_t* const touched = touched_.data();
    size_t number_touched = number_touched_;
    const PathTree::Latest* const latest = tree_.latest_frames();
    for (; !item->is_wait() && item->end > lo; ++item, ++index) {
      if (top >= last) {
        break;
      }
      while (must_close(top->item, item->parent)) {
        --top;
      }
      const uint32_t site = item->what;
      const uint32_t caller = callers[site];
      const uint32_t owner = top->node;
      uint32_t parent = owner;
      if (top == base) {
        parent = stretch.node;
      } else if (top->caller == caller && caller != kNone) {
        parent = top->parent_node;
      }
      if (latest[parent].site != site) {
        tree_.frame(parent, site);
        if (tree_.nodes().size() != known) {
          break;
        }
      }
      const uint32_t node = latest[parent].node;
      touch(times, touched, node, number_touched);
      const int64_t duration = item->end - std::max(item->start, lo);
      times[owner].ns -= duration;
      times[node].ns += duration;
      ++top;
      top->item = index;
      top->node = node;
      top->parent_node = parent;
      top->caller = caller;
    }
    number_touched_ = number_touched;
    stretch.top = static_cast<size_t>(top - open_.data());
    if (item->is_wait() || item->end <= lo) {
      break;
    }
    close_down_to(stretch, item->parent);
    open_frame(stretch, index, *item);
  }
  stretch.next = index;
}

/// Takes the innermost stretch up to the next wait. False: the stretch is done.
bool PathWalker::step() {
  Stretch& stretch = stretches_.back();
  if (stretch.now <= stretch.lo) {
    return false;
  }
  if (!stretch.opened) {
    open_enclosing_frames();
    return true;
  }
  attribute_frames();
  const ItemArray& items = window_.threads[stretch.thread].items;
  if (stretch.next >= items.size() || stretch.now <= stretch.lo) {
    return false;
  }
  const auto index = static_cast<uint32_t>(stretch.next);
  const Item& wait = items[index];
  if (wait.end <= stretch.lo) {
    return false;
  }
  ++stretch.next;
  if (wait.start >= stretch.now) {
    return true;
  }
  close_down_to(stretch, wait.parent);
  open_wait(index, std::min(wait.end, stretch.now));
  return true;
}

uint32_t PathWalker::node_of_top(const Stretch& stretch) const {
  return stretch.has_open() ? open_[stretch.top].node : stretch.node;
}

/// The node that owns all time not given to another one.
inline uint32_t PathWalker::owner(const Stretch& stretch) const { return open_[stretch.top].node; }

/// If pieces are recorded, adds the one from `until` on that the innermost open frame owns.
[[gnu::always_inline]] inline void PathWalker::flush_piece(Stretch& stretch, int64_t until) {
  if (pieces_ == nullptr || until >= stretch.flushed_to) [[likely]] {
    return;
  }
  add_piece(stretch.thread, owner(stretch), until, stretch.flushed_to, stretch.inferred);
  stretch.flushed_to = until;
}

/// Not inlined, and takes values, so that the caller can keep its Stretch in registers.
[[gnu::noinline]] void PathWalker::add_piece(uint32_t thread, uint32_t node, int64_t lo, int64_t hi,
                                             bool inferred) {
  pieces_->push_back({thread, leaf_of(node), lo, hi, inferred});
}

/// Deducts [start, end] from the innermost open frame: something inside it owns that time.
[[gnu::always_inline]] inline void PathWalker::deduct(Stretch& stretch, int64_t start,
                                                      int64_t end) {
  flush_piece(stretch, end);
  times_[owner(stretch)].ns -= end - start;
}

/// Closes frames until `parent` is the innermost open one.
[[gnu::always_inline]] inline void PathWalker::close_down_to(Stretch& stretch, uint32_t parent) {
  for (; must_close(top(stretch).item, parent); --stretch.top) {
    flush_piece(stretch, std::max(window_.threads[stretch.thread].items[top(stretch).item].start,
                                  stretch.lo));
  }
}

/// Pushes an open frame, whose fields the caller must set.
inline PathWalker::OpenFrame& PathWalker::push(Stretch& stretch) {
  if (++stretch.top == open_.size()) [[unlikely]] {
    open_.resize(open_.size() * 2);
  }
  return open_[stretch.top];
}

[[gnu::always_inline]] inline void PathWalker::open_frame(Stretch& stretch, uint32_t index,
                                                          const Item& item) {
  const int64_t start = std::max(item.start, stretch.lo);
  const int64_t end = std::min(item.end, stretch.now);
  deduct(stretch, start, end);
  const uint32_t caller = callers_[item.what];
  uint32_t parent = node_of_top(stretch);
  // A call directly inside another call of the same caller was evaluated as its argument: they are
  // siblings.
  if (caller != kNone && top(stretch).caller == caller) {
    parent = top(stretch).parent_node;
  }
  OpenFrame& frame = push(stretch);  // field by field: copying a struct stalls on store forwarding
  frame.item = index;
  frame.node = tree_.frame(parent, item.what);
  frame.parent_node = parent;
  frame.caller = caller;
  add(frame.node, end - start);
}

/// Attributes the part of a wait before `end` (line 6 to 9 of Algorithm 2). This terminates: a
/// waker's stretch ends strictly before the wait's, so the ends of stretches decrease with depth,
/// and within a stretch `next` rises and `now` falls.
void PathWalker::open_wait(uint32_t index, int64_t end) {
  Stretch& stretch = stretches_.back();
  const uint32_t thread = stretch.thread;
  const Item& item = window_.threads[thread].items[index];
  const Wait& wait = window_.threads[thread].waits[item.what & ~kWaitBit];
  const int64_t start = std::max(item.start, stretch.lo);
  deduct(stretch, start, end);
  if (wait.event == VPROF_EV_SETUP) {
    stretch.now = stretch.flushed_to = start;
    set_up_ += end - start;
    return;
  }
  if (wait.event == VPROF_EV_PREEMPTED) {
    stretch.now = stretch.flushed_to = start;
    add(tree_.preempted(node_of_top(stretch), preempted_), thread, start, end, stretch.inferred);
    return;
  }
  const bool app = wait.event == VPROF_EV_WAIT_APP;
  // A lock directly inside an application's lock is that lock, under the name that users know.
  const bool below_app =
      !app && stretch.has_open() && window_.threads[thread].items[top(stretch).item].is_wait();
  const uint32_t node =
      below_app ? top(stretch).node : tree_.wait(node_of_top(stretch), wait_name(thread, index));
  bool known = find_blame(thread, index, start, end);
  const bool exact = known && std::all_of(blames_.begin(), blames_.end(),
                                          [](const Blame& blame) { return blame.exact; });
  if (app && !exact) {
    if (has_known_wait_inside(thread, index, stretch.lo)) {
      // The locks inside it know their wakers better than its own releases and the clock do.
      push(stretch) = {index, node, node, kNone};
      add(node, end - start);
      return;
    }
    known = find_blame(thread, index, start, end);
  }
  stretch.now = stretch.flushed_to = start;
  if (!known) {
    const bool given_up = gave_up(thread, index, stretch.lo);
    const bool outside = given_up || ends_externally(thread, index, stretch.lo);
    ++(outside ? edge_counts_.outside : edge_counts_.unknown);
    add(tree_.untracked(node, given_up ? time_limit_ : unknown_waker_), thread, start, end,
        stretch.inferred);
    return;
  }
  ++(exact ? edge_counts_.exact : edge_counts_.inferred);
  const uint32_t depth = stretch.depth + 1;  // begin_stretch moves the stretches
  const bool inferred = stretch.inferred;
  int64_t explained = start;
  for (const Blame& blame : blames_) {
    add(node, thread, explained, blame.from, inferred);
    explained = blame.to;
    if (blame.thread == kNone) {
      add(tree_.untracked(node, unknown_waker_), thread, blame.from, blame.to, inferred);
    } else if (blame.from < blame.to) {
      begin_stretch(blame, node, thread_untracked(node, blame.thread), depth, inferred);
    }
  }
  add(node, thread, explained, end, inferred);
}

}  // namespace vprof::analyzer
