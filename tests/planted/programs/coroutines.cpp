// Coroutines on a pool of three threads. Each request goes from thread to thread and awaits a mutex
// for coroutines, which blocks no thread. Now and then another coroutine rebuilds the index under
// that mutex; it resumes whoever waits, on whatever thread is free.
//
// interval: handle
// flags: -std=c++20
// expect: first rebuild_index
// absent: compact
#include <condition_variable>
#include <coroutine>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "planted.h"

namespace {

/// Begins when it is awaited; then whoever awaits it goes on.
class [[nodiscard]] Task {
 public:
  struct promise_type {
    std::coroutine_handle<> awaiting;
    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() { return {}; }
    struct Done {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> done) noexcept {
        return done.promise().awaiting;
      }
      void await_resume() noexcept {}
    };
    Done final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  explicit Task(std::coroutine_handle<promise_type> made) : handle_(made) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  ~Task() {
    if (handle_) {
      handle_.destroy();
    }
  }
  bool await_ready() const { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) const {
    handle_.promise().awaiting = awaiting;
    return handle_;
  }
  void await_resume() const {}

 private:
  std::coroutine_handle<promise_type> handle_;
};

struct Detached {
  struct promise_type {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

class Pool {
 public:
  explicit Pool(int threads) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this] { run(); });
    }
  }
  void post(std::coroutine_handle<> handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ready_.push_back(handle);
    changed_.notify_one();
  }
  auto schedule() {
    struct Scheduled {
      Pool& pool;
      bool await_ready() const { return false; }
      void await_suspend(std::coroutine_handle<> handle) const { pool.post(handle); }
      void await_resume() const {}
    };
    return Scheduled{*this};
  }
  void close() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      closed_ = true;
      changed_.notify_all();
    }
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

 private:
  void run() {
    for (;;) {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return closed_ || !ready_.empty(); });
      if (ready_.empty()) {
        return;
      }
      const std::coroutine_handle<> handle = ready_.front();
      ready_.pop_front();
      lock.unlock();
      handle.resume();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::coroutine_handle<>> ready_;
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

/// Suspends coroutines, not threads.
class CoroutineMutex {
 public:
  explicit CoroutineMutex(Pool& pool) : pool_(pool) {}
  auto lock() {
    struct Locking {
      CoroutineMutex& mutex;
      bool await_ready() const { return false; }
      bool await_suspend(std::coroutine_handle<> handle) const {
        const std::lock_guard<std::mutex> lock(mutex.mutex_);
        if (!std::exchange(mutex.locked_, true)) {
          return false;
        }
        mutex.waiting_.push_back(handle);
        return true;
      }
      void await_resume() const {}
    };
    return Locking{*this};
  }
  void unlock() {
    std::coroutine_handle<> next;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (waiting_.empty()) {
        locked_ = false;
        return;
      }
      next = waiting_.front();
      waiting_.pop_front();
    }
    pool_.post(next);
  }

 private:
  Pool& pool_;
  std::mutex mutex_;
  bool locked_ = false;
  std::deque<std::coroutine_handle<>> waiting_;
};

Pool pool(3);
CoroutineMutex index_mutex(pool);

__attribute__((noinline)) void rebuild_index() { work_us(25000); }
__attribute__((noinline)) void compact() { work_us(15000); }
__attribute__((noinline)) void read_index() { work_us(300); }

Task look_up() {
  co_await index_mutex.lock();
  read_index();
  index_mutex.unlock();
}

Task reply() {
  co_await pool.schedule();
  work_us(200);
}

Task handle() {
  co_await look_up();
  co_await reply();
}

Detached request() {
  co_await pool.schedule();
  co_await handle();
}

Detached rebuild() {
  co_await pool.schedule();
  co_await index_mutex.lock();
  rebuild_index();
  index_mutex.unlock();
}

/// As slow, and in nobody's way.
Detached maintain() {
  co_await pool.schedule();
  compact();
}

}  // namespace

int main() {
  for (int i = 1; i <= 400; ++i) {
    if (i % 25 == 0) {
      rebuild();
    }
    if (i % 25 == 12) {
      maintain();
    }
    request();
    work_us(4500);
  }
  work_us(100000);
  pool.close();
}
