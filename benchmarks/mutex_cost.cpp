// Measures what a mutex costs through libvprof.
//
//   bench_mutex_cost [--guard RATIO]
//
// Uncontended: nanoseconds per lock and unlock, native (libc's functions, called by pointer) and
// through libvprof, of a plain mutex and of a recursive one. Contended: locks per second of two
// threads that work 200 ns with the lock and as long without it. Rounds of both alternate. Prints
// the medians. --guard: exit code 1 if the uncontended ratio of the plain mutex is higher.
#include <dlfcn.h>
#include <pthread.h>

#include <cstring>
#include <thread>

#include "bench.h"

using namespace vprof::bench;

namespace {

using Function = int (*)(pthread_mutex_t*);
struct Functions {
  Function lock, unlock;
};

const pthread_mutex_t kPlain = PTHREAD_MUTEX_INITIALIZER;
const pthread_mutex_t kRecursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

double ns_per_lock(Functions functions, const pthread_mutex_t& kind) {
  constexpr uint64_t kCalls = 2000000;
  pthread_mutex_t mutex = kind;
  const double start = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  for (uint64_t i = 0; i < kCalls; ++i) {
    functions.lock(&mutex);
    functions.unlock(&mutex);
  }
  return (nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start) / static_cast<double>(kCalls);
}

void work() {
  for (int i = 0; i < 200; ++i) {
    __asm__ __volatile__("");
  }
}

// Million locks per second of both threads together.
double contended(Functions functions) {
  constexpr uint64_t kCalls = 400000;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const auto run = [&] {
    for (uint64_t i = 0; i < kCalls; ++i) {
      functions.lock(&mutex);
      work();
      functions.unlock(&mutex);
      work();
    }
  };
  const double start = nanoseconds(CLOCK_MONOTONIC);
  std::thread a(run), b(run);
  a.join();
  b.join();
  return 2.0 * static_cast<double>(kCalls) / (nanoseconds(CLOCK_MONOTONIC) - start) * 1e3;
}

int run(double guard) {
  void* libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  if (libc == nullptr) {
    return 2;
  }
  const Functions native{reinterpret_cast<Function>(dlsym(libc, "pthread_mutex_lock")),
                         reinterpret_cast<Function>(dlsym(libc, "pthread_mutex_unlock"))};
  const Functions ours{reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "pthread_mutex_lock")),
                       reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "pthread_mutex_unlock"))};
  std::vector<double> free_native, free_ours, again_native, again_ours, busy_native, busy_ours;
  for (int round = 0; round < 15; ++round) {
    free_native.push_back(ns_per_lock(native, kPlain));
    free_ours.push_back(ns_per_lock(ours, kPlain));
    again_native.push_back(ns_per_lock(native, kRecursive));
    again_ours.push_back(ns_per_lock(ours, kRecursive));
    busy_native.push_back(contended(native));
    busy_ours.push_back(contended(ours));
  }
  const double ratio = median(free_ours) / median(free_native);
  std::printf(
      "uncontended lock and unlock  native %.2f ns   through libvprof %.2f ns   ratio %.2f\n",
      median(free_native), median(free_ours), ratio);
  std::printf(
      "the same, recursive mutex    native %.2f ns   through libvprof %.2f ns   ratio %.2f\n",
      median(again_native), median(again_ours), median(again_ours) / median(again_native));
  std::printf("contended, 2 threads  native %.2f M/s   through libvprof %.2f M/s   ratio %.2f\n",
              median(busy_native), median(busy_ours), median(busy_ours) / median(busy_native));
  return guard > 0 && ratio > guard ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  double guard = 0;
  if (argc == 3 && std::strcmp(argv[1], "--guard") == 0) {
    guard = std::strtod(argv[2], nullptr);
  } else if (argc != 1) {
    std::fprintf(stderr, "usage: bench_mutex_cost [--guard RATIO]\n");
    return 2;
  }
  return std::getenv("VPROF_TRACE_DIR") == nullptr ? run_with_trace(argv) : run(guard);
}
