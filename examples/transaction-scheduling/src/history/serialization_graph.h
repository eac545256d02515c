// Checks a history for serializability (A. Adya, Weak Consistency, PhD thesis, MIT 1999, chapter
// 3). The direct serialization graph has an edge from a committed transaction to one that must come
// later:
//
//   ww   has written the version before the one that the other has written
//   wr   has written the version that the other has read
//   rw   has read the version before the one that the other has written
//
// A history is serializable (PL-3) if nobody has read what was never committed, or was not the last
// write of its transaction (G1a, G1b), and if the graph has no cycle.
#pragma once

#include <optional>
#include <string>

#include "history/history.h"

namespace smf {

// What is wrong, with the transactions and rows in question. None: the history is serializable.
std::optional<std::string> find_anomaly(const History& history);

}  // namespace smf
