// What the scheduler knows of a transaction: its operations on hot keys.
//
//   type, hot keys ──▶ classifier ──▶ prediction ──▶ schedule ──▶ the transaction begins
//
// A hot key is one that many transactions access and some write. Section numbers are those of
// A. Cheng et al., Towards Optimal Transaction Scheduling, PVLDB 17(11), 2024.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace smf {

enum class Access : uint8_t { kRead, kWrite };

// A hash of the key. If two hot keys had the same, transactions would wait in vain, no more.
using HotKeyId = uint64_t;

inline HotKeyId hot_key_id(std::string_view key) { return std::hash<std::string_view>()(key); }

struct Operation {
  HotKeyId key;
  Access access;
  uint32_t position;  // among all operations of the transaction, from 0

  friend bool operator==(const Operation&, const Operation&) = default;
};

struct Prediction {
  std::vector<Operation> operations;  // on hot keys only, by rising position
  uint32_t length = 0;                // how many operations the transaction has in all

  bool has_hot_keys() const { return !operations.empty(); }
  bool writes() const {
    return std::ranges::any_of(operations, [](auto& o) { return o.access == Access::kWrite; });
  }
  friend bool operator==(const Prediction&, const Prediction&) = default;
};

// One of them writes a key that the other one accesses.
bool conflict(const Prediction& a, const Prediction& b);

}  // namespace smf
