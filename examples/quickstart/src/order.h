// What travels through the service: main accepts it, the queue holds it, a worker handles it.
#pragma once

#include <cstdint>

namespace orders {

enum class OrderKind : uint8_t { kStandard, kExpress, kBulk };

struct Order {
  uint64_t id = 0;  ///< from 1; also the id of the semantic interval
  OrderKind kind = OrderKind::kStandard;
  uint32_t customer = 0;
  uint32_t shelf = 0;
  uint32_t quantity = 0;
  uint64_t price_cents = 0;  ///< filled by the worker
};

inline const char* kind_name(OrderKind kind) {
  switch (kind) {
    case OrderKind::kExpress:
      return "express";
    case OrderKind::kBulk:
      return "bulk";
    case OrderKind::kStandard:
      break;
  }
  return "standard";
}

}  // namespace orders
