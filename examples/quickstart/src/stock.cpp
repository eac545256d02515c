#include "stock.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace orders {

namespace {
constexpr uint32_t kBinSize = 1000;
constexpr uint32_t kMaxHoles = 64;  // orders after which a shelf is compacted
constexpr uint32_t kRefill = 200;   // a lot from which goods were taken is refilled to this
}  // namespace

// A few shelves hold far more lots than the rest, as in any warehouse.
Stock::Stock() : shelves_(kShelves) {
  std::mt19937 random(20190523);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  std::uniform_int_distribution<uint32_t> size(50, 400);
  uint32_t number = 0;
  for (Shelf& shelf : shelves_) {
    const double heavy_tailed = 5500.0 * std::pow(1.0 - uniform(random), -1.0 / 1.3);
    shelf.lots.resize(static_cast<size_t>(std::min(heavy_tailed, 18000.0)));
    shelf.room.resize(shelf.lots.size());
    for (Lot& lot : shelf.lots) {
      lot.size = size(random);
    }
    shelf.holes = number++ % kMaxHoles;  // so that not all shelves are due at once
  }
}

bool Stock::reserve_stock(const Order& order) {
  Shelf& shelf = shelves_[order.shelf];
  std::lock_guard<std::mutex> lock(shelf.mutex);
  if (shelf.holes >= kMaxHoles) {
    compact_shelf(shelf.lots.data(), shelf.lots.data() + shelf.lots.size(), shelf.room.data());
    shelf.holes = 0;
  }
  Lot* lot = find_lot(shelf, order.quantity);
  if (lot == nullptr) {
    return false;
  }
  lot->size = std::max(lot->size - order.quantity, kRefill);
  ++shelf.holes;
  return true;
}

// Continues where it stopped, so that it finds a lot after a few steps.
Lot* Stock::find_lot(Shelf& shelf, uint32_t quantity) {
  for (size_t step = 0; step < shelf.lots.size(); ++step) {
    Lot& lot = shelf.lots[shelf.next_lot];
    shelf.next_lot = (shelf.next_lot + 1) % static_cast<uint32_t>(shelf.lots.size());
    if (lot.size >= quantity) {
      return &lot;
    }
  }
  return nullptr;
}

// Packs the lots into as few bins as first fit finds: for each lot, the first bin that has room.
// The time grows with the square of the number of lots, which nobody noticed while shelves were
// small.
void Stock::compact_shelf(Lot* first, Lot* last, uint32_t* room) {
  for (Lot* lot = first; lot != last; ++lot) {
    room[lot - first] = kBinSize;
  }
  for (Lot* lot = first; lot != last; ++lot) {
    uint32_t bin = 0;
    while (room[bin] < lot->size) {
      ++bin;
    }
    room[bin] -= lot->size;
    lot->bin = bin;
  }
}

}  // namespace orders
