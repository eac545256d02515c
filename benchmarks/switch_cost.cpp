// How fast are sites switched in a live run?
//
//   bench_switch_cost [--processes N] [--sites N] [--rounds N] [--guard MS]
//
// The driver stores the bytes of its sites (1,000) in the control file; the processes (100) look at
// them all the time. Prints
//
//   store    what the stores take; floor: the same stores to memory of its own
//   stale    how long after the last store a process still began to look at a site that it then
//            found as it was before, the longest of all processes. When a process next runs is the
//            kernel's business, and no part of this
//
// --guard: exit code 1 if the median of `stale` is longer.
#include <sys/mman.h>
#include <sys/wait.h>
#include <vprof/runtime/record.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include "../tests/runtime/control_file.h"
#include "bench.h"

using namespace vprof::bench;
using vprof::test::ControlFile;

namespace {

constexpr int kMostProcesses = 1000;

struct Shared {
  std::atomic<unsigned> round;  // sites are to be on in odd rounds
  std::atomic<int> ready;       // processes that have seen that of the round
  std::atomic<double> last_old[kMostProcesses];
};

unsigned g_sites = 1000;

// Looks until all sites are as the round says. The clock is read without a system call, before each
// look.
void follow(Shared& shared, std::atomic<double>& last_old, unsigned round) {
  const bool on = round % 2 != 0;
  double looked = 0;
  for (unsigned site = 1; site <= g_sites;) {
    looked = nanoseconds(CLOCK_MONOTONIC);
    if (vprof_is_on(site) == on) {
      ++site;
    } else {
      last_old = looked;
    }
  }
  ++shared.ready;
}

[[noreturn]] void be_process(Shared& shared, int number, unsigned rounds) {
  for (unsigned round = 1; round <= rounds; ++round) {
    follow(shared, shared.last_old[number], round);
    while (shared.round.load() == round && round < rounds) {
      usleep(100);
    }
  }
  _exit(0);
}

double store(const ControlFile& driver, bool on) {
  const double before = nanoseconds(CLOCK_MONOTONIC);
  for (unsigned site = 1; site <= g_sites; ++site) {
    driver.set(site, on);
  }
  return nanoseconds(CLOCK_MONOTONIC) - before;
}

double store_own(std::vector<unsigned char>& memory, bool on) {
  const double before = nanoseconds(CLOCK_MONOTONIC);
  for (unsigned site = 1; site <= g_sites; ++site) {
    __atomic_store_n(&memory[site], on ? 1 : 0, __ATOMIC_RELAXED);
  }
  return nanoseconds(CLOCK_MONOTONIC) - before;
}

struct Figures {
  std::vector<double> stores, floors, stale;
};

Figures measure(const ControlFile& driver, int processes, unsigned rounds) {
  auto& shared = *static_cast<Shared*>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  shared.round = 1;
  for (int i = 0; i < processes; ++i) {
    if (fork() == 0) {
      be_process(shared, i, rounds);
    }
  }
  Figures figures;
  std::vector<unsigned char> own(g_sites + 1);
  for (unsigned round = 1; round <= rounds; ++round) {
    usleep(20000);  // most processes have looked
    figures.floors.push_back(store_own(own, round % 2 != 0));
    figures.stores.push_back(store(driver, round % 2 != 0));
    const double stored = nanoseconds(CLOCK_MONOTONIC);
    while (shared.ready.load() != processes) {
      usleep(100);
    }
    double last = stored;
    for (int i = 0; i < processes; ++i) {
      last = std::max(last, shared.last_old[i].load());
    }
    figures.stale.push_back(last - stored);
    shared.ready = 0;
    shared.round = round + 1;
  }
  while (wait(nullptr) > 0) {
  }
  return figures;
}

int run_again_live(char** argv) {
  std::string directory = (std::filesystem::temp_directory_path() / "vprof-bench-XXXXXX").string();
  if (mkdtemp(directory.data()) == nullptr) {
    return 2;
  }
  const ControlFile driver = ControlFile::make(directory);
  const pid_t child = fork();
  if (child == 0) {
    setenv("VPROF_TRACE_DIR", directory.c_str(), 1);
    execv("/proc/self/exe", argv);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::filesystem::remove_all(directory);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

int main(int argc, char** argv) {
  int processes = 100;
  unsigned rounds = 5;
  double guard_ms = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--processes") == 0) {
      processes = std::clamp(std::atoi(argv[i + 1]), 1, kMostProcesses);
    } else if (std::strcmp(argv[i], "--sites") == 0) {
      g_sites = static_cast<unsigned>(std::clamp(std::atoi(argv[i + 1]), 1, VPROF_RT_SITES - 1));
    } else if (std::strcmp(argv[i], "--rounds") == 0) {
      rounds = static_cast<unsigned>(std::max(std::atoi(argv[i + 1]), 1));
    } else if (std::strcmp(argv[i], "--guard") == 0) {
      guard_ms = std::atof(argv[i + 1]);
    }
  }
  if (std::getenv("VPROF_TRACE_DIR") == nullptr) {
    return run_again_live(argv);
  }
  const Figures figures =
      measure(ControlFile::existing(std::getenv("VPROF_TRACE_DIR")), processes, rounds);
  const double stale_ms = median(figures.stale) / 1e6;
  std::printf(
      "%u sites, %d processes: store %.1f us, floor %.1f us, ratio %.2f; stale %.4f ms, "
      "longest %.4f ms\n",
      g_sites, processes, median(figures.stores) / 1e3, median(figures.floors) / 1e3,
      median(figures.stores) / median(figures.floors), stale_ms,
      *std::max_element(figures.stale.begin(), figures.stale.end()) / 1e6);
  return guard_ms > 0 && stale_ms > guard_ms ? 1 : 0;
}
