// The record of all sales: one line per order, flushed before the order is answered.
#pragma once

#include <cstdio>
#include <mutex>
#include <string>

#include "order.h"

namespace orders {

class Journal {
 public:
  explicit Journal(const std::string& path);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  bool is_open() const { return file_ != nullptr; }
  void append(const Order& order);

 private:
  void write_line(const Order& order);
  void flush();

  std::mutex mutex_;
  std::FILE* file_;
};

}  // namespace orders
