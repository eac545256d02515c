#include "history.h"

#include <algorithm>

namespace vprof::analyzer {

void Forest::cut(Item& item, const Open& before) {
  item.start = before.end;
  // The times of a preemption come from another clock, and may miss by a microsecond.
  if (!is_preemption(thread_, item) && !is_preemption(thread_, thread_.items[before.index]))
    ++thread_.clipped;
}

void Forest::extend() {
  Item* items = thread_.items.data();
  const size_t count = thread_.items.size();
  for (; done_ < count && items[done_].end >= last_end_; ++done_) {
    Item& item = items[done_];
    while (!open_.empty() && open_.back().start >= item.start) {
      items[open_.back().index].parent = static_cast<uint32_t>(done_);
      open_.pop_back();
    }
    if (!open_.empty() && open_.back().end > item.start) cut(item, open_.back());
    last_end_ = item.end;
    open_.push_back({item.start, item.end, done_});
  }
}

void Forest::finish() {
  extend();
  std::vector<Item>& items = thread_.items;
  if (done_ == items.size()) return;
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
  for (Item& item : items) item.parent = kNone;
  open_.clear();
  done_ = 0;
  last_end_ = INT64_MIN;
  extend();
}

}  // namespace vprof::analyzer
