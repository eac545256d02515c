// Frames and waits of one thread.
//
// They share one array, ordered by their end, the last one first: the reverse of the order in which
// they were written. So an outer item comes before the items inside it, and item j > i lies within
// i if and only if parent[j] >= i. A recording is read from its end to its beginning, so new items
// are appended. The critical path is walked backwards too, so this is also the order of access.
//
//   time -------------------->     index     0   1   2   3   4
//   [ A  [ B ] [ C ] ] [ D [ E ]]  item      D   E   A   C   B
//                                  parent    -   0   -   2   2
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include "trace/sites.h"

namespace vprof::analyzer {

/// Index of the first of `size` elements that is not `before`, of which all that are come first.
/// Gallops from `near` in either direction, so a search that ends close to it is short.
template <class Element, class Before>
size_t partition_point_near(const Element* first, size_t size, size_t near, const Before& before) {
  size_t low = std::min(near, size);
  size_t high = low;
  for (size_t step = 1; low > 0 && !before(first[low - 1]); step *= 2) {
    high = low - 1;
    low -= std::min(low, step);
  }
  for (size_t step = 1; high < size && before(first[high]); step *= 2) {
    low = high + 1;
    high += std::min(size - high, step);
  }
  return static_cast<size_t>(std::partition_point(first + low, first + high, before) - first);
}

inline constexpr uint32_t kWaitBit = 1u << 31;

struct Item {
  int64_t start = 0;  ///< ns
  int64_t end = 0;    ///< ns
  uint32_t what = 0;  ///< a site, or kWaitBit | index into Thread::waits
  uint32_t parent = kNone;

  bool is_wait() const { return (what & kWaitBit) != 0; }
};
static_assert(sizeof(Item) == 24);

/// A growable array of items. Room is reserved first, so appending is a single store. It grows by
/// realloc, which often extends in place or moves pages instead of copying to fresh memory.
class ItemArray {
 public:
  ItemArray() = default;
  ItemArray(ItemArray&& other) noexcept { *this = std::move(other); }
  ItemArray& operator=(ItemArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~ItemArray() { std::free(data_); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  size_t capacity() const { return capacity_; }
  Item& operator[](size_t i) { return data_[i]; }
  const Item& operator[](size_t i) const { return data_[i]; }
  Item* begin() { return data_; }
  Item* end() { return begin() + size_; }
  const Item* begin() const { return data_; }
  const Item* end() const { return begin() + size_; }

  /// Index of the first item, which is the last one in time, that ended before `time`. Searches
  /// from `near`.
  size_t first_ended_before(int64_t time, size_t near) const;

  /// There must be room for it.
  void append(const Item& item) { data_[size_++] = item; }
  /// Writes a sentinel behind the last item, where there must be room. It ended before everything,
  /// so a search for an earlier end stops there.
  void fence() { data_[size_] = {INT64_MIN, INT64_MIN, 0, kNone}; }
  /// New items are whatever has been written there. There must be room for them.
  void resize(size_t size) { size_ = size; }
  /// Copies all items of `other`, for which there must be room.
  void assign(const ItemArray& other) {
    size_ = static_cast<size_t>(std::copy(other.begin(), other.end(), begin()) - begin());
  }
  /// Makes room for `count` items in all.
  void grow(size_t count);

 private:
  Item* data_ = nullptr;  // from realloc
  size_t size_ = 0;
  size_t capacity_ = 0;
};

/// Memory that one thread needed for the last window, another may need for the next. Fresh memory
/// costs more than reading what is put into it.
class ItemPool {
 public:
  /// Makes room for `count` items in all in `items`. Keeps what is replaced for others, at most
  /// `most_spare` items. Any thread may call it.
  void reserve(ItemArray& items, size_t count, size_t most_spare);

 private:
  /// Smaller arrays are allocated as fast as they are found here.
  static constexpr size_t kMinPooled = 4096;

  std::mutex mutex_;
  std::vector<ItemArray> spare_;
  size_t spare_items_ = 0;
};

}  // namespace vprof::analyzer
