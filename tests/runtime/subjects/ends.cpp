// Ways in which a process ends, changes who or where it is, or gets more code.
#include <vprof/runtime/scope.h>

#include <dlfcn.h>
#include <grp.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>

#include "subject.h"

using namespace vprof::test;

static constexpr int kFrames = 100000;

static void work(int leaves) {
  for (int i = 0; i < leaves; ++i) {
    leaf();
  }
}

SUBJECT(leaves_by_exit_at_once) {
  work(kFrames);
  _exit(7);
}

SUBJECT(leaves_by_abort) {
  work(kFrames);
  abort();
}

SUBJECT(leaves_by_quick_exit) {
  at_quick_exit([] { leaf(); });
  work(kFrames - 1);
  quick_exit(7);
}

SUBJECT(becomes_a_daemon) {
  work(10);
  if (daemon(0, 1) != 0) {
    return 4;
  }
  work(kFrames);
  return 0;
}

// By now the file is there; children cannot make one.
SUBJECT(changes_user) {
  work(10);
  if (setgroups(0, nullptr) != 0 || setgid(65534) != 0 || setuid(65534) != 0) {
    return 99;
  }
  work(kFrames);
  const pid_t child = fork();
  if (child == 0) {
    work(kFrames);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

SUBJECT(changes_root) {
  work(10);
  if (chroot(std::getenv("VPROF_TEST_ROOT")) != 0 || chdir("/") != 0) {
    return 99;
  }
  work(kFrames);
  return 0;
}

// An instrumented library that comes and goes.
SUBJECT(loads_a_library) {
  leaf();
  for (int i = 0; i < 3; ++i) {
    void* library = dlopen(VPROF_TEST_PLUGIN, RTLD_NOW);
    if (library == nullptr) {
      return 4;
    }
    const auto function = reinterpret_cast<void (*)(int)>(dlsym(library, "plugin_work"));
    function(1000);
    std::thread([&] { function(1000); }).join();
    dlclose(library);
  }
  return 0;
}

// As where the system has no more threads to give.
// Records for two seconds. It waits for nothing itself; tells how often it was made to, whatever else the processors do.
SUBJECT(busy_for_a_while) {
  using Clock = std::chrono::steady_clock;
  const auto waits = [] {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return static_cast<uint64_t>(usage.ru_nvcsw);
  };
  const uint64_t before = waits();
  uint64_t frames = 0;
  for (const auto end = Clock::now() + std::chrono::seconds(2); Clock::now() < end; frames += 100) {
    for (int i = 0; i < 100; ++i) {
      leaf();
    }
  }
  tell("waits", waits() - before);
  tell("frames", frames);
  return 0;
}

SUBJECT(cannot_make_threads) {
  int failed = 0;
  for (int i = 0; i < 10; ++i) {
    work(kFrames / 10);
    try {
      std::thread([] {}).join();
    } catch (const std::system_error&) {
      ++failed;
    }
  }
  tell("failed", static_cast<uint64_t>(failed));
  tell("frames", kFrames);
  return 0;
}
