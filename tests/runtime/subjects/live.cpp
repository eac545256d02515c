// Live runs. These subjects are their own drivers.
#include <vprof/runtime/scope.h>

#define VPROF_ENABLED
#include <vprof/annotations.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <vector>

#include "../control_file.h"
#include "subject.h"

using namespace vprof::test;

static ControlFile control() { return ControlFile::existing(std::getenv("VPROF_TRACE_DIR")); }

SUBJECT(live_sites) {
  outer(3);
  return 0;
}

SUBJECT(live_switches) {
  const ControlFile driver = control();
  leaves(10);
  driver.set(1, true);
  leaves(20);
  driver.set(1, false);
  leaves(5);
  return 0;
}

SUBJECT(live_executes_another) {
  control().set(1, true);
  leaves(7);
  execl("/proc/self/exe", "subject", "live_sites", nullptr);
  return 99;
}

SUBJECT(live_executes_test_program) {
  execl(std::getenv("VPROF_TEST_PROGRAM"), "subject", "live_sites", nullptr);
  return 99;
}

// The driver dies while this program runs.
SUBJECT(live_driver_dies) {
  const ControlFile driver = control();
  driver.set(1, true);
  leaves(10);
  driver.die();
  until([&] { return !driver.is_on(1); });
  leaves(5);
  until_released();
  return 0;
}

