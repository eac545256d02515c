// Queueing behind a slow task: requests arrive evenly at a queue with one worker. One in 25 needs
// its index rebuilt, and all that stand behind it wait for that. The rebuild is the cause, wherever
// its time is felt.
//
// expect: first rebuild_index
// sync: { "enqueue": { "function": "submit", "task": "arg:0" }, "dequeue": { "function": "take" } }
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "planted.h"

struct Request {
  uint64_t id = 0;
};

namespace {

std::mutex mutex;
std::condition_variable arrived;
std::deque<Request*> queue;
bool closed = false;

__attribute__((noinline)) void rebuild_index() { work_us(25000); }

__attribute__((noinline)) void search(const Request& request) {
  if (request.id % 25 == 0) {
    rebuild_index();
  }
  work_us(800);
}

__attribute__((noinline)) void reply() { work_us(400); }

__attribute__((noinline)) void handle(const Request& request) {
  search(request);
  reply();
}

}  // namespace

void submit(Request* request) {
  const std::lock_guard<std::mutex> lock(mutex);
  queue.push_back(request);
  arrived.notify_one();
}

Request* take() {
  std::unique_lock<std::mutex> lock(mutex);
  arrived.wait(lock, [] { return closed || !queue.empty(); });
  if (queue.empty()) {
    return nullptr;
  }
  Request* request = queue.front();
  queue.pop_front();
  return request;
}

void work() {
  while (Request* request = take()) {
    vprof_switch(request->id);
    handle(*request);
    vprof_end(request->id);
    vprof_switch(0);
  }
}

int main() {
  std::thread worker(work);
  std::vector<std::unique_ptr<Request>> requests;
  for (uint64_t id = 1; id <= 300; ++id) {
    requests.push_back(std::make_unique<Request>(Request{id}));
    vprof_begin(id);
    submit(requests.back().get());
    vprof_switch(0);
    work_us(4500);
  }
  {
    const std::lock_guard<std::mutex> lock(mutex);
    closed = true;
    arrived.notify_one();
  }
  worker.join();
}
