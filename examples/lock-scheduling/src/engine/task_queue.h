// Transactions that wait for a worker.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

#include "engine/session.h"

namespace lab {

struct TaskQueue {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Session*> waiting;
  bool closed = false;
};

void enqueue(TaskQueue& queue, Session* session);

// Blocks until there is one. Null after close(), when all have been taken.
Session* dequeue(TaskQueue& queue);

void close(TaskQueue& queue);

}  // namespace lab
