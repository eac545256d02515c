// Does an interval contain what libvprof does for itself?
//
//   bench_setup_cost [--requests N] [--guard RATIO]
//
// A server gives each request a process of its own, or a thread of its own, which works for 0.45 to
// 0.55 ms by the clock, as an interval. Beside the intervals, the request itself reads
// CLOCK_MONOTONIC just outside of them and sends both readings through a pipe; these are taken from
// runs without recording. Prints medians and standard deviations, and what a request costs its
// client in both runs, set-up included. Rounds are interleaved, and the median of the rounds
// counts. --guard: exit code 1 if the median or the deviation with recording is higher than
// without by more than this factor.
#include <sys/wait.h>

#include <cmath>
#include <cstring>
#include <thread>

#include "bench.h"
#include "vprof/analyzer/analyzer.h"

#define VPROF_ENABLED
#include <vprof/annotations.h>

using namespace vprof::bench;

namespace {

enum class Server { kProcess, kThread };

// What requests take lies between these, in ns, and is the same in every run. An interrupt now and
// then adds little to the deviation; set-up would add much.
constexpr double kLeastWork = 450e3;
constexpr double kMostWork = 550e3;

struct Reading {
  double took;
};

double work_of(uint64_t id) {
  const uint64_t mixed = id * 0x9E3779B97F4A7C15U;
  return kLeastWork + (kMostWork - kLeastWork) * static_cast<double>(mixed >> 40U) / 0x1p24;
}

// One request; reports how long it took by its own clock.
void serve(uint64_t id, int answers) {
  const double work = work_of(id);
  const double start = nanoseconds(CLOCK_MONOTONIC);
  vprof_begin(id);
  const double begun = nanoseconds(CLOCK_MONOTONIC);
  while (nanoseconds(CLOCK_MONOTONIC) - begun < work) {
  }
  vprof_end(id);
  const Reading reading{nanoseconds(CLOCK_MONOTONIC) - start};
  if (write(answers, &reading, sizeof reading) != sizeof reading) {
    _exit(1);
  }
}

// In the process that may be traced.
int run_server(Server kind, uint64_t requests, int answers) {
  for (uint64_t id = 1; id <= requests; ++id) {
    if (kind == Server::kThread) {
      std::thread(serve, id, answers).join();
      continue;
    }
    const pid_t child = fork();
    if (child == 0) {
      serve(id, answers);
      std::exit(0);
    }
    waitpid(child, nullptr, 0);
  }
  return 0;
}

struct Spread {
  double median, deviation, whole;  // ns; whole: the server's time per request
};

Spread spread_of(const std::vector<double>& values, double whole) {
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values) {
    squares += (value - middle) * (value - middle);
  }
  return {median(values), std::sqrt(squares / static_cast<double>(values.size())), whole};
}

// Runs the server with a trace in `directory`; empty: without. By the request's own clock.
Spread run(const char* program, const char* kind, uint64_t requests, const std::string& directory) {
  int answers[2];
  if (pipe(answers) != 0) {
    std::exit(2);
  }
  const double start = nanoseconds(CLOCK_MONOTONIC);
  const pid_t server = fork();
  if (server == 0) {
    close(answers[0]);
    directory.empty() ? unsetenv("VPROF_TRACE_DIR")
                      : setenv("VPROF_TRACE_DIR", directory.c_str(), 1);
    execl("/proc/self/exe", program, "--serve", kind, std::to_string(requests).c_str(),
          std::to_string(answers[1]).c_str(), nullptr);
    _exit(127);
  }
  close(answers[1]);
  std::vector<double> took;
  for (Reading reading{}; read(answers[0], &reading, sizeof reading) == sizeof reading;) {
    took.push_back(reading.took);
  }
  close(answers[0]);
  int status = 0;
  waitpid(server, &status, 0);
  if (status != 0 || took.size() != requests) {
    std::fprintf(stderr, "the server failed\n");
    std::exit(2);
  }
  return spread_of(took, (nanoseconds(CLOCK_MONOTONIC) - start) / static_cast<double>(requests));
}

Spread intervals_in(const std::string& directory, double whole) {
  std::FILE* sites = std::fopen((directory + "/sites.json").c_str(), "w");
  std::fputs(
      R"({"schema":1,"root_height":0,"functions":[],"sites":[],"intervals":[{"index":0,"name":"request"}],"sync":[]})",
      sites);
  std::fclose(sites);
  const auto profile = vprof::analyzer::analyze(directory, directory + "/sites.json", {});
  if (!profile) {
    std::fprintf(stderr, "%s\n", profile.error().message.c_str());
    std::exit(2);
  }
  return {profile->interval.p50_ns, profile->interval.stddev_ns, whole};
}

double median_of(const std::vector<Spread>& rounds, double Spread::* what) {
  std::vector<double> values;
  for (const Spread& round : rounds) {
    values.push_back(round.*what);
  }
  return median(values);
}

// The greater of the two ratios.
double compare(const char* program, const char* kind, uint64_t requests) {
  std::vector<Spread> without, with;
  for (int round = 0; round < 5; ++round) {
    without.push_back(run(program, kind, requests, ""));
    std::string directory =
        (std::filesystem::temp_directory_path() / "vprof-bench-XXXXXX").string();
    if (mkdtemp(directory.data()) == nullptr) {
      std::exit(2);
    }
    const Spread outside = run(program, kind, requests, directory);
    with.push_back(intervals_in(directory, outside.whole));
    std::filesystem::remove_all(directory);
  }
  const double median_ratio =
      median_of(with, &Spread::median) / median_of(without, &Spread::median);
  const double deviation_ratio =
      median_of(with, &Spread::deviation) / median_of(without, &Spread::deviation);
  std::printf(
      "a %s per request  median %.1f us, recorded %.1f us, ratio %.3f   deviation %.2f us, "
      "recorded %.2f us   server per request %.0f us, recorded %.0f us\n",
      kind, median_of(without, &Spread::median) / 1e3, median_of(with, &Spread::median) / 1e3,
      median_ratio, median_of(without, &Spread::deviation) / 1e3,
      median_of(with, &Spread::deviation) / 1e3, median_of(without, &Spread::whole) / 1e3,
      median_of(with, &Spread::whole) / 1e3);
  return std::max(median_ratio, deviation_ratio);
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t requests = 1000;
  double guard = 0;
  if (argc == 5 && std::strcmp(argv[1], "--serve") == 0) {
    const bool threads = std::strcmp(argv[2], "thread") == 0;
    return run_server(threads ? Server::kThread : Server::kProcess,
                      std::strtoull(argv[3], nullptr, 10), std::atoi(argv[4]));
  }
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--requests") == 0) {
      requests = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (std::strcmp(argv[i], "--guard") == 0) {
      guard = std::strtod(argv[i + 1], nullptr);
    }
  }
  const double worst =
      std::max(compare(argv[0], "process", requests), compare(argv[0], "thread", requests));
  return guard > 0 && worst > guard ? 1 : 0;
}
