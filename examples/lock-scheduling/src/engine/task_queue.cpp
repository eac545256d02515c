#include "engine/task_queue.h"

namespace lab {

void TaskQueue::enqueue(Session* session) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(session);
  changed_.notify_one();
}

Session* TaskQueue::dequeue() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
  if (waiting_.empty()) {
    return nullptr;
  }
  Session* session = waiting_.front();
  waiting_.pop_front();
  return session;
}

void TaskQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

}  // namespace lab
