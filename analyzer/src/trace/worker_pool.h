// Work on all cores. Work items must not depend on the worker that does them, so that results do
// not depend on the number of workers.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace vprof::analyzer {

/// Threads for work that comes in portions of about a millisecond. Starting a thread, or waking one
/// on a sleeping core, costs a good part of that. So workers stay, spin briefly for more work
/// before they sleep, and a portion never waits for a worker that has not started on it.
class WorkerPool {
 public:
  /// `wanted` is Options::threads; 0 means one worker per core. The caller is one of them. The pool
  /// is smaller if the system refuses threads.
  explicit WorkerPool(unsigned wanted) {
    const unsigned size = wanted != 0 ? wanted : std::max(1u, std::thread::hardware_concurrency());
    for (unsigned number = 1; number < size; ++number) {
      auto worker = std::make_unique<Worker>();
      try {
        worker->thread = std::thread([this, &worker = *worker, number] { serve(worker, number); });
      } catch (const std::system_error&) {
        break;
      }
      workers_.push_back(std::move(worker));
    }
  }
  ~WorkerPool() {
    for (const auto& worker : workers_) {
      set(*worker, kStopping);
      worker->thread.join();
    }
  }
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  unsigned size() const { return static_cast<unsigned>(workers_.size()) + 1; }

  /// Calls work(i, worker) once for each i in [0, count), on up to size() workers, numbered from 0.
  /// One call at a time.
  template <class Work>
  void each(size_t count, const Work& work) {
    std::atomic<size_t> next{0};
    job_ = [&](unsigned worker) {
      for (size_t i = next++; i < count; i = next++) {
        work(i, worker);
      }
    };
    const Summons summons(*this, std::min(count, workers_.size() + 1));
    job_(0);
  }

 private:
  enum State : int { kIdle, kSummoned, kWorking, kStopping };
  struct alignas(128) Worker {
    std::atomic<int> state{kIdle};
    std::thread thread;
  };
  static constexpr std::chrono::milliseconds kSpinTime{2};

  /// While it lives, workers work on the job. Its destructor dismisses those that have not started,
  /// and waits for the others.
  class Summons {
   public:
    Summons(WorkerPool& pool, size_t workers)
        : pool_(pool), count_(workers == 0 ? 0 : workers - 1) {
      for (size_t i = 0; i < count_; ++i) {
        set(*pool_.workers_[i], kSummoned);
      }
    }
    ~Summons() {
      for (size_t i = 0; i < count_; ++i) {
        std::atomic<int>& state = pool_.workers_[i]->state;
        int summoned = kSummoned;
        if (!state.compare_exchange_strong(summoned, kIdle)) {
          wait_while(state, kWorking);
        }
      }
    }
    Summons(const Summons&) = delete;
    Summons& operator=(const Summons&) = delete;

   private:
    WorkerPool& pool_;
    size_t count_;
  };

  static void set(Worker& worker, State state) {
    worker.state = state;
    worker.state.notify_one();
  }

  static void wait_while(const std::atomic<int>& state, State value) {
    const auto until = std::chrono::steady_clock::now() + kSpinTime;
    while (state == value) {
      if (std::chrono::steady_clock::now() < until) {
        std::this_thread::yield();
      } else {
        state.wait(value);
      }
    }
  }

  void serve(Worker& worker, unsigned number) {
    while (true) {
      wait_while(worker.state, kIdle);
      int summoned = kSummoned;
      if (worker.state == kStopping) {
        return;
      }
      if (!worker.state.compare_exchange_strong(summoned, kWorking)) {
        continue;
      }
      job_(number);
      set(worker, kIdle);
    }
  }

  std::function<void(unsigned)> job_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace vprof::analyzer
