#include "stock.h"

#include <cstddef>

namespace {
constexpr int kItems = 400;
constexpr int kFull = 40;
constexpr size_t kGaps = 20000;
}  // namespace

Stock::Stock() : shelves_(kItems, std::vector<int>(kFull, 1)) {}

/// Closes the gaps that sold items have left, one after the other.
void Stock::compact_shelf(std::vector<int>& shelf) {
  shelf.insert(shelf.begin(), kGaps + shelf.size() * 100, 0);
  int* const places = shelf.data();
  size_t used = shelf.size();
  for (size_t i = 0; i < used;) {
    if (places[i] != 0) {
      ++i;
      continue;
    }
    for (size_t next = i + 1; next < used; ++next) {
      places[next - 1] = places[next];
    }
    --used;
  }
  shelf.assign(kFull, 1);
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
