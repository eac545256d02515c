#include "history.h"

#include <algorithm>

namespace vprof::analyzer {

void build_forest(Thread& thread) {
  std::vector<Item>& items = thread.items;
  const auto by_end = [](const Item& a, const Item& b) { return a.end < b.end; };
  // Records come in order of exit but for signal handlers (one slot late) and damage. Stable: of
  // two that end together, the one written first is the inner one.
  if (!std::is_sorted(items.begin(), items.end(), by_end)) {
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
      ++thread.clipped;
    }
    open.push_back(i);
  }
}

}  // namespace vprof::analyzer
