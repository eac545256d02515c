// Measures what one record costs.
//
//   bench_record_cost [--calls N] [--rounds N] [--guard RATIO] [--requests N]
//
// Prints, for one thread and for two, nanoseconds per call of
//
//   call      a trivial function that is not inlined; the others include it
//   off       the same with a function scope whose site is off
//   floor     the same with two readings of the time-stamp counter and a 16-byte store to warm
//             memory: no record can be cheaper
//   record    the same with a function scope that is on, into a real trace that is kept
//
// and the ratio (record - call) / (floor - call), which is the figure to quote. It is a ratio of
// means over all rounds, so it includes page faults, new chunks and the helper thread. All threads
// run the same variant at the same time. By default, each thread makes 100 million records. The
// next line has the same figures in processor time of the threads, which other programs disturb
// less, and the helper thread's time per record. The last line is about 10 million records that are
// timed one by one: page faults, waits, and the distribution of the cost.
//
// The benchmark then serves requests of many_sites.h, whose sites do not fit into the first-level
// instruction cache, in C and in C++, and prints for each form of a site, to the same program
// without sites
//
//   off       nanoseconds per site that is passed, with all sites off
//   1 in 16   the same with one site in sixteen on
//   on        the same with all sites on
//
// and what one hot site costs that is on, in the form in line and in the cold one.
//
// The program runs itself again with VPROF_TRACE_DIR set to a new directory, which it deletes at
// the end. --guard: exit code 1 if a ratio in processor time is higher.
// --requests: how many each program with many sites serves in a round (20000).
#include <vprof/runtime/scope.h>

#include <sys/resource.h>

#include <array>
#include <barrier>
#include <cstring>
#include <thread>

#include "bench.h"

// many_sites.h, compiled in each form.
#define PROGRAM(name)                                  \
  extern "C" uint64_t name##_serve(uint64_t requests); \
  extern "C" uint64_t name##_hot(uint64_t x);
PROGRAM(many_c_plain)
PROGRAM(many_c_inline)
PROGRAM(many_c_cold)
PROGRAM(many_c_twin)
PROGRAM(many_c_plain_pic)
PROGRAM(many_c_cold_pic)
PROGRAM(many_cpp_plain)
PROGRAM(many_cpp_inline)
PROGRAM(many_cpp_cold)
PROGRAM(many_cpp_plain_pic)
PROGRAM(many_cpp_cold_pic)

extern "C" void many_sites_fail(uint64_t x) {
  std::printf("%ju\n", static_cast<uintmax_t>(x));
  throw 0;
}

using namespace vprof::bench;

namespace {

struct Arguments {
  uint64_t calls = 2000000;  // of each variant in each round, by each thread
  int rounds = 50;
  double guard = 0;
  uint64_t requests = 20000;  // of each program with many sites, in each round
};

constexpr unsigned kSiteOn = 1;
constexpr unsigned kSiteOff = 2;

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

uint64_t counter() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return vprof_ticks();
#endif
}

constexpr size_t kWarmSlots = 1024;
thread_local vprof_u64 warm[2 * kWarmSlots];  // stays in the first-level cache
thread_local size_t warm_at;

NOT_INLINED uint64_t floor_call(uint64_t x) {
  const uint64_t start = counter();
  __asm__ __volatile__("");
  const uint64_t result = x * 3 + 1;
  const uint64_t duration = counter() - start;
  const size_t at = warm_at;
  vprof_store_slot(reinterpret_cast<vprof_address>(&warm[2 * at]), start, duration << 24 | 1);
  warm_at = (at + 1) % kWarmSlots;
  return result;
}

volatile uint64_t sink;

void repeat(uint64_t calls, uint64_t (*function)(uint64_t)) {
  uint64_t x = 1;
  for (uint64_t i = 0; i < calls; ++i) {
    x = function(x);
  }
  sink = x;
}

enum Variant { kPlain, kOff, kFloor, kRecord, kVariants };
uint64_t (*const functions[kVariants])(uint64_t) = {plain, scope_off, floor_call, scope_on};

struct Series {  // ns per call, one value per round
  std::vector<double> wall[kVariants], cpu[kVariants];
  void add(const Series& other) {
    for (int v = 0; v < kVariants; ++v) {
      wall[v].insert(wall[v].end(), other.wall[v].begin(), other.wall[v].end());
      cpu[v].insert(cpu[v].end(), other.cpu[v].begin(), other.cpu[v].end());
    }
  }
};

