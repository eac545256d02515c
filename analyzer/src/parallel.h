// Work on all cores. What is worked on must not depend on who does it, so that results do not
// either.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace vprof::analyzer {

/// `wanted` of Options::threads; 0: one per core.
inline unsigned workers_of(unsigned wanted) {
  return wanted != 0 ? wanted : std::max(1u, std::thread::hardware_concurrency());
}

/// Calls work(i, worker) once for each i in [0, count), from up to `workers` threads numbered from
/// 0.
template <class Work>
void in_parallel(size_t count, unsigned workers, const Work& work) {
  std::atomic<size_t> next{0};
  const auto run = [&](unsigned worker) {
    for (size_t i = next++; i < count; i = next++) work(i, worker);
  };
  std::vector<std::thread> pool;
  const auto helpers = static_cast<unsigned>(std::min<size_t>(workers, count));
  for (unsigned worker = 1; worker < helpers; ++worker) pool.emplace_back(run, worker);
  run(0);
  for (std::thread& thread : pool) thread.join();
}

}  // namespace vprof::analyzer
