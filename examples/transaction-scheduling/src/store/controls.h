// The concurrency controls by name.
//
//   occ        RocksDB's OptimisticTransactionDB, reads validated at commit
//   locks      RocksDB's TransactionDB, two-phase locking
//   mvtso      multi-version timestamp ordering
//   mvschedo   the same with the order enforced on hot keys
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "store/concurrency_control.h"

namespace smf {

inline constexpr std::array<std::string_view, 4> kControls{"occ", "locks", "mvtso", "mvschedo"};

struct StoreOptions {
  std::string directory;  // of RocksDB's files; made if it is missing
  bool sync = false;      // a commit survives a power failure, and not only a crash of the process
};

std::unique_ptr<ConcurrencyControl> make_occ(const StoreOptions& options);
std::unique_ptr<ConcurrencyControl> make_locks(const StoreOptions& options);
std::unique_ptr<ConcurrencyControl> make_mvtso(const StoreOptions& options);
std::unique_ptr<ConcurrencyControl> make_mvschedo(const StoreOptions& options);

// Null if there is none of this name. Throws std::runtime_error with RocksDB's message if the
// database cannot be opened.
std::unique_ptr<ConcurrencyControl> make_control(std::string_view name,
                                                 const StoreOptions& options);

}  // namespace smf
