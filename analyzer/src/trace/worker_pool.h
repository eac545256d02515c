// Work on all cores. What is worked on must not depend on who does it, so that results do not
// either.
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

/// Threads that stay, for work that comes in portions of a millisecond: to start one, or to wake it
/// on a core that has gone to sleep, takes a good part of that. So they look out for more for a
/// while, and nobody waits for one that has not begun yet.
class Crew {
 public:
  /// `wanted` of Options::threads; 0: one per core. The caller is one of them. Fewer where the
  /// system gives no more.
  explicit Crew(unsigned wanted) {
    const unsigned size = wanted != 0 ? wanted : std::max(1u, std::thread::hardware_concurrency());
    for (unsigned worker = 1; worker < size; ++worker) {
      auto helper = std::make_unique<Helper>();
      try {
        helper->thread = std::thread([this, &helper = *helper, worker] { help(helper, worker); });
      } catch (const std::system_error&) {
        break;
      }
      helpers_.push_back(std::move(helper));
    }
  }
  ~Crew() {
    for (const auto& helper : helpers_) {
      set(*helper, kLeave);
      helper->thread.join();
    }
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  unsigned size() const { return static_cast<unsigned>(helpers_.size()) + 1; }

  /// Calls work(i, worker) once for each i in [0, count), by up to size() workers numbered from 0.
  /// One call at a time.
  template <class Work>
  void each(size_t count, const Work& work) {
    std::atomic<size_t> next{0};
    job_ = [&](unsigned worker) {
      for (size_t i = next++; i < count; i = next++) {
        work(i, worker);
      }
    };
    const Called called(*this, std::min(count, helpers_.size() + 1));
    job_(0);
  }

 private:
  enum State : int { kIdle, kCalled, kWorking, kLeave };
  struct alignas(128) Helper {
    std::atomic<int> state{kIdle};
    std::thread thread;
  };
  static constexpr std::chrono::milliseconds kLookOut{2};

  /// While it lives, helpers work on the job.
  class Called {
   public:
    Called(Crew& crew, size_t workers) : crew_(crew), helpers_(workers == 0 ? 0 : workers - 1) {
      for (size_t i = 0; i < helpers_; ++i) {
        set(*crew_.helpers_[i], kCalled);
      }
    }
    ~Called() {
      for (size_t i = 0; i < helpers_; ++i) {
        std::atomic<int>& state = crew_.helpers_[i]->state;
        int called = kCalled;
        if (!state.compare_exchange_strong(called, kIdle)) {
          wait_while(state, kWorking);
        }
      }
    }
    Called(const Called&) = delete;
    Called& operator=(const Called&) = delete;

   private:
    Crew& crew_;
    size_t helpers_;
  };

  static void set(Helper& helper, State state) {
    helper.state = state;
    helper.state.notify_one();
  }

  static void wait_while(const std::atomic<int>& state, State value) {
    const auto until = std::chrono::steady_clock::now() + kLookOut;
    while (state == value) {
      if (std::chrono::steady_clock::now() < until) {
        std::this_thread::yield();
      } else {
        state.wait(value);
      }
    }
  }

  void help(Helper& helper, unsigned worker) {
    while (true) {
      wait_while(helper.state, kIdle);
      int called = kCalled;
      if (helper.state == kLeave) {
        return;
      }
      if (!helper.state.compare_exchange_strong(called, kWorking)) {
        continue;
      }
      job_(worker);
      set(helper, kIdle);
    }
  }

  std::function<void(unsigned)> job_;
  std::vector<std::unique_ptr<Helper>> helpers_;
};

}  // namespace vprof::analyzer
