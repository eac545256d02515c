// What does one record cost?
//
//   bench_record_cost [--calls N] [--rounds N] [--guard RATIO]
//
// Prints, for one thread and two, nanoseconds per call of
//   call      a trivial function that is not inlined: what everything below holds, too
//   off       the same with a function scope whose site is off
//   floor     the same with two clock readings and a 16-byte store to warm memory: what a record cannot be cheaper than
//   record    the same with a function scope that is on, into a real trace that is kept
// and the ratio (record - call) / (floor - call), which is the figure to quote; then an uncontended mutex, native and through libvprof.
// Rounds of the variants are interleaved and the median is taken, so that a change of the machine's speed hits all alike.
//
// The program runs itself again with VPROF_TRACE_DIR set to a fresh directory, and removes that at the end.
// --guard: exit code 1 if the ratio is above it.
#include <vprof/runtime/scope.h>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Arguments {
  uint64_t calls =
      2000000;  // of each variant in each round, by each thread: 10 rounds make 20 million records per thread
  int rounds = 10;
  double guard = 0;
};

constexpr unsigned kSiteOn = 1;
constexpr unsigned kSiteOff = 2;

#define NOT_INLINED __attribute__((noinline))

NOT_INLINED uint64_t plain(uint64_t x) {
  __asm__ __volatile__("");
  return x * 3 + 1;
}

NOT_INLINED uint64_t scope_off(uint64_t x) {
  VPROF_FUNCTION(2);
  __asm__ __volatile__("");
  return x * 3 + 1;
}

NOT_INLINED uint64_t scope_on(uint64_t x) {
  VPROF_FUNCTION(1);
  __asm__ __volatile__("");
  return x * 3 + 1;
}

constexpr size_t kWarmSlots = 1024;
thread_local vprof_u64 warm[2 * kWarmSlots];  // stays in the first-level cache
thread_local size_t warm_at;

NOT_INLINED uint64_t floor_call(uint64_t x) {
  const vprof_u64 start = vprof_ticks();
  __asm__ __volatile__("");
  const uint64_t result = x * 3 + 1;
  const vprof_u64 duration = vprof_ticks() - start;
  const size_t at = warm_at;
  vprof_store_slot(reinterpret_cast<vprof_address>(&warm[2 * at]), start, duration << 24 | 1);
  warm_at = (at + 1) % kWarmSlots;
  return result;
}

volatile uint64_t sink;

double ns_per_call(uint64_t calls, uint64_t (*function)(uint64_t)) {
  const auto start = std::chrono::steady_clock::now();
  uint64_t x = 1;
  for (uint64_t i = 0; i < calls; ++i) x = function(x);
  sink = x;
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  return took.count() / static_cast<double>(calls);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

struct Costs {
  double plain, off, floor, record;
};

Costs measure_one(const Arguments& arguments) {
  std::vector<double> plains, offs, floors, records;
  for (int round = 0; round < arguments.rounds; ++round) {
    plains.push_back(ns_per_call(arguments.calls, plain));
    offs.push_back(ns_per_call(arguments.calls, scope_off));
    floors.push_back(ns_per_call(arguments.calls, floor_call));
    records.push_back(ns_per_call(arguments.calls, scope_on));
  }
  return {median(plains), median(offs), median(floors), median(records)};
}

Costs measure(const Arguments& arguments, int threads) {
  std::vector<Costs> costs(static_cast<size_t>(threads));
  std::vector<std::thread> pool;
  pool.reserve(costs.size());
  for (Costs& cost : costs) pool.emplace_back([&] { cost = measure_one(arguments); });
  for (std::thread& thread : pool) thread.join();
  const auto mean = [&](double Costs::* field) {
    double sum = 0;
    for (const Costs& cost : costs) sum += cost.*field;
    return sum / static_cast<double>(costs.size());
  };
  return {mean(&Costs::plain), mean(&Costs::off), mean(&Costs::floor), mean(&Costs::record)};
}

double report(const Costs& c, int threads) {
  const double ratio = (c.record - c.plain) / (c.floor - c.plain);
  std::printf(
      "%d thread%s  call %6.2f ns   off +%5.2f ns   floor +%6.2f ns   record +%6.2f ns   ratio "
      "%.2f\n",
      threads, threads == 1 ? " " : "s", c.plain, c.off - c.plain, c.floor - c.plain,
      c.record - c.plain, ratio);
  return ratio;
}

using MutexFunction = int (*)(pthread_mutex_t*);

double ns_per_lock(uint64_t calls, MutexFunction lock, MutexFunction unlock) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t i = 0; i < calls; ++i) {
    lock(&mutex);
    unlock(&mutex);
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  return took.count() / static_cast<double>(calls);
}

void measure_mutex(const Arguments& arguments) {
  void* libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  if (libc == nullptr) return;
  const auto real_lock = reinterpret_cast<MutexFunction>(dlsym(libc, "pthread_mutex_lock"));
  const auto real_unlock = reinterpret_cast<MutexFunction>(dlsym(libc, "pthread_mutex_unlock"));
  std::vector<double> native, ours;
  for (int round = 0; round < arguments.rounds; ++round) {
    native.push_back(ns_per_lock(arguments.calls, real_lock, real_unlock));
    ours.push_back(ns_per_lock(arguments.calls, pthread_mutex_lock, pthread_mutex_unlock));
  }
  std::printf("uncontended mutex  native %.2f ns   through libvprof %.2f ns   ratio %.2f\n",
              median(native), median(ours), median(ours) / median(native));
}

int run(const Arguments& arguments) {
  vprof_rt_set_site(kSiteOn, 1);
  vprof_rt_set_site(kSiteOff, 0);
  const double one = report(measure(arguments, 1), 1);
  const double two = report(measure(arguments, 2), 2);
  measure_mutex(arguments);
  if (arguments.guard > 0 && std::max(one, two) > arguments.guard) {
    std::printf("the ratio is above %.2f\n", arguments.guard);
    return 1;
  }
  return 0;
}

bool parse(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--calls") == 0) {
      arguments.calls = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (std::strcmp(argv[i], "--rounds") == 0) {
      arguments.rounds = static_cast<int>(std::strtol(argv[i + 1], nullptr, 10));
    } else if (std::strcmp(argv[i], "--guard") == 0) {
      arguments.guard = std::strtod(argv[i + 1], nullptr);
    } else {
      return false;
    }
  }
  return argc % 2 == 1 && arguments.calls > 0 && arguments.rounds > 0;
}

// Sums up what the trace says about itself, so that figures with many stalls or drops are not taken at face value.
int run_with_trace(char** argv) {
  std::string directory = (std::filesystem::temp_directory_path() / "vprof-bench-XXXXXX").string();
  if (mkdtemp(directory.data()) == nullptr) return 2;
  const pid_t child = fork();
  if (child == 0) {
    setenv("VPROF_TRACE_DIR", directory.c_str(), 1);
    execv("/proc/self/exe", argv);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  uintmax_t bytes = 0;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(directory, error))
    bytes += file.file_size(error);
  std::printf("trace %.0f MB\n", static_cast<double>(bytes) / 1e6);
  std::filesystem::remove_all(directory, error);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    std::fprintf(stderr, "usage: bench_record_cost [--calls N] [--rounds N] [--guard RATIO]\n");
    return 2;
  }
  return std::getenv("VPROF_TRACE_DIR") == nullptr ? run_with_trace(argv) : run(arguments);
}
