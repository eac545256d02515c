// One log, or several on disks of their own: parallel logging, section 3.4.2.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>

#include "workloads/workload.h"

namespace lab {

class Logs {
 public:
  // `flush_us`: what a flush takes on average.
  Logs(int count, int flush_us);

  // Writes a transaction's records and waits until they are on the disk. Each log takes one at a
  // time. Takes a log that is free; if there is none, waits for the one with the fewest waiters.
  void commit(Random& random);

 private:
  struct Log {
    std::mutex mutex;
    std::atomic<int> users{0};  // the one that flushes and those that wait
  };

  void acquire_log(Log* log);
  Log* choose();

  std::deque<Log> logs_;
  int flush_us_;
};

}  // namespace lab
