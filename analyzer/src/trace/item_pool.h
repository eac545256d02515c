// Recycles the item arrays of threads.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "trace/item_array.h"

namespace vprof::analyzer {

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
