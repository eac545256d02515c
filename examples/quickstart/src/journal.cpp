#include "journal.h"

#include <cinttypes>

namespace orders {

Journal::Journal(const std::string& path) : file_(std::fopen(path.c_str(), "w")) {}

Journal::~Journal() {
  if (file_ != nullptr) {
    std::fclose(file_);
  }
}

void Journal::append(const Order& order) {
  std::lock_guard<std::mutex> lock(mutex_);
  write_line(order);
  flush();
}

void Journal::write_line(const Order& order) {
  std::fprintf(file_, "%" PRIu64 " %s customer=%u quantity=%u price=%" PRIu64 "\n", order.id,
               kind_name(order.kind), order.customer, order.quantity, order.price_cents);
}

void Journal::flush() { std::fflush(file_); }

}  // namespace orders
