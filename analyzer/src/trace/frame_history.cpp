#include "trace/frame_history.h"

#include <algorithm>
#include <utility>

namespace vprof::analyzer {
namespace {

/// A slice is a wait of one frame, or a call that waits, perhaps by way of wrappers.
constexpr int kWaitCalls = 3;

/// How far to look for the next slice of a wait, in items.
constexpr uint32_t kNextSlice = 16;

/// More slices are not put together. This bounds the time.
constexpr int kMostSlices = 4096;

/// Whether two waits may be slices of one. A poll that timed out does not say what it waited for.
bool is_next_slice(const Wait& slice, const Wait& next) {
  if (slice.event == VPROF_EV_WAIT_TIMER) {
    return next.event == VPROF_EV_WAIT_POLL || next.event == VPROF_EV_WAIT_ROOM ||
           (next.event == VPROF_EV_WAIT_TIMER && next.timed_out);
  }
  return next.event == slice.event && next.object == slice.object;
}

}  // namespace

void Thread::cut(uint32_t later, int64_t end, uint32_t earlier) {
  items[later].start = end;
  // Preemptions are timed by another clock, which may be off by a microsecond.
  if (!is_preemption(items[later].what) && !is_preemption(earlier)) {
    ++counts.clipped;
  }
}

void Thread::nest() {
  Nester nester(nesting);
  Item* all = items.begin();
  const size_t count = items.size();
  for (size_t i = nesting.done; i < count; ++i) {
    Item& item = all[i];
    item.parent = nester.parent_of(static_cast<uint32_t>(i), item.start, item.end,
                                   [&](uint32_t later) { cut(later, item.end, item.what); });
  }
  nester.store(count);
}

bool Thread::has_same_place(const Item& a, const Item& b, int calls) const {
  uint32_t i = a.parent;
  uint32_t j = b.parent;
  for (; i != j && calls > 0; --calls) {
    if (i == kNone || j == kNone || items[i].is_wait() || items[i].what != items[j].what) {
      return false;
    }
    i = items[i].parent;
    j = items[j].parent;
  }
  return i == j;
}

bool Thread::is_made_again(const Item& wait, const Item& later) const {
  return waits[wait.what & ~kWaitBit].timed_out &&
         later.start - wait.end <= wait.end - wait.start && has_same_place(wait, later, kWaitCalls);
}

uint32_t Thread::last_slice(uint32_t i, int64_t before) const {
  const auto wait_of = [&](uint32_t j) -> const Wait& { return waits[items[j].what & ~kWaitBit]; };
  uint32_t last = i;
  int slices = 1;
  for (uint32_t after = i; after > 0 && slices < kMostSlices; --after) {
    const uint32_t j = after - 1;
    if (last - j > kNextSlice) {
      break;
    }
    const Item& later = items[j];
    if (!wait_of(last).timed_out || (later.is_wait() && later.start >= before)) {
      break;
    }
    if (later.is_wait() && is_next_slice(wait_of(last), wait_of(j)) &&
        is_made_again(items[last], later)) {
      last = j;
      ++slices;
    }
  }
  return last;
}

uint32_t Thread::item_at(int64_t time) const {
  const Item* const ended =
      std::partition_point(items.begin(), items.end(), [&](const Item& i) { return i.end > time; });
  // The item before that ends first of all that end later. What encloses the instant is around it.
  auto i = static_cast<uint32_t>(ended - items.begin()) - 1;
  while (i != kNone && items[i].start > time) {
    i = items[i].parent;
  }
  return i;
}

uint32_t Thread::frame_at(int64_t time) const {
  uint32_t i = item_at(time);
  while (i != kNone && items[i].is_wait()) {
    i = items[i].parent;
  }
  return i;
}

std::span<const Poll> Thread::polls_within(int64_t from, int64_t to) const {
  const auto first = std::partition_point(polls.begin(), polls.end(),
                                          [&](const Poll& poll) { return poll.start < from; });
  const auto last =
      std::partition_point(first, polls.end(), [&](const Poll& poll) { return poll.start < to; });
  return {first, last};
}

void Thread::sort_and_merge(size_t first, std::span<const Preemption> preempted) {
  const bool in_order = nesting.oldest_end != Nesting::kOutOfOrder;
  if (in_order && preempted.empty()) {
    return;
  }
  int64_t latest = preempted.empty() ? INT64_MIN : preempted.back().end;
  if (!in_order) {
    for (size_t i = first; i < items.size(); ++i) {
      latest = std::max(latest, items[i].end);
    }
  }
  // Items that end later stay where they are.
  Item* const changed = std::partition_point(items.begin(), items.begin() + first,
                                             [&](const Item& item) { return item.end >= latest; });
  const auto from = static_cast<size_t>(changed - items.begin());
  const auto ends_later = [](const Item& a, const Item& b) { return a.end > b.end; };
  // Records are in order of their exit, except those of signal handlers (one slot late) and damage.
  // Stable, because of two that end together the one written first is the inner one.
  if (!in_order) {
    std::stable_sort(changed, items.end(), ends_later);
  }
  Item* const middle = items.end();
  for (size_t i = preempted.size(); i-- > 0;) {
    items.append({preempted[i].start, preempted[i].end,
                  kWaitBit | static_cast<uint32_t>(waits.size()), kNone});
    waits.push_back({.event = VPROF_EV_PREEMPTED});
  }
  std::inplace_merge(changed, middle, items.end(), ends_later);
  nesting = {};
  if (from != 0) {
    nesting.oldest_end = items[from - 1].end;
    std::vector<Nesting::Open> around;
    for (auto i = static_cast<uint32_t>(from) - 1; i != kNone; i = items[i].parent) {
      around.push_back({items[i].start, i});
    }
    nesting.open.resize(std::max(nesting.open.size(), around.size() + 1));
    std::reverse_copy(around.begin(), around.end(), nesting.open.begin() + 1);
    nesting.depth = around.size();
  }
  nesting.done = from;
  nest();
}

size_t Thread::forget(int64_t before, size_t most) {
  // Needed are items that ended before that instant, and those that enclose it.
  const auto ended = std::partition_point(items.begin(), items.end(),
                                          [&](const Item& i) { return i.end > before; });
  const auto first = static_cast<uint32_t>(ended - items.begin());
  std::vector<uint32_t> around;  // from the innermost to the outermost
  if (first != 0) {
    for (uint32_t i = first - 1; i != kNone; i = items[i].parent) {
      if (items[i].start < before) {
        around.push_back(i);
      }
    }
  }
  const size_t needed = items.size() - first + around.size();
  // No item still to be read lies in one that begins later.
  while (nesting.depth != 0 && nesting.open[nesting.depth].start >= before) {
    --nesting.depth;
  }
  if (needed >= items.size() - needed && items.capacity() - items.size() >= most) {
    return needed;
  }

  const auto outer = static_cast<uint32_t>(around.size());
  const auto moved = [&](uint32_t i) {  // the new index of one in `around`; kNone for others
    const auto at = std::partition_point(around.begin(), around.end(),
                                         [&](uint32_t inner) { return inner > i; });
    if (at == around.end() || *at != i) {
      return kNone;
    }
    return outer - 1 - static_cast<uint32_t>(at - around.begin());
  };
  const std::vector<Wait> all_waits = std::exchange(waits, {});
  size_t count = 0;
  const auto keep = [&](uint32_t i) {
    const Item& item = items[i];
    Item& kept = items[count++];
    const uint32_t parent = item.parent;
    kept = item;
    kept.parent = parent >= first && parent != kNone ? parent - first + outer : moved(parent);
    if (kept.is_wait()) [[unlikely]] {
      const uint32_t wait = kept.what & ~kWaitBit;
      kept.what = kWaitBit | static_cast<uint32_t>(waits.size());
      waits.push_back(all_waits[wait]);
    }
  };
  for (size_t i = around.size(); i-- > 0;) {
    keep(around[i]);
  }
  const auto size = static_cast<uint32_t>(items.size());
  for (uint32_t i = first; i < size; ++i) {
    keep(i);
  }
  items.resize(count);
  nesting.done = count;
  for (size_t i = 1; i <= nesting.depth; ++i) {
    uint32_t& index = nesting.open[i].index;
    index = index >= first ? index - first + outer : moved(index);
  }
  return needed;
}

}  // namespace vprof::analyzer
