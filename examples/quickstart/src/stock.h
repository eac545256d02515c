// The warehouse: shelves of lots that goods are taken from. Each shelf has a lock of its own.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "order.h"

namespace orders {

constexpr uint32_t kShelves = 256;

struct Lot {
  uint32_t size = 0;
  uint32_t bin = 0;  ///< where it lies
};

struct Shelf {
  std::mutex mutex;
  std::vector<Lot> lots;
  std::vector<uint32_t> room;  ///< in each bin; there are at most as many as lots
  uint32_t next_lot = 0;       ///< where to look for goods next
  uint32_t holes = 0;          ///< goods taken out since the shelf was last compacted
};

class Stock {
 public:
  Stock();

  /// Takes the order's goods from its shelf.
  bool reserve_stock(const Order& order);

 private:
  Lot* find_lot(Shelf& shelf, uint32_t quantity);
  static void compact_shelf(Lot* first, Lot* last, uint32_t* room);

  std::vector<Shelf> shelves_;
};

}  // namespace orders
