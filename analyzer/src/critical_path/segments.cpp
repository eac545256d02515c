#include "critical_path/segments.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {
namespace {

/// Larger kinds come from damaged records.
constexpr uint32_t kMaxKinds = 1u << 10;

/// Returns the old count.
uint64_t increment(std::vector<uint64_t>& counts, uint32_t kind) {
  if (counts.size() <= kind) {
    counts.resize(kind + 1);
  }
  return counts[kind]++;
}

/// What is said about an interval does not name its kind.
bool has_kind(const Mark& mark) {
  return mark.event != VPROF_EV_LABEL && mark.event != VPROF_EV_WORK &&
         mark.event != VPROF_EV_TRACE_CONTEXT;
}

/// Marks have been taken out: of the contexts, those of the others remain.
void keep_contexts_of_marks(Thread& thread) {
  if (thread.trace_contexts.empty()) {
    return;
  }
  std::vector<TraceContext> kept;
  for (Mark& mark : thread.marks) {
    if (mark.event == VPROF_EV_TRACE_CONTEXT) {
      kept.push_back(thread.trace_contexts[mark.index]);
      mark.index = static_cast<uint32_t>(kept.size() - 1);
    }
  }
  thread.trace_contexts = std::move(kept);
}

/// The runtime numbers intervals for which the configuration names no key.
bool is_made_by_runtime(const Mark& mark) {
  return mark.scope != 0 && (mark.id & VPROF_RUNTIME_ID) != 0;
}

}  // namespace

std::vector<Interval>& IntervalBuilder::read_marks(int64_t complete_after) {
  for (Interval& interval : ready_) {
    spare_segments_.push_back(std::move(interval.segments));
  }
  ready_.clear();
  for (const MarkRef& ref : marks_latest_first(complete_after)) {
    const Mark& mark = window_.threads[ref.thread].marks[ref.index];
    if (!has_kind(mark) || mark.index < kMaxKinds) {
      apply(ref.thread, mark);
    }
  }
  for (size_t t = 0; t < threads_.size(); ++t) {
    Thread& thread = window_.threads[t];
    std::erase_if(thread.marks, [&](const Mark& mark) { return mark.time > complete_after; });
    keep_contexts_of_marks(thread);
    for (size_t kind = 0; kind < threads_[t].kinds.size(); ++kind) {
      std::vector<Segment>& found = threads_[t].kinds[kind].found;
      if (found.empty()) {
        continue;
      }
      if (thread.segments.size() <= kind) {
        thread.segments.resize(kind + 1);
      }
      std::vector<Segment>& known = thread.segments[kind];
      // The oldest segment of the thread so far may turn out to begin earlier.
      if (!known.empty() && found.front().interval == known.front().interval &&
          found.front().end == known.front().end) {
        known.erase(known.begin());
      }
      known.insert(known.begin(), found.rbegin(), found.rend());
      found.clear();
    }
  }
  return ready_;
}

/// Marks after `complete_after`, the latest first. Marks of one thread keep their order. As they
/// are sorted already, the threads' lists are merged in pairs.
std::vector<IntervalBuilder::MarkRef> IntervalBuilder::marks_latest_first(
    int64_t complete_after) const {
  std::vector<MarkRef> refs;
  std::vector<size_t> ends = {0};
  for (uint32_t t = 0; t < window_.threads.size(); ++t) {
    const auto& marks = window_.threads[t].marks;
    for (auto i = static_cast<uint32_t>(marks.size()); i-- > 0;) {
      if (marks[i].time > complete_after) {
        refs.push_back({marks[i].time, t, i});
      }
    }
    if (refs.size() != ends.back()) {
      ends.push_back(refs.size());
    }
  }
  const auto later = [](const MarkRef& a, const MarkRef& b) {
    return std::tie(a.time, a.thread, a.index) > std::tie(b.time, b.thread, b.index);
  };
  const auto at = [&](size_t i) { return refs.begin() + static_cast<ptrdiff_t>(ends[i]); };
  while (ends.size() > 2) {
    std::vector<size_t> merged = {0};
    for (size_t i = 0; i + 1 < ends.size(); i += 2) {
      const size_t last = std::min(i + 2, ends.size() - 1);
      std::inplace_merge(at(i), at(i + 1), at(last), later);
      merged.push_back(ends[last]);
    }
    ends = std::move(merged);
  }
  return refs;
}

void IntervalBuilder::apply(uint32_t thread, const Mark& mark) {
  if (has_kind(mark)) {
    kinds_ = std::max(kinds_, mark.index + 1);
  }
  switch (mark.event) {
    case VPROF_EV_BEGIN:
      begin(thread, mark);
      break;
    case VPROF_EV_END:
      end(thread, mark);
      break;
    case VPROF_EV_SWITCH:
      switch_thread(thread, mark);
      break;
    case VPROF_EV_WORK:
      work(mark);
      break;
    case VPROF_EV_TRACE_CONTEXT:
      trace_context(thread, mark);
      break;
    default:
      label(thread, mark);
      break;
  }
}

