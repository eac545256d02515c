// The critical path within threads: frames, and the waits in them with what those did who ended
// them. From segment to segment: path_segments.cpp.
#include "critical_path/critical_path.h"

#include <fmt/format.h>

#include <algorithm>

#include "critical_path/place_names.h"
#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {
namespace {

/// Disks, clocks, and the other end of a connection: a client, another machine.
bool is_of_outside(uint32_t event) {
  return event == VPROF_EV_WAIT_FILE || event == VPROF_EV_WAIT_TIMER ||
         event == VPROF_EV_WAIT_STREAM || event == VPROF_EV_WAIT_POLL ||
         event == VPROF_EV_WAIT_SEND;
}

/// Whether an open frame is not the one in which an item lies, nor around it. Inner frames have
/// greater indices than outer ones, and kNone, as which what lies below all frames counts, is to be
/// the smallest.
bool lies_beside(uint32_t open, uint32_t parent) {
  return static_cast<int32_t>(open) > static_cast<int32_t>(parent);
}

// A chain of wakers longer than this is cut: its last wait stays a wait. Bounds memory, not time,
// which shrinks anyway.
constexpr size_t kMaxWakers = 256;
// Indices beyond are damage, and not worth a table.
constexpr uint32_t kMaxNames = 1u << 16;

}  // namespace

PathWalker::PathWalker(const Window& window, const Sites& sites, const Links& links, PathTree& tree)
    : window_(window), sites_(sites), links_(links), tree_(tree) {
  for (const Thread& thread : window.threads) {
    thread_names_.push_back(tree.intern(fmt::format("untracked({})", role_of(thread.name))));
  }
  searched_.resize(window.threads.size());
  for (const Site& site : sites.sites) {
    callers_.push_back(site.parent);
  }
  preempted_ = tree.intern("preempted");
  hand_off_ = tree.intern("queue(hand-off)");
  untracked_ = tree.intern("untracked");
  unknown_waker_ = tree.intern(kUnknownWaker);
}

uint32_t PathWalker::wait_name(const Wait& wait) {
  const bool app = wait.event == VPROF_EV_WAIT_APP;
  auto& names = app ? sync_names_ : wait_names_;
  const uint32_t index = app ? wait.sync : wait.event - VPROF_EV_WAIT_FIRST;
  const auto make = [&] {
    return tree_.intern(
        fmt::format("wait({})", app ? sites_.sync_name(wait.sync) : wait_function(wait.event)));
  };
  if (index >= kMaxNames) {
    return make();
  }
  if (names.size() <= index) {
    names.resize(index + 1, kNone);
  }
  if (names[index] == kNone) {
    names[index] = make();
  }
  return names[index];
}

uint32_t PathWalker::queue_name(uint32_t sync) {
  const auto make = [&] { return tree_.intern(fmt::format("queue({})", sites_.sync_name(sync))); };
  if (sync >= kMaxNames) {
    return make();
  }
  if (queue_names_.size() <= sync) {
    queue_names_.resize(sync + 1, kNone);
  }
  if (queue_names_[sync] == kNone) {
    queue_names_[sync] = make();
  }
  return queue_names_[sync];
}

uint32_t PathWalker::thread_untracked(uint32_t node, uint32_t thread) {
  return tree_.untracked(node, thread_names_[thread]);
}

/// The node's own time, until the end of the walk. A frame is given all of its time when it is
/// opened, and what is found in it is taken from it again (`take`).
[[gnu::always_inline]] inline void PathWalker::add(uint32_t node, int64_t ns) {
  if (times_.size() <= node || !times_[node].listed) [[unlikely]] {
    list(node);
  }
  times_[node].ns += ns;
}

/// Not inlined: seldom needed where each frame passes.
[[gnu::noinline]] void PathWalker::list(uint32_t node) {
  if (times_.size() <= node) {
    times_.resize(std::max<size_t>(node + 1, times_.size() * 2));
  }
  times_[node].listed = true;
  touched_.push_back(node);
}

/// Gives [lo, hi] of a thread to a node.
void PathWalker::add(uint32_t node, uint32_t thread, int64_t lo, int64_t hi) {
  if (hi <= lo) {
    return;
  }
  if (pieces_ != nullptr) {
    make_piece(thread, node, lo, hi);
  }
  add(node, hi - lo);
}

