#include "stock.h"

#include <algorithm>

namespace {
constexpr int kItems = 400;
constexpr int kFull = 40;
constexpr size_t kGaps = 20000;
}  // namespace

Stock::Stock() : shelves_(kItems, std::vector<int>(kFull, 1)) {}

/// Closes the gaps that sold items have left, one after the other.
void Stock::compact_shelf(std::vector<int>& shelf) {
  shelf.insert(shelf.begin(), kGaps + shelf.size() * 100, 0);
  for (size_t i = 0; i < shelf.size();) {
    if (shelf[i] == 0) {
      shelf.erase(shelf.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  shelf.resize(kFull, 1);
}

int Stock::take(int item) {
  std::vector<int>& shelf = shelves_[static_cast<size_t>(item % kItems)];
  if (item % 50 == 7) {
    compact_shelf(shelf);
  }
  if (shelf.empty()) {
    shelf.resize(kFull, 1);
  }
  shelf.pop_back();
  return static_cast<int>(shelf.size());
}
