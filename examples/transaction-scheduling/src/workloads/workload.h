// What the clients' transactions do. All operations of a transaction are known when it begins, but
// the concurrency control sees them one by one.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "classifier/classifier.h"

namespace smf {

using Random = std::mt19937_64;

// A write adds `amount` to what the transaction has read of the row, or sets the row to it if it
// has not read it.
struct ScriptOperation {
  std::string key;
  Access access;
  bool for_update = false;  // a read that a write of the row follows
  int64_t amount = 0;
};

struct Script {
  uint32_t type = 0;
  std::vector<HotKey> hints;  // what the application knows when the transaction begins
  std::vector<ScriptOperation> operations;

  bool read_only() const;
  TracedTransaction traced() const;
};

class Workload {
 public:
  virtual ~Workload() = default;
  virtual Script next(Random& random) const = 0;
  virtual std::span<const char* const> types() const = 0;
  // What share of the transactions accesses a key that the classifier should take for hot.
  virtual double hot_share() const = 0;
};

std::vector<std::string_view> workload_names();
// Null if there is none of this name.
std::unique_ptr<Workload> make_workload(std::string_view name);

// A trace of the workload to learn from.
std::vector<TracedTransaction> trace_of(const Workload& workload, size_t transactions,
                                        uint64_t seed);

}  // namespace smf
