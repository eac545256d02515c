// Transactions that wait for a worker.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

#include "engine/session.h"

namespace lab {

class TaskQueue {
 public:
  void enqueue(Session* session);

  // Blocks until there is one. Null after close(), when all have been taken.
  Session* dequeue();

  void close();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Session*> waiting_;
  bool closed_ = false;
};

}  // namespace lab
