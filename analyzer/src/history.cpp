#include "history.h"

#include <algorithm>

#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {

namespace {

/// Its times come from another clock than those of frames, and may miss by a microsecond.
bool preempted(const Thread& thread, const Item& item) {
  return item.is_wait() && thread.waits[item.what & ~kWaitBit].event == VPROF_EV_PREEMPTED;
}

}  // namespace

void build_forest(Thread& thread) {
  std::vector<Item>& items = thread.items;
  const auto by_end = [](const Item& a, const Item& b) { return a.end < b.end; };
  // Records come in order of exit but for signal handlers (one slot late) and damage; preemptions
  // stand before all of them. Stable: of two that end together, the one written first is the inner
  // one.
  const auto middle = std::is_sorted_until(items.begin(), items.end(), by_end);
  if (std::is_sorted(middle, items.end(), by_end)) {
    std::inplace_merge(items.begin(), middle, items.end(), by_end);
  } else {
    std::stable_sort(items.begin(), items.end(), by_end);
  }
  std::vector<uint32_t> open;  // items so far that lie in no other, in order of time
  for (uint32_t i = 0; i < items.size(); ++i) {
    Item& item = items[i];
    while (!open.empty() && items[open.back()].start >= item.start) {
      items[open.back()].parent = i;
      open.pop_back();
    }
    if (!open.empty() && items[open.back()].end > item.start) {
      item.start = items[open.back()].end;
      if (!preempted(thread, item) && !preempted(thread, items[open.back()])) ++thread.clipped;
    }
    open.push_back(i);
  }
}

}  // namespace vprof::analyzer
