#include "engine/task_queue.h"

namespace lab {

void enqueue(TaskQueue& queue, Session* session) {
  const std::lock_guard lock(queue.mutex);
  queue.waiting.push_back(session);
  queue.changed.notify_one();
}

Session* dequeue(TaskQueue& queue) {
  std::unique_lock lock(queue.mutex);
  queue.changed.wait(lock, [&queue] { return queue.closed || !queue.waiting.empty(); });
  if (queue.waiting.empty()) {
    return nullptr;
  }
  Session* session = queue.waiting.front();
  queue.waiting.pop_front();
  return session;
}

void close(TaskQueue& queue) {
  const std::lock_guard lock(queue.mutex);
  queue.closed = true;
  queue.changed.notify_all();
}

}  // namespace lab