/// Where a node's own time stands in the tree.
uint32_t PathWalker::leaf_of(uint32_t node) {
  const NodeKind kind = tree_.nodes()[node].kind;
  const bool leaf =
      kind == NodeKind::kBody || kind == NodeKind::kUntracked || kind == NodeKind::kPreempted;
  return leaf ? node : tree_.body(node);
}

// ---- frames of one thread, and the waits in them
// -------------------------------------------------------------------

/// Lays [lo, hi] of a thread, with all that it waited for, below `node`.
void PathWalker::lay(uint32_t thread, int64_t lo, int64_t hi, uint32_t node, uint32_t outside) {
  begin_stretch(thread, lo, hi, node, outside);
  while (!stretches_.empty()) {
    if (step()) {
      continue;
    }
    Stretch& done = stretches_.back();
    close_above(done, kNone);
    tell(done, done.lo);
    searched_[done.thread] = done.next;
    stretches_.pop_back();
  }
}

void PathWalker::begin_stretch(uint32_t thread, int64_t lo, int64_t hi, uint32_t node,
                               uint32_t outside) {
  const size_t base = stretches_.empty() ? 0 : stretches_.back().top + 1;
  if (base >= open_.size()) {
    open_.resize(base * 2 + 64);
  }
  open_[base] = {kNone, outside, node, kNone};
  stretches_.push_back(
      {thread, lo, hi, first_ended_before(thread, hi), node, base, base, false, hi});
  add(outside, hi - lo);
}

/// The first item, which is the last one in time, that ended before. Most stretches of a thread end
/// a little before the last one began, so it is looked for from there on, in growing steps.
size_t PathWalker::first_ended_before(uint32_t thread, int64_t time) {
  const Items& items = window_.threads[thread].items;
  const auto ended_later = [&](const Item& item) { return item.end >= time; };
  size_t low = std::min(searched_[thread], items.size());
  size_t high = low;
  if (low > 0 && !ended_later(items[low - 1])) {
    low = 0;
  }
  for (size_t step = 2; high < items.size() && ended_later(items[high]); step *= 2) {
    low = high + 1;
    high += std::min(items.size() - high, step);
  }
  const Item* found = std::partition_point(items.begin() + low, items.begin() + high, ended_later);
  return static_cast<size_t>(found - items.begin());
}

/// Opens the frames that cover the end of the innermost stretch, from the outermost on. The last
/// one in time that ended before it is `next`, so the item in front of that, or those around it,
/// are the ones.
void PathWalker::open_chain() {
  Stretch& stretch = stretches_.back();
  stretch.begun = true;
  const Items& items = window_.threads[stretch.thread].items;
  const int64_t hi = stretch.now;
  chain_.clear();
  for (auto i = static_cast<uint32_t>(stretch.next) - 1; i != kNone; i = items[i].parent) {
    if (items[i].start < hi && items[i].end > stretch.lo) {
      chain_.push_back(i);
    }
  }
  for (auto it = chain_.rbegin(); it != chain_.rend(); ++it) {
    if (!items[*it].is_wait()) {
      open_frame(stretch, *it, items[*it]);
      continue;
    }
    const size_t depth = stretches_.size();
    const size_t frames = stretch.top;
    open_wait(*it, hi);
    // Not opened: all of it is done with, whatever it holds.
    if (stretches_.size() != depth || stretch.top == frames) {
      break;
    }
  }
}