Interval* IntervalBuilder::find(uint64_t id, uint64_t scope, uint32_t kind) {
  const auto found = open_.find({id, scope, kind});
  return found == open_.end() ? nullptr : &slots_[found->second];
}

void IntervalBuilder::end(uint32_t thread, const Mark& mark) {
  const Key key{mark.id, mark.scope, mark.index};
  uint32_t slot = 0;
  if (free_.empty()) {
    slot = static_cast<uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  if (const auto entry = open_.find(key); entry != open_.end()) {
    if (epoch_.contains(slots_[entry->second].end)) {
      count_incomplete(mark.index);  // the END met first has no BEGIN
    }
    free_.push_back(std::exchange(entry->second, slot));
  } else if (spare_entries_.empty()) {
    open_.emplace(key, slot);
  } else {
    Open::node_type& spare = spare_entries_.back();
    spare.key() = key;
    spare.mapped() = slot;
    open_.insert(std::move(spare));
    spare_entries_.pop_back();
  }
  Interval& made = slots_[slot];
  made = {};
  if (!spare_segments_.empty()) {
    made.segments = std::move(spare_segments_.back());
    made.segments.clear();
    spare_segments_.pop_back();
  }
  made.serial = ends_++;
  made.kind = mark.index;
  made.number = increment(ended_, mark.index);
  made.key = is_made_by_runtime(mark) ? 0 : mark.id;
  made.of_coroutine = mark.coroutine;
  made.end_thread = thread;
  made.end = made.begin = mark.time;
}

void IntervalBuilder::begin(uint32_t thread, const Mark& mark) {
  const auto found = open_.find({mark.id, mark.scope, mark.index});
  if (found == open_.end()) {
    if (!epoch_.by_end && epoch_.contains(mark.time)) {
      count_incomplete(mark.index);
    }
    switch_to(thread, mark.index, nullptr, mark);
    return;
  }
  const uint32_t slot = found->second;
  Interval& interval = slots_[slot];
  switch_to(thread, mark.index, &interval, mark);
  interval.begin = mark.time;
  if (mark.polled != kNoTime) {
    const bool was_ready = mark.others_first && !mark.no_batch;
    interval.queued = was_ready ? std::max<int64_t>(mark.time - mark.polled, 0) : 0;
  }
  // Begins are read from the last to the first.
  interval.id = last_id_ = std::min(mark.time, last_id_ - 1);
  if (in_epoch(interval)) {
    if (interval.latency() <= kLongestInterval && interval.end <= epoch_.until &&
        interval.begin >= epoch_.recorded_since) {
      complete(interval);
    } else {
      count_incomplete(interval.kind);
    }
  }
  spare_entries_.push_back(open_.extract(found));
  free_.push_back(slot);
}

void IntervalBuilder::complete(Interval& interval) {
  std::vector<IntervalSegment>& segments = interval.segments;
  std::sort(segments.begin(), segments.end(),
            [](const IntervalSegment& a, const IntervalSegment& b) {
              return std::tie(a.start, a.thread) < std::tie(b.start, b.thread);
            });
  int64_t latest = INT64_MIN;
  for (IntervalSegment& segment : segments) {
    segment.latest_end = latest = std::max(latest, segment.end);
  }
  ready_.push_back(std::move(interval));
}

/// A switch function may serve several kinds of intervals. Then only one of them has the id open.
Interval* IntervalBuilder::find_for_switch(const Mark& mark) {
  if (mark.id == 0) {
    return nullptr;
  }
  if (Interval* exact = find(mark.id, mark.scope, mark.index)) {
    return exact;
  }
  for (uint32_t kind = 0; kind < kinds_; ++kind) {
    if (Interval* other = find(mark.id, mark.scope, kind)) {
      return other;
    }
  }
  return nullptr;
}

/// The last label of an interval counts. All kinds that have the id open take it.
void IntervalBuilder::label(uint32_t thread, const Mark& mark) {
  const std::string& text = window_.threads[thread].labels[mark.index];
  const auto [known, is_new] =
      label_index_.try_emplace(text, static_cast<uint32_t>(labels_.size()));
  if (is_new) {
    labels_.push_back(text);
  }
  for (uint32_t kind = 0; kind < kinds_; ++kind) {
    Interval* interval = find(mark.id, mark.scope, kind);
    if (interval != nullptr && interval->label == 0) {
      interval->label = known->second;
    }
  }
}

/// As with labels.
void IntervalBuilder::trace_context(uint32_t thread, const Mark& mark) {
  bool placed = false;
  for (uint32_t kind = 0; kind < kinds_; ++kind) {
    Interval* interval = find(mark.id, mark.scope, kind);
    if (interval != nullptr && !interval->trace.is_set()) {
      interval->trace = window_.threads[thread].trace_contexts[mark.index];
    }
    placed = placed || interval != nullptr;
  }
  unplaced_contexts_ += placed ? 0 : 1;
}

/// All kinds that have the id open count the work.
void IntervalBuilder::work(const Mark& mark) {
  for (uint32_t kind = 0; kind < kinds_; ++kind) {
    Interval* interval = find(mark.id, mark.scope, kind);
    if (interval != nullptr) {
      interval->work = std::min(kMaxWork, interval->work + std::min(kMaxWork, mark.units));
    }
  }
}

IntervalBuilder::KindState& IntervalBuilder::state_of(uint32_t thread, uint32_t kind) {
  ThreadState& state = threads_[thread];
  while (state.kinds.size() <= kind) {
    state.kinds.push_back({.until = state.oldest_switch,
                           .until_coroutine = state.oldest_is_coroutine,
                           .last = kNone,
                           .found = {}});
  }
  return state.kinds[kind];
}

/// The thread leaves the intervals of all kinds for the one that it switches to.
void IntervalBuilder::switch_thread(uint32_t thread, const Mark& mark) {
  Interval* const interval = find_for_switch(mark);
  for (uint32_t kind = 0; kind < kinds_; ++kind) {
    const bool own = interval != nullptr && interval->kind == kind;
    switch_to(thread, kind, own ? interval : nullptr, mark);
  }
  threads_[thread].oldest_switch = mark.time;
  threads_[thread].oldest_is_coroutine = mark.coroutine;
}

/// The thread worked for the interval (null: for none of this kind) from the mark until its next
/// BEGIN of this kind or SWITCH, or until the interval ended on any thread.
void IntervalBuilder::switch_to(uint32_t thread, uint32_t kind, Interval* interval,
                                const Mark& mark) {
  KindState& state = state_of(thread, kind);
  const int64_t since = mark.time;
  const int64_t until = state.until;
  state.until = since;
  const bool by_coroutine = mark.coroutine && mark.event == VPROF_EV_SWITCH;
  const bool of_coroutine = by_coroutine || state.until_coroutine;
  state.until_coroutine = by_coroutine;
  const uint32_t last = state.last;
  state.last = interval == nullptr ? kNone : interval->serial;
  if (interval == nullptr) {
    return;
  }
  const int64_t end = std::min(until, interval->end);
  if (since >= end) {
    return;
  }
  std::vector<IntervalSegment>& own = interval->segments;
  // A switch to the same interval continues the segment, unless the thread was in its event loop.
  if (last == interval->serial && !own.empty() &&
      (!interval->can_park() || window_.threads[thread].polls_within(since, end).empty())) {
    const auto joined = std::find_if(own.rbegin(), own.rend(), [&](const IntervalSegment& s) {
      return s.thread == thread && s.start == end;
    });
    if (joined != own.rend()) {
      joined->start = since;
      if (!state.found.empty()) {
        state.found.back().start = since;
        state.found.back().polled = mark.polled;
        state.found.back().others_first = mark.others_first;
        state.found.back().by_coroutine = by_coroutine;
        state.found.back().suspension = mark.suspension;
      } else {
        state.found.push_back({since, joined->end, interval->serial, mark.polled, mark.others_first,
                               joined->marked, by_coroutine, mark.suspension});
      }
      return;
    }
  }
  const MarkPlace marked = {since, mark.scope != 0};
  own.push_back({since, end, thread, 0, marked, of_coroutine});
  state.found.push_back({since, end, interval->serial, mark.polled, mark.others_first, marked,
                         by_coroutine, mark.suspension});
}

void IntervalBuilder::count_incomplete(uint32_t kind) { increment(incomplete_, kind); }

bool IntervalBuilder::needs_more() const {
  return epoch_.by_end && std::ranges::any_of(open_, [&](const auto& entry) {
           return epoch_.contains(slots_[entry.second].end);
         });
}

int64_t IntervalBuilder::needed_before(int64_t complete_after) const {
  int64_t needed = complete_after == INT64_MAX ? complete_after : complete_after + 1;
  for (const auto& [key, slot] : open_) {
    needed = std::max(needed, slots_[slot].end);
  }
  return needed;
}

void IntervalBuilder::give_up_half() {
  std::vector<std::pair<int64_t, Key>> order;
  order.reserve(open_.size());
  for (const auto& [key, slot] : open_) {
    order.emplace_back(slots_[slot].end, key);
  }
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::tie(b.first, a.second.id, a.second.scope, a.second.kind) <
           std::tie(a.first, b.second.id, b.second.scope, b.second.kind);
  });
  order.resize((order.size() + 1) / 2);
  for (const auto& [end, key] : order) {
    const auto found = open_.find(key);
    free_.push_back(found->second);
    open_.erase(found);
    ++given_up_;  // its BEGIN will count as incomplete
  }
}

void IntervalBuilder::finish() {
  for (const auto& [key, slot] : open_) {
    // What has no begin by then has begun before the epoch.
    if (epoch_.is_all() || (epoch_.by_end && epoch_.contains(slots_[slot].end))) {
      count_incomplete(key.kind);
    }
  }
  open_.clear();
}

}  // namespace vprof::analyzer