Series measure_thread(const Arguments& arguments, std::barrier<>& together) {
  Series series;
  const auto calls = static_cast<double>(arguments.calls);
  for (int round = 0; round < arguments.rounds; ++round) {
    for (int v = 0; v < kVariants; ++v) {
      together.arrive_and_wait();
      const double wall = nanoseconds(CLOCK_MONOTONIC);
      const double cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
      repeat(arguments.calls, functions[v]);
      series.cpu[v].push_back((nanoseconds(CLOCK_THREAD_CPUTIME_ID) - cpu) / calls);
      series.wall[v].push_back((nanoseconds(CLOCK_MONOTONIC) - wall) / calls);
    }
  }
  return series;
}

double ratio_of(const std::vector<double> (&values)[kVariants]) {
  const double call = mean(values[kPlain]);
  return (mean(values[kRecord]) - call) / (mean(values[kFloor]) - call);
}

double report(const Arguments& arguments, int threads) {
  std::vector<Series> all(static_cast<size_t>(threads));
  std::barrier<> together(threads);
  const double process_before = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
  {
    std::vector<std::jthread> pool;
    pool.reserve(all.size());
    for (Series& series : all) {
      pool.emplace_back([&] { series = measure_thread(arguments, together); });
    }
  }
  double process = nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - process_before;
  Series series;
  for (const Series& one : all) {
    series.add(one);
  }
  const auto calls = static_cast<double>(arguments.calls);
  for (const auto& values : series.cpu) {
    process -= mean(values) * calls * static_cast<double>(values.size());
  }
  const double records = calls * arguments.rounds * threads;
  const auto print = [&](const char* clock, const std::vector<double>(&values)[kVariants]) {
    const double call = mean(values[kPlain]);
    std::printf(
        "%d thread%-2s%s  call %5.2f ns   off +%5.2f ns   floor +%6.2f ns   record +%6.2f ns   "
        "ratio %.2f",
        threads, threads == 1 ? "" : "s", clock, call,
        median(values[kOff]) - median(values[kPlain]), mean(values[kFloor]) - call,
        mean(values[kRecord]) - call, ratio_of(values));
  };
  print("elapsed  ", series.wall);
  std::printf("\n");
  print("processor", series.cpu);
  std::printf("   helper %.2f ns\n", process / records);
  return ratio_of(series.cpu);
}

// The cost of each of 10 million records, and what the kernel did meanwhile. 3 million records
// before them bring the chunks to their full size.
double report_steady_state() {
  constexpr uint64_t kRecords = 10000000, kBuckets = 1 << 16;
  std::vector<uint32_t> histogram(kBuckets);
  repeat(3000000, scope_on);
  rusage before{}, after{};
  getrusage(RUSAGE_THREAD, &before);
  uint64_t x = 1;
  for (uint64_t i = 0; i < kRecords; ++i) {
    const uint64_t start = counter();
    x = scope_on(x);
    ++histogram[std::min(counter() - start, kBuckets - 1)];
  }
  sink = x;
  getrusage(RUSAGE_THREAD, &after);
  const auto quantile = [&](double q) {
    uint64_t left = static_cast<uint64_t>(q * static_cast<double>(kRecords));
    size_t at = 0;
    while (at + 1 < kBuckets && left >= histogram[at]) {
      left -= histogram[at++];
    }
    return static_cast<double>(at);
  };
  const double tail = quantile(0.9999) / quantile(0.5);
  std::printf(
      "steady state, 10 million records: page faults %ld, voluntary waits %ld; cost in ticks p50 "
      "%.0f  p99 %.0f  p99.99 %.0f, "
      "which is %.1f x p50\n",
      after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt,
      after.ru_nvcsw - before.ru_nvcsw, quantile(0.5), quantile(0.99), quantile(0.9999), tail);
  return tail;
}

// ---- many sites

