// clients ──submit──▶ task queue ──▶ worker: execute ──▶ complete
//                                     │
//                                     ├─ lock table   acquire, before each statement
//                                     ├─ buffer pool  access
//                                     ├─ work
//                                     └─ logs         commit
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/buffer_pool.h"
#include "engine/lock_table.h"
#include "engine/log.h"
#include "engine/session.h"
#include "engine/task_queue.h"
#include "program/settings.h"
#include "simulation/simulation.h"

namespace lab {

class Engine {
 public:
  Engine(const Settings& settings, const Workload& workload);

  // Puts load on the engine until `settings.transactions` have been committed, and waits for those
  // that have begun. Once.
  Outcome run();

 private:
  void clients_in_a_loop();
  void arrivals_at_random();
  Session* next_transaction();

  void submit(Session* session);
  void worker_loop(uint64_t seed);
  void execute(Session* session, PoolThread& thread);
  bool attempt(Session* session, PoolThread& thread);
  void complete(Session* session);

  const Settings& settings_;
  const Workload& workload_;
  LockTable locks_;
  BufferPool pool_;
  Logs logs_;
  TaskQueue queue_;

  std::mutex mutex_;  // of what follows
  Random scripts_;
  std::deque<Session> sessions_;
  std::vector<Session*> idle_;
  std::vector<Finished> finished_;
  uint64_t begun_ = 0;
  uint64_t completed_ = 0;
  std::condition_variable all_completed_;
};

// Throughput and latencies of a run with threads. Ends the process if the system cannot start as
// many threads.
Outcome run_engine(const Settings& settings, const Workload& workload);

}  // namespace lab
