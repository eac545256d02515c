// What committed transactions have read and written.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace smf {

// Writer 0 is the state before all transactions. A transaction may write a row several times: the
// first write is 1.
struct VersionId {
  uint64_t writer = 0;
  uint64_t ordinal = 0;

  friend bool operator==(const VersionId&, const VersionId&) = default;
};

struct HistoryRead {
  std::string key;
  VersionId version;
};

struct HistoryWrite {
  std::string key;
  uint64_t ordinal;  // of the last write: what others may read
};

struct HistoryTransaction {
  uint64_t id = 0;
  std::vector<HistoryRead> reads;  // of versions of others
  std::vector<HistoryWrite> writes;
};

// The committed writers of each row, oldest version first.
using VersionOrder = std::map<std::string, std::vector<uint64_t>>;

struct History {
  std::vector<HistoryTransaction> committed;
  VersionOrder order;
};

}  // namespace smf