/// Frames of the innermost stretch down to the next wait: most of any path, and what the speed of
/// the analysis hangs on. So all that it needs is at hand; what is seldom needed is left to
/// `close_above` and `open_frame`, which do the same.
void PathWalker::pass_frames() {
  Stretch& stretch = stretches_.back();
  const Items& items = window_.threads[stretch.thread].items;
  const int64_t lo = stretch.lo;
  const int64_t now = stretch.now;
  if (now <= lo) {
    return;
  }
  const Item* item = items.begin() + stretch.next;
  // Those in a wait that is done, or without duration; all later ones end at `now` or before.
  while (item->start >= now) {
    ++item;
  }
  auto index = static_cast<uint32_t>(item - items.begin());
  const uint32_t* const callers = callers_.data();
  for (; !item->is_wait() && item->end > lo; ++item, ++index) {
    // As it was left by open_frame, which makes room for more of everything.
    OpenFrame* const base = open_.data() + stretch.base;
    const OpenFrame* const last = pieces_ == nullptr ? open_.data() + open_.size() - 1 : base;
    OpenFrame* top = open_.data() + stretch.top;
    const size_t known = tree_.nodes().size();
    if (times_.size() < known) {
      times_.resize(2 * known);
    }
    NodeTime* const times = times_.data();
    const PathTree::Latest* const latest = tree_.latest_frames();
    for (; !item->is_wait() && item->end > lo; ++item, ++index) {
      if (top >= last) {
        break;
      }
      while (lies_beside(top->item, item->parent)) {
        --top;
      }
      const uint32_t site = item->what;
      const uint32_t caller = callers[site];
      const uint32_t holder = top->node;
      uint32_t above = holder;
      if (top == base) {
        above = stretch.node;
      } else if (top->caller == caller && caller != kNone) {
        above = top->above;
      }
      if (latest[above].site != site) {
        tree_.frame(above, site);
        if (tree_.nodes().size() != known) {
          break;
        }
      }
      const uint32_t node = latest[above].node;
      if (!times[node].listed) [[unlikely]] {
        list(node);
      }
      const int64_t duration = item->end - std::max(item->start, lo);
      times[holder].ns -= duration;
      times[node].ns += duration;
      ++top;
      top->item = index;
      top->node = node;
      top->above = above;
      top->caller = caller;
    }
    stretch.top = static_cast<size_t>(top - open_.data());
    if (item->is_wait() || item->end <= lo) {
      break;
    }
    close_above(stretch, item->parent);
    open_frame(stretch, index, *item);
  }
  stretch.next = index;
}

/// Goes on in the innermost stretch. False: nothing more lies in it.
bool PathWalker::step() {
  Stretch& stretch = stretches_.back();
  if (stretch.now <= stretch.lo) {
    return false;
  }
  if (!stretch.begun) {
    open_chain();
    return true;
  }
  pass_frames();
  const Items& items = window_.threads[stretch.thread].items;
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
  close_above(stretch, wait.parent);
  open_wait(index, std::min(wait.end, stretch.now));
  return true;
}

uint32_t PathWalker::node_of_top(const Stretch& stretch) const {
  return stretch.has_open() ? open_[stretch.top].node : stretch.node;
}

/// Who has the time that no other frame has.
inline uint32_t PathWalker::holder(const Stretch& stretch) const { return open_[stretch.top].node; }

/// Makes a piece of what the innermost open frame has after `until`, if pieces are wanted.
[[gnu::always_inline]] inline void PathWalker::tell(Stretch& stretch, int64_t until) {
  if (pieces_ == nullptr || until >= stretch.told) [[likely]] {
    return;
  }
  make_piece(stretch.thread, holder(stretch), until, stretch.told);
  stretch.told = until;
}

/// Not inlined, and by value: a stretch is to stay in registers.
[[gnu::noinline]] void PathWalker::make_piece(uint32_t thread, uint32_t node, int64_t lo,
                                              int64_t hi) {
  pieces_->push_back({thread, leaf_of(node), lo, hi});
}

/// Takes [start, end] from the innermost open frame, for what lies in it.
[[gnu::always_inline]] inline void PathWalker::take(Stretch& stretch, int64_t start, int64_t end) {
  tell(stretch, end);
  times_[holder(stretch)].ns -= end - start;
}

/// Closes frames until `parent` is the innermost one.
[[gnu::always_inline]] inline void PathWalker::close_above(Stretch& stretch, uint32_t parent) {
  for (; lies_beside(top(stretch).item, parent); --stretch.top) {
    tell(stretch,
         std::max(window_.threads[stretch.thread].items[top(stretch).item].start, stretch.lo));
  }
}

/// The place of one more open frame, whatever it held before.
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
  take(stretch, start, end);
  const uint32_t caller = callers_[item.what];
  uint32_t above = node_of_top(stretch);
  // A call directly within a call of the same function: one is evaluated as an argument of the
  // other, they are siblings.
  if (caller != kNone && top(stretch).caller == caller) {
    above = top(stretch).above;
  }
  OpenFrame& frame = push(stretch);  // a field at a time: a copy would wait for them to be stored
  frame.item = index;
  frame.node = tree_.frame(above, item.what);
  frame.above = above;
  frame.caller = caller;
  add(frame.node, end - start);
}

