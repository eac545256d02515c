#include <vprof/runtime/scope.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <vector>

#include "subject.h"

using namespace vprof::test;

static int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

SUBJECT(forks) {
  leaves(10);
  int bad = 0;
  for (int i = 0; i < 1000; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      leaves(i % 2 == 0 ? 7 : 2000);
      if (i % 4 == 0) {
        _exit(0);
      }
      std::exit(0);
    }
    if (wait_for(child) != 0) {
      ++bad;
    }
    leaf();
  }
  return bad;
}

// Other threads record while this one forks.
SUBJECT(forks_with_threads) {
  std::atomic<bool> over{false};
  std::atomic<uint64_t> frames{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      uint64_t mine = 0;
      for (; !over; ++mine) {
        leaf();
        if (mine % 256 == 0) {
          rest_us(20);  // always in the middle of recording, but no gigabytes
        }
      }
      frames += mine;
    });
  }
  int bad = 0;
  for (int i = 0; i < 50; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      leaves(300);
      // A child with a trace of its own has a child, and threads, of its own.
      if (i % 10 == 0) {
        const pid_t grandchild = fork();
        if (grandchild == 0) {
          leaves(5);
          _exit(0);
        }
        if (wait_for(grandchild) != 0) {
          _exit(1);
        }
      }
      _exit(0);
    }
    if (wait_for(child) != 0) {
      ++bad;
    }
  }
  over = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  tell("frames", frames);
  return bad;
}

SUBJECT(vfork_child) {
  leaves(10);
  const pid_t child = vfork();
  if (child == 0) {
    leaf();
    _exit(0);
  }
  wait_for(child);
  leaves(10);
  return 0;
}

static std::atomic<uint64_t> handled;
static void on_alarm(int) {
  leaf();
  ++handled;
}

// Signals arrive around the system call, in the parent and in the child.
SUBJECT(forks_under_signals) {
  struct sigaction action{};
  action.sa_handler = on_alarm;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  const pthread_t target = pthread_self();
  std::atomic<bool> over{false};
  std::thread sender([&] {
    while (!over) {
      pthread_kill(target, SIGUSR1);
      rest_us(20);
    }
  });
  uint64_t frames = 0;
  for (int i = 0; i < 100; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      leaves(20);
      _exit(0);
    }
    for (int status = 0; waitpid(child, &status, 0) != child;) {
    }
    leaf();
    ++frames;
  }
  over = true;
  sender.join();
  tell("frames", frames + handled);
  return 0;
}

SUBJECT(killed) {
  leaves(100000);
  raise(SIGKILL);
  return 0;
}

// Two threads say after each record, in a file that survives them, how many they have made. At the
// end they wait to be killed.
SUBJECT(counts_until_killed) {
  const int fd = open(std::getenv("VPROF_TEST_COUNTERS"), O_RDWR);
  auto* counters = static_cast<std::atomic<uint64_t>*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  if (fd < 0 || counters == MAP_FAILED) {
    return 4;
  }
  const auto count = [](std::atomic<uint64_t>& counter) {
    for (uint64_t n = 1; n <= 3000000; ++n) {
      leaf();
      counter.store(n, std::memory_order_release);
    }
    for (;;) {
      pause();
    }
  };
  std::thread other([&] { count(counters[64]); });
  count(counters[0]);
  return 0;
}

// Whether `fd` is the first that is free, so that the runtime holds none. It holds one while a
// thread begins the trace, which with a sanitizer may be another thread than this one.
static bool first_free_is(int fd) {
  int found = 0;
  do {
    found = dup(STDOUT_FILENO);
    if (found != fd) {
      close(found);
    }
  } while (sanitized() && found != fd);
  return found == fd;
}

SUBJECT(closes_all_descriptors) {
  for (int fd = 3; fd < 1024; ++fd) {
    close(fd);
  }
  leaves(10);
  for (int fd = 3; fd < 1024; ++fd) {
    close(fd);
  }
  if (!first_free_is(3)) {  // and leaves it open
    return 4;
  }
  leaves(100000);
  const pid_t child = fork();
  if (child == 0) {
    leaves(10);
    _exit(first_free_is(4) ? 0 : 5);
  }
  return wait_for(child) != 0 ? 6 : 0;
}

SUBJECT(changes_directory) {
  if (chdir("/") != 0) {
    return 4;
  }
  leaves(10);
  return 0;
}

static long cpu_ns_of_work(int frames) {
  timespec before{};
  timespec after{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
  leaves(frames);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
  return (after.tv_sec - before.tv_sec) * 1000000000L + after.tv_nsec - before.tv_nsec;
}

SUBJECT(gets_slower) {
  constexpr int kPart = 500000;
  const long with_room = cpu_ns_of_work(kPart);
  leaves(4 * kPart);
  const long without = cpu_ns_of_work(kPart);
  tell("times_slower", static_cast<uint64_t>(without / with_room));
  return 0;
}

// The helper is never behind, so that the same chunks are used in every run.
static void work_in_step_with_the_helper(int frames) {
  constexpr int kStep = 20000;  // of a chunk's 65,000 at most
  for (int done = 0; done < frames; done += kStep) {
    leaves(kStep);
    until_helper_sleeps();
  }
}

// 24 MB of records.
SUBJECT(many_frames) {
  constexpr int kFrames = 1500000;
  work_in_step_with_the_helper(kFrames);
  tell("frames", kFrames);
  return 0;
}

SUBJECT(exits_while_threads_record) {
  std::atomic<int> running{0};
  for (int t = 0; t < 3; ++t) {
    std::thread([&running] {
      ++running;
      for (;;) {
        leaf();
      }
    }).detach();
  }
  until([&] { return running == 3; });
  leaves(1000);
  std::exit(0);  // not a return: the threads use `running`
}

SUBJECT(main_leaves_by_pthread_exit) {
  leaf();
  std::thread([main_task = task_directory(this_thread())] {
    until([&] { return thread_state(main_task) == 'Z'; });
    leaf();
  }).detach();
  pthread_exit(nullptr);
}

// 48 MB of records, the last one of another site.
SUBJECT(long_trace) {
  constexpr int kFrames = 3000000;
  work_in_step_with_the_helper(kFrames);
  middle(0);
  tell("frames", kFrames + 1);
  return 0;
}

SUBJECT(execs) {
  leaves(10);
  setenv("VPROF_TEST_AGAIN", "1", 1);
  execl("/proc/self/exe", "subject", "nested", static_cast<char*>(nullptr));
  return 4;
}

SUBJECT(nothing) { return 0; }
