// transaction ──waits for──▶ object ──is held by──▶ transaction
//
// The dependency graph of Huang's dissertation, section 4.2.2: its vertices are transactions and
// objects, its edges are labelled shared or exclusive.
#pragma once

#include <cstdint>
#include <vector>

namespace lab {

using ObjectId = uint64_t;
using Nanoseconds = int64_t;

enum class Mode : uint8_t { kShared, kExclusive };

// Two transactions can hold the same object in these modes at the same time.
inline bool compatible(Mode a, Mode b) { return a == Mode::kShared && b == Mode::kShared; }

struct Object;

// What the lock manager and the policies know of a transaction. The owner sets the first three.
struct Transaction {
  uint64_t id = 0;        // unique; ties between equal transactions are broken by it
  int type = 0;           // index of its kind in the workload
  Nanoseconds begin = 0;  // of its first attempt: what VATS calls its birth

  // The lock manager's.
  std::vector<Object*> held;
  Object* waits_for = nullptr;
  // For the remaining time of the type: moments at which it was granted a lock it had waited for.
  Nanoseconds sum_of_grants = 0;
  int64_t grants_after_waiting = 0;

  // For walks over the graph, see DependencySets.
  uint64_t visited = 0;
  double size = 0;
};

struct Request {
  Transaction* transaction = nullptr;
  Mode mode = Mode::kShared;
  uint64_t lottery = 0;  // a random number; the policy RS orders by it
  uint64_t number = 0;   // counts the waits that have begun in the whole system
};

struct Holder {
  Transaction* transaction = nullptr;
  Mode mode = Mode::kShared;
};

//   waiters:  w0 w1 w2 | w3 w4     in order of arrival
//             eligible ▲ behind the barrier: not before all eligible ones have been granted
struct Object {
  ObjectId id = 0;
  std::vector<Holder> holders;
  std::vector<Request> waiters;
  // How many of the first waiters are ahead of the barrier; 0: there is no barrier.
  size_t eligible = 0;
  // Holders of a shared lock that want the exclusive one. They come before all waiters.
  std::vector<Transaction*> upgrades;
};

}  // namespace lab
