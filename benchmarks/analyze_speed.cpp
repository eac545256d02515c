// Measures how fast a trace is analysed, and in how much memory.
//
//   bench_analyze_speed [--records N,N,...] [--threads N] [--dir DIR]
//                       [--guard-memory MB] [--guard-cpu NS]
//   bench_analyze_speed --records N --cpu-of ROUNDS    prints only the median processor time
//
// For each number of records: writes a synthetic trace of that size, reads the file once (the
// floor: no reader can be faster), then analyses it three times, each time in a new process and
// from a warm page cache. Prints the medians. --guard-*: exit code 1 above these limits.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "synthetic_trace.h"
#include "vprof/analyzer/analyzer.h"

namespace {

using vprof::analyzer::Options;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double read_through(const std::string& path) {
  const auto start = std::chrono::steady_clock::now();
  std::FILE* file = std::fopen(path.c_str(), "rb");
  std::vector<char> buffer(1 << 20);
  while (std::fread(buffer.data(), 1, buffer.size(), file) != 0) {
  }
  std::fclose(file);
  return seconds_since(start);
}

struct Measured {
  double seconds = 0;
  double cpu_seconds = 0;  // of all threads; a loaded machine disturbs it least
  double megabytes = 0;
};

Measured analyze_in_child(const std::string& directory, unsigned threads) {
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    Options options;
    options.threads = threads;
    const auto profile = vprof::analyzer::analyze(directory, directory + "/sites.json", options);
    ::_exit(profile && profile->losses.unknown_waits == 0 ? 0 : 1);
  }
  int status = 0;
  struct rusage usage{};
  ::wait4(child, &status, 0, &usage);
  if (status != 0) {
    std::fprintf(stderr, "the analysis failed\n");
    std::exit(1);
  }
  const auto cpu = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return {seconds_since(start), cpu(usage.ru_utime) + cpu(usage.ru_stime),
          static_cast<double>(usage.ru_maxrss) / 1024};
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<uint64_t> sizes = {1'000'000, 10'000'000, 100'000'000};
  unsigned threads = 0;
  std::string directory;
  double most_memory = 1e9;
  double most_cpu = 1e9;
  int cpu_rounds = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    char* value = argv[i + 1];
    if (option == "--records") {
      sizes.clear();
      for (char* part = std::strtok(value, ","); part != nullptr;
           part = std::strtok(nullptr, ",")) {
        sizes.push_back(std::strtoull(part, nullptr, 10));
      }
    }
    if (option == "--cpu-of") {
      cpu_rounds = std::atoi(value);
    }
    if (option == "--threads") {
      threads = static_cast<unsigned>(std::atoi(value));
    }
    if (option == "--dir") {
      directory = value;
    }
    if (option == "--guard-memory") {
      most_memory = std::atof(value);
    }
    if (option == "--guard-cpu") {
      most_cpu = std::atof(value);
    }
  }
  namespace fs = std::filesystem;
  const bool own = directory.empty();
  if (own) {
    directory = fs::temp_directory_path() / ("vprof-bench-" + std::to_string(::getpid()));
  }
  bool good = true;
  if (cpu_rounds == 0) {
    std::printf("%12s %9s %9s %12s %9s %13s %8s\n", "records", "read s", "analyse s", "M records/s",
                "ns/record", "CPU ns/record", "peak MB");
  }
  for (const uint64_t size : sizes) {
    const auto records = static_cast<double>(vprof::bench::write_trace(directory, size));
    const double floor = read_through(directory + "/1-0.vpt");
    std::vector<Measured> rounds;
    for (int i = 0; i < std::max(3, cpu_rounds); ++i) {
      rounds.push_back(analyze_in_child(directory, threads));
    }
    std::sort(rounds.begin(), rounds.end(),
              [](const Measured& a, const Measured& b) { return a.seconds < b.seconds; });
    const Measured& median = rounds[rounds.size() / 2];
    if (cpu_rounds != 0) {
      std::printf("%.3f\n", median.cpu_seconds);
      continue;
    }
    std::printf("%12.0f %9.2f %9.2f %12.1f %9.1f %13.1f %8.0f\n", records, floor, median.seconds,
                records / median.seconds / 1e6, median.seconds / records * 1e9,
                median.cpu_seconds / records * 1e9, median.megabytes);
    good =
        good && median.megabytes <= most_memory && median.cpu_seconds / records * 1e9 <= most_cpu;
  }
  std::error_code ignored;
  if (own) {
    fs::remove_all(directory, ignored);
  }
  return good ? 0 : 1;
}
