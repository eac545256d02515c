// One call, measured from outside, for compare.sh, which compiles it without tracing, with a
// VProfiler scope (-DWITH_VPROF), for XRay and for uftrace. Prints nanoseconds of the thread's
// processor time per call: the median of 9 batches. Argument "floor": instead of tracing, reads the
// time stamp counter twice and stores 16 bytes to warm memory.
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>
#ifdef WITH_VPROF
#include <vprof/runtime/scope.h>
#define SCOPE VPROF_FUNCTION(1)
#else
#define SCOPE ((void)0)
#endif

#ifdef WITH_XRAY
#include <xray/xray_interface.h>
#include <xray/xray_log_interface.h>
#endif

#define NOT_TRACED __attribute__((no_instrument_function))
#if defined(__clang__)
#define MEASURED __attribute__((noinline, xray_always_instrument))
#define NEVER __attribute__((noinline, xray_never_instrument)) NOT_TRACED
#else
#define MEASURED __attribute__((noinline))
#define NEVER __attribute__((noinline)) NOT_TRACED
#endif

namespace {

MEASURED uint64_t call(uint64_t x) {
  SCOPE;
  __asm__ __volatile__("");
  return x * 3 + 1;
}

constexpr size_t kSlots = 1024;
uint64_t warm[2 * kSlots];

NEVER uint64_t floor_call(uint64_t x) {
  static size_t at;
#if defined(__x86_64__)
  const uint64_t start = __builtin_ia32_rdtsc();
  __asm__ __volatile__("");
  const uint64_t result = x * 3 + 1;
  volatile uint64_t* slot = &warm[2 * at];
  slot[0] = start;
  slot[1] = (__builtin_ia32_rdtsc() - start) << 24 | 1;
#else
  const uint64_t result = x * 3 + 1;
#endif
  at = (at + 1) % kSlots;
  return result;
}

volatile uint64_t sink;

NEVER double batch(uint64_t calls, bool is_floor) {
  timespec before{}, after{};
  uint64_t x = 1;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
  if (is_floor) {
    for (uint64_t i = 0; i < calls; ++i) {
      x = floor_call(x);
    }
  } else {
    for (uint64_t i = 0; i < calls; ++i) {
      x = call(x);
    }
  }
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
  sink = x;
  const double ns = static_cast<double>(after.tv_sec - before.tv_sec) * 1e9 +
                    static_cast<double>(after.tv_nsec - before.tv_nsec);
  return ns / static_cast<double>(calls);
}

}  // namespace

NEVER int main(int argc, char**) {
#ifdef WITH_XRAY
  if (__xray_log_select_mode("xray-fdr") != XRAY_REGISTRATION_OK ||
      __xray_log_init_mode("xray-fdr",
                           "buffer_size=16384:buffer_max=16384:func_duration_threshold_us=0:"
                           "grace_period_ms=10") != XRAY_LOG_INITIALIZED ||
      __xray_patch() != SUCCESS) {
    return 1;
  }
#endif
  std::vector<double> batches;
  for (int i = 0; i < 9; ++i) {
    batches.push_back(batch(400000, argc > 1));
  }
  std::sort(batches.begin(), batches.end());
  std::printf("%.2f\n", batches[4]);
#ifdef WITH_XRAY  // its flight data recorder writes only when told to
  __xray_log_finalize();
  __xray_log_flushLog();
#endif
  return 0;
}
