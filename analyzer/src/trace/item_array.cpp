#include "trace/item_array.h"

#include <algorithm>
#include <new>
#include <utility>

namespace vprof::analyzer {

void ItemArray::grow(size_t count) {
  count = std::max<size_t>(count, 1);
  void* data = std::realloc(data_, count * sizeof(Item));
  if (data == nullptr) {
    throw std::bad_alloc();
  }
  data_ = static_cast<Item*>(data);
  capacity_ = count;
}

size_t ItemArray::first_ended_before(int64_t time, size_t near) const {
  return partition_point_near(begin(), size_, near,
                              [&](const Item& item) { return item.end >= time; });
}

void ItemPool::reserve(ItemArray& items, size_t count, size_t most_spare) {
  const auto too_large = [&](const ItemArray& array) {
    return array.capacity() / 4 > std::max(count, kMinPooled);
  };
  if (items.capacity() >= count && !too_large(items)) {
    return;
  }
  ItemArray other;
  if (count >= kMinPooled) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(spare_.begin(), spare_.end(), [&](const ItemArray& array) {
      return array.capacity() >= count && !too_large(array);
    });
    if (found != spare_.end()) {
      spare_items_ -= found->capacity();
      other = std::move(*found);
      spare_.erase(found);
    }
  }
  if (other.capacity() == 0 && !too_large(items)) {
    items.grow(std::max(count, 2 * items.capacity()));
    return;
  }
  if (other.capacity() == 0) {
    other.grow(count);
  }
  other.assign(items);
  std::swap(items, other);
  const std::lock_guard lock(mutex_);
  if (other.capacity() < kMinPooled || spare_items_ + other.capacity() > most_spare) {
    return;
  }
  spare_items_ += other.capacity();
  spare_.push_back(std::move(other));
}

}  // namespace vprof::analyzer
