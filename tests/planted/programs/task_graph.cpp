// A task graph over a pool: a request fans out to three tasks; the last of them to end starts the
// fourth, which completes it. Decoding varies most but is never the last to end; encoding is what
// the request waits for when it is slow.
//
// expect: first encode
// absent: decode
#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "planted.h"

namespace {

using Task = std::function<void()>;

class Pool {
 public:
  explicit Pool(int threads) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this] { work(); });
    }
  }
  ~Pool() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      closed_ = true;
    }
    ready_.notify_all();
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }
  void post(Task task) {
    auto own = std::make_unique<Task>(std::move(task));
    vprof_task_created(reinterpret_cast<uint64_t>(own.get()));
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      tasks_.push_back(std::move(own));
    }
    ready_.notify_one();
  }

 private:
  void work() {
    while (const auto task = take()) {
      vprof_task_taken(reinterpret_cast<uint64_t>(task.get()));
      (*task)();
    }
  }
  std::unique_ptr<Task> take() {
    std::unique_lock<std::mutex> lock(mutex_);
    ready_.wait(lock, [this] { return closed_ || !tasks_.empty(); });
    if (tasks_.empty()) {
      return nullptr;
    }
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    return task;
  }

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::unique_ptr<Task>> tasks_;
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

__attribute__((noinline)) void decode(uint64_t id) { work_us(id % 2 == 0 ? 500 : 5000); }
__attribute__((noinline)) void resize(uint64_t id) { work_us(2000 + static_cast<long>(id % 2)); }
__attribute__((noinline)) void encode(uint64_t id) { work_us(id % 7 == 0 ? 25000 : 8000); }
__attribute__((noinline)) void deliver() { work_us(1000); }

struct Request {
  uint64_t id;
  std::atomic<int> open{3};
};

std::atomic<int> done{0};

void finish(const std::shared_ptr<Request>& request) {
  vprof_switch(request->id);
  deliver();
  vprof_end(request->id);
  vprof_switch(0);
  ++done;
}

void start(Pool& pool, const std::shared_ptr<Request>& request, void (*part)(uint64_t)) {
  pool.post([&pool, request, part] {
    vprof_switch(request->id);
    part(request->id);
    if (--request->open == 0) {
      pool.post([request] { finish(request); });
    }
    vprof_switch(0);
  });
}

void accept(Pool& pool, uint64_t id) {
  const auto request = std::make_shared<Request>();
  request->id = id;
  vprof_begin(id);
  start(pool, request, decode);
  start(pool, request, resize);
  start(pool, request, encode);
  vprof_switch(0);
}

}  // namespace

int main() {
  constexpr int kRequests = 80;
  {
    Pool pool(8);
    for (int request = 1; request <= kRequests; ++request) {
      accept(pool, static_cast<uint64_t>(request));
      work_us(12000);
    }
    while (done != kRequests) {
      work_us(1000);
    }
  }
}