bool PathWalker::has_known_wait_inside(uint32_t thread, uint32_t index, int64_t from) const {
  const Thread& history = window_.threads[thread];
  for (uint32_t i = index + 1; history.has_inside(index, i); ++i) {
    const Item& item = history.items[i];
    if (!item.is_wait() || item.end <= from) {
      continue;
    }
    const uint32_t wait = item.what & ~kWaitBit;
    if (history.waits[wait].event != VPROF_EV_WAIT_APP &&
        links_.waker(thread, wait, item.start, item.end)) {
      return true;
    }
  }
  return false;
}

/// Whether a wait whose waker is not known is of a kind that is usually ended by somebody who is
/// not recorded; an application's lock is if the waits below it are.
bool PathWalker::ends_from_outside(uint32_t thread, uint32_t index, int64_t from) const {
  const Thread& history = window_.threads[thread];
  const uint32_t event = history.waits[history.items[index].what & ~kWaitBit].event;
  if (event != VPROF_EV_WAIT_APP) {
    return is_of_outside(event);
  }
  bool any = false;
  for (uint32_t i = index + 1; history.has_inside(index, i); ++i) {
    const Item& item = history.items[i];
    if (!item.is_wait() || item.end <= from) {
      continue;
    }
    const uint32_t inner = history.waits[item.what & ~kWaitBit].event;
    if (inner == VPROF_EV_WAIT_APP || inner == VPROF_EV_PREEMPTED) {
      continue;
    }
    if (!is_of_outside(inner)) {
      return false;
    }
    any = true;
  }
  return any;
}

/// A wait, of which the part before `end` counts. Ends because a waker's stretch ends strictly
/// before the wait's: the upper end of stretches falls with their depth, and within a stretch
/// `next` rises and `now` falls.
void PathWalker::open_wait(uint32_t index, int64_t end) {
  Stretch& stretch = stretches_.back();
  const uint32_t thread = stretch.thread;
  const Item& item = window_.threads[thread].items[index];
  const uint32_t wait_index = item.what & ~kWaitBit;
  const Wait& wait = window_.threads[thread].waits[wait_index];
  const int64_t start = std::max(item.start, stretch.lo);
  take(stretch, start, end);
  if (wait.event == VPROF_EV_PREEMPTED) {
    stretch.now = stretch.told = start;
    add(tree_.preempted(node_of_top(stretch), preempted_), thread, start, end);
    return;
  }
  const bool app = wait.event == VPROF_EV_WAIT_APP;
  // A lock directly below an application's lock is that lock, under the name that its users know.
  const bool below_app =
      !app && stretch.has_open() && window_.threads[thread].items[top(stretch).item].is_wait();
  const uint32_t node =
      below_app ? top(stretch).node : tree_.wait(node_of_top(stretch), wait_name(wait));
  std::optional<WakeUp> waker = links_.waker(thread, wait_index, item.start, item.end);
  // Who ends another's wait is not waiting himself then: a release after `end` contradicts that,
  // unless it is the end.
  if (waker && waker->time >= end && item.end > end) {
    waker.reset();
  }
  if (stretches_.size() >= kMaxWakers) {
    waker.reset();
  }
  if (app && !(waker && waker->exact) && has_known_wait_inside(thread, index, stretch.lo)) {
    // The locks below an application's lock know their wakers better than its name and the clock
    // do.
    push(stretch) = {index, node, node, kNone};
    add(node, end - start);
    return;
  }
  stretch.now = stretch.told = start;
  if (!waker) {
    ++(ends_from_outside(thread, index, stretch.lo) ? edges_.outside : edges_.unknown);
    add(tree_.untracked(node, unknown_waker_), thread, start, end);
    return;
  }
  ++(waker->exact ? edges_.exact : edges_.inferred);
  const int64_t release = std::clamp(waker->time, start, end - 1);
  add(node, thread, release, end);
  if (release > start) {
    begin_stretch(waker->thread, start, release, node, thread_untracked(node, waker->thread));
  }
}

}  // namespace vprof::analyzer