// The disk of the trace directory is full by then.
SUBJECT(live_driver_dies_on_full_disk) {
  const ControlFile driver = control();
  driver.set(1, true);
  leaf();
  const int rest = open("rest", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const std::vector<char> bytes(1 << 16);
  while (write(rest, bytes.data(), bytes.size()) > 0) {
  }
  close(rest);
  leaves(100000);
  driver.die();
  until([&] { return !driver.is_on(1); });
  return 0;
}

// The loop does not end before the process has been stopped from recording more.
SUBJECT(live_records_too_much) {
  const ControlFile driver = control();
  __atomic_store_n(&driver.header().most_records_per_second, 1, __ATOMIC_RELAXED);
  driver.set(1, true);
  uint64_t frames = 0;
  // Counted after the sites are off, by a thread that the end of the process would stop.
  while (__atomic_load_n(&driver.header().switched_off, __ATOMIC_ACQUIRE) == 0) {
    leaves(100);
    frames += 100;
  }
  tell("frames", frames);
  return 0;
}

SUBJECT(live_loads_an_object) {
  const ControlFile driver = control();
  driver.set(70, true);
  driver.set(71, true);
  void* object = dlopen(VPROF_TEST_PLUGIN, RTLD_NOW);
  if (object == nullptr) {
    return 99;
  }
  const auto work = reinterpret_cast<void (*)(int)>(dlsym(object, "plugin_work"));
  work(5);
  driver.set(71, false);
  work(5);
  dlclose(object);
  // It comes back, perhaps at another place.
  driver.set(70, false);
  driver.set(71, true);
  object = dlopen(VPROF_TEST_PLUGIN, RTLD_NOW);
  reinterpret_cast<void (*)(int)>(dlsym(object, "plugin_work"))(4);
  dlclose(object);
  tell("frames", 6 + 1 + 4);
  return 0;
}

// ---- many processes

static constexpr int kProcesses = 100;
static constexpr unsigned kFirstSite = 5000, kSites = 1000;

namespace {

struct Shared {
  std::atomic<int> waiting;
  std::atomic<int> seen;
};

bool all_on() {
  for (unsigned site = kFirstSite; site < kFirstSite + kSites; ++site) {
    if (!vprof_is_on(site)) {
      return false;
    }
  }
  return true;
}

[[noreturn]] void wait_for_sites(Shared& shared) {
  ++shared.waiting;
  until([] { return all_on() && vprof_is_on(1); });
  ++shared.seen;
  leaves(3);
  std::exit(0);
}

}  // namespace

// 100 processes that were forked before the sites are switched on, and as many after that.
SUBJECT(live_forks) {
  const ControlFile driver = control();
  auto& shared = *static_cast<Shared*>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (int i = 0; i < kProcesses; ++i) {
    if (fork() == 0) {
      wait_for_sites(shared);
    }
  }
  until([&] { return shared.waiting == kProcesses; });
  const int too_early = shared.seen;
  for (unsigned site = kFirstSite; site < kFirstSite + kSites; ++site) {
    driver.set(site, true);
  }
  driver.set(1, true);
  for (int i = 0; i < kProcesses; ++i) {
    if (fork() == 0) {
      wait_for_sites(shared);
    }
  }
  while (wait(nullptr) > 0) {
  }
  tell("too_early", static_cast<uint64_t>(too_early));
  tell("seen", static_cast<uint64_t>(shared.seen));
  return 0;
}

// ---- programs that give up their rights

// Like a server that starts as root: no descriptor, another root, another user.
SUBJECT(live_gives_up_its_rights) {
  const ControlFile driver = control();
  driver.set(1, true);
  leaves(4);
  constexpr unsigned kNobody = 65534;
  if (syscall(SYS_close_range, 3U, ~0U, 0U) != 0 || chroot(std::getenv("VPROF_TEST_ROOT")) != 0 ||
      chdir("/") != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0) {
    return 99;
  }
  driver.set(1, false);
  leaves(5);
  driver.set(1, true);
  leaves(6);
  driver.die();
  // It is counted after the sites are off; a process that ends in between does not count it.
  until([&] { return driver.load(driver.header().switched_off) != 0; });
  leaves(7);
  return 0;
}

// ---- gaps

static void interval(uint64_t id) {
  vprof_begin(id);
  vprof_end(id);
}

// Intervals 1 and 2 begin before the gap, 3 lies in it, and 4 comes after it. 2 ends after it.
SUBJECT(live_gap) {
  const ControlFile driver = control();
  interval(1);
  vprof_begin(2);
  driver.die();
  until([&] { return !driver.driven(); });
  tell("began", vprof_ticks());
  interval(3);
  tell("over", vprof_ticks());
  driver.drive();
  vprof_end(2);
  interval(4);
  until_released();
  return 0;
}

// An interval of the thread begins before the gap, ends in it, and another one begins.
SUBJECT(live_gap_in_thread_interval) {
  const ControlFile driver = control();
  vprof_rt_interval(VPROF_WHAT_BEGIN, 1, VPROF_THREAD_KEY);
  driver.die();
  until([&] { return !driver.driven(); });
  vprof_rt_interval(VPROF_WHAT_END, 1, VPROF_THREAD_KEY);
  vprof_rt_interval(VPROF_WHAT_BEGIN, 1, VPROF_THREAD_KEY);
  driver.drive();
  vprof_rt_interval(VPROF_WHAT_END, 1, VPROF_THREAD_KEY);
  return 0;
}

// The driver pauses the recording, and goes on.
SUBJECT(live_pause) {
  const ControlFile driver = control();
  driver.set(1, true);
  interval(1);
  vprof_begin(2);
  leaves(3);
  driver.set(1, false);
  driver.pause();
  interval(3);
  leaves(5);
  driver.drive();
  driver.set(1, true);
  vprof_end(2);
  interval(4);
  leaves(7);
  return 0;
}

// An interval of the thread begins before the pause, ends in it, and another one begins.
SUBJECT(live_pause_in_thread_interval) {
  const ControlFile driver = control();
  vprof_rt_interval(VPROF_WHAT_BEGIN, 1, VPROF_THREAD_KEY);
  driver.pause();
  vprof_rt_interval(VPROF_WHAT_END, 1, VPROF_THREAD_KEY);
  vprof_rt_interval(VPROF_WHAT_BEGIN, 1, VPROF_THREAD_KEY);
  driver.drive();
  vprof_rt_interval(VPROF_WHAT_END, 1, VPROF_THREAD_KEY);
  return 0;
}

// The driver dies in a pause.
SUBJECT(live_driver_dies_in_pause) {
  const ControlFile driver = control();
  driver.set(1, true);
  leaves(10);
  driver.pause();
  driver.die_in_pause();
  until([&] { return !driver.driven() && !driver.is_on(1); });
  leaves(5);
  return 0;
}

// Nobody drives at first.
SUBJECT(live_waits_for_driver) {
  const ControlFile driver = control();
  interval(1);
  leaves(3);
  driver.drive();
  driver.set(1, true);
  interval(2);
  leaves(4);
  return 0;
}
