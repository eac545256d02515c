// A future is looked at every two milliseconds. The task behind it is the cause.
//
// interval: serve
// expect: first fetch
// expect: share 0.8 1.1
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

#include "planted.h"

static std::mutex mutex;
static std::condition_variable filled;
static std::deque<std::packaged_task<void()>> tasks;

__attribute__((noinline)) static void fetch(long us) {
  cause_begin();
  work_us(us);
  cause_end();
}

static void execute() {
  for (;;) {
    std::unique_lock lock(mutex);
    filled.wait(lock, [] { return !tasks.empty(); });
    std::packaged_task<void()> task = std::move(tasks.front());
    tasks.pop_front();
    lock.unlock();
    if (!task.valid()) {
      return;
    }
    hold_begin();
    task();
    hold_end();
  }
}

static std::future<void> submit(std::packaged_task<void()> task) {
  std::future<void> result = task.valid() ? task.get_future() : std::future<void>();
  const std::lock_guard lock(mutex);
  tasks.push_back(std::move(task));
  filled.notify_one();
  return result;
}

__attribute__((noinline)) static void look_at_client() {}

static bool is_ready(const std::future<void>& answer) {
  wait_begin();
  const std::future_status status = answer.wait_for(std::chrono::milliseconds(2));
  wait_end();
  return status == std::future_status::ready;
}

void serve(long us) {
  work_us(200);
  std::future<void> answer = submit(std::packaged_task<void()>([us] { fetch(us); }));
  while (!is_ready(answer)) {
    look_at_client();
  }
}

int main() {
  std::thread executor(execute);
  uint32_t state = 1;
  for (int request = 0; request < 400; ++request) {
    request_begin();
    serve(draw(&state) % 6 == 0 ? 7000 + draw(&state) % 4000 : 500);
    request_end();
  }
  write_truth();
  submit({});
  executor.join();
  return 0;
}