struct Program {
  const char* name;
  uint64_t (*serve)(uint64_t);
  uint64_t (*hot)(uint64_t);
  size_t plain;  // the same program without sites
};
constexpr Program kPrograms[] = {
    {"C, no sites", many_c_plain_serve, many_c_plain_hot, 0},
    {"C, in line", many_c_inline_serve, many_c_inline_hot, 0},
    {"C, cold", many_c_cold_serve, many_c_cold_hot, 0},
    {"C, in twins", many_c_twin_serve, many_c_twin_hot, 0},
    {"C++, no sites", many_cpp_plain_serve, many_cpp_plain_hot, 4},
    {"C++, in line", many_cpp_inline_serve, many_cpp_inline_hot, 4},
    {"C++, cold", many_cpp_cold_serve, many_cpp_cold_hot, 4},
    {"C, -fPIC, no sites", many_c_plain_pic_serve, many_c_plain_pic_hot, 7},
    {"C, -fPIC, cold", many_c_cold_pic_serve, many_c_cold_pic_hot, 7},
    {"C++, -fPIC, no sites", many_cpp_plain_pic_serve, many_cpp_plain_pic_hot, 9},
    {"C++, -fPIC, cold", many_cpp_cold_pic_serve, many_cpp_cold_pic_hot, 9},
};
constexpr size_t kProgramCount = std::size(kPrograms);
constexpr double kSitesOfARequest = 48;
constexpr unsigned kFirstSite = 10000, kLastSite = 29999;  // numbers of the sites of many_sites.h

using PerProgram = std::array<std::vector<double>, kProgramCount>;  // ns, one value per round

// Programs in turn, so that a change of the machine meets all of them.
template <class Run>
PerProgram measure_programs(int rounds, const Run& run) {
  PerProgram values;
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < kProgramCount; ++i) {
      const double before = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
      run(kPrograms[i]);
      values[i].push_back(nanoseconds(CLOCK_THREAD_CPUTIME_ID) - before);
    }
  }
  return values;
}

// What each program takes beyond the one without sites: the median of the differences of a round.
double beyond_plain(const PerProgram& values, size_t program) {
  std::vector<double> differences;
  differences.reserve(values[program].size());
  for (size_t round = 0; round < values[program].size(); ++round) {
    differences.push_back(values[program][round] - values[kPrograms[program].plain][round]);
  }
  return median(std::move(differences));
}

PerProgram serve_with_sites(const Arguments& arguments, unsigned one_in) {
  for (unsigned id = kFirstSite; id <= kLastSite; ++id) {
    vprof_rt_set_site(id, one_in != 0 && (id * 2654435761U >> 8) % one_in == 0 ? 1 : 0);
  }
  return measure_programs(
      arguments.rounds, [&](const Program& program) { sink = program.serve(arguments.requests); });
}

void report_many_sites(const Arguments& arguments) {
  const PerProgram off = serve_with_sites(arguments, 0);
  const PerProgram some = serve_with_sites(arguments, 16);
  const PerProgram all = serve_with_sites(arguments, 1);
  const uint64_t hot_calls = arguments.calls / 4 + 1;
  const PerProgram hot = measure_programs(
      arguments.rounds, [&](const Program& program) { repeat(hot_calls, program.hot); });
  const double sites = kSitesOfARequest * static_cast<double>(arguments.requests);
  for (size_t i = 0; i < kProgramCount; ++i) {
    if (kPrograms[i].plain == i) {
      continue;
    }
    std::vector<double> ratios;
    ratios.reserve(off[i].size());
    for (int round = 0; round < arguments.rounds; ++round) {
      const auto at = static_cast<size_t>(round);
      ratios.push_back(off[i][at] / off[kPrograms[i].plain][at]);
    }
    std::printf(
        "many sites, %-16s off +%5.2f ns a site, %.3f x the program without   1 in 16 +%5.2f ns   "
        "on +%6.2f ns   one hot site on +%6.2f ns\n",
        kPrograms[i].name, beyond_plain(off, i) / sites, median(ratios),
        beyond_plain(some, i) / sites, beyond_plain(all, i) / sites,
        beyond_plain(hot, i) / static_cast<double>(hot_calls));
  }
}

int run(const Arguments& arguments) {
  vprof_rt_set_site(kSiteOn, 1);
  vprof_rt_set_site(kSiteOff, 0);
  const double one = report(arguments, 1);
  const double two = report(arguments, 2);
  report_steady_state();
  report_many_sites(arguments);
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
    } else if (std::strcmp(argv[i], "--requests") == 0) {
      arguments.requests = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (std::strcmp(argv[i], "--guard") == 0) {
      arguments.guard = std::strtod(argv[i + 1], nullptr);
    } else {
      return false;
    }
  }
  return argc % 2 == 1 && arguments.calls > 0 && arguments.rounds > 0 && arguments.requests > 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    std::fprintf(stderr,
                 "usage: bench_record_cost [--calls N] [--rounds N] [--guard RATIO] "
                 "[--requests N]\n");
    return 2;
  }
  return std::getenv("VPROF_TRACE_DIR") == nullptr ? run_with_trace(argv) : run(arguments);
}
