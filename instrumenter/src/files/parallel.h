// Independent pieces of work on several threads. llvm::parallelFor would link LLVM into the
// rewriter, and bounds its threads only by a setting of the whole process.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace vprof::instrumenter {

/// Calls `work(i)` once for each i below `count`, on at most `jobs` threads (0: one per core).
/// Returns when all calls have returned.
template <typename Work>
void parallel_for(size_t count, unsigned jobs, const Work& work) {
  if (jobs == 0) {
    jobs = std::max(1U, std::thread::hardware_concurrency());
  }
  std::atomic<size_t> next{0};
  const auto loop = [&] {
    for (size_t i = next++; i < count; i = next++) {
      work(i);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::min<size_t>(jobs, count); ++i) {
    threads.emplace_back(loop);
  }
  loop();
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace vprof::instrumenter
