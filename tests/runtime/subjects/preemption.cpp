// Threads that want the same processor, threads that do not want one, and a program that shuts itself in.
#include <dlfcn.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "subject.h"

using namespace vprof::test;

namespace {

uint64_t now_us(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
}

int pin() {
  const int processor = sched_getcpu();
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  sched_setaffinity(0, sizeof one, &one);
  return processor;
}

// What the host has taken of a processor for other machines, to 10 ms: no thread was switched, and
// none had it.
uint64_t stolen_us(int processor) {
  std::ifstream stat("/proc/stat");
  const std::string wanted = "cpu" + std::to_string(processor);
  for (std::string line; std::getline(stat, line);) {
    std::istringstream words(line);
    std::string name;
    uint64_t ticks[8] = {};  // user, nice, system, idle, iowait, irq, softirq, steal
    if (!(words >> name) || name != wanted) {
      continue;
    }
    for (uint64_t& tick : ticks) {
      words >> tick;
    }
    return ticks[7] * 1000000 / static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
  }
  return 0;
}

// How long this thread was able to run and did not, as the kernel counts it; 0 where it does not.
uint64_t queued_us() {
  uint64_t ran_ns = 0;
  uint64_t queued_ns = 0;
  std::ifstream("/proc/thread-self/schedstat") >> ran_ns >> queued_ns;
  return queued_ns / 1000;
}

void compute_ms(uint64_t ms) {
  const uint64_t end = now_us(CLOCK_THREAD_CPUTIME_ID) + 1000 * ms;
  while (now_us(CLOCK_THREAD_CPUTIME_ID) < end) {
    leaf();
  }
}

}  // namespace

namespace {

void nap() {
  const timespec length{0, 100000};
  nanosleep(&length, nullptr);
}

// `rests`: in between, which are no time without a processor.
template <class Rest = void (*)()>
int share(int rests, const Rest& rest = nap) {
  leaf();
  sleep_ms(100);  // the helper comes to know it
  const int own = pin();
  const uint64_t stolen = stolen_us(own);
  std::thread other([] { compute_ms(200); });
  const uint64_t queued = queued_us();
  const uint64_t wall = now_us(CLOCK_MONOTONIC);
  const uint64_t processor = now_us(CLOCK_THREAD_CPUTIME_ID);
  uint64_t rested = 0;
  for (int i = 0; i < rests; ++i) {
    compute_ms(200 / static_cast<uint64_t>(rests));
    const uint64_t start = now_us(CLOCK_MONOTONIC);
    if (i + 1 < rests) {
      rest();
    }
    rested += now_us(CLOCK_MONOTONIC) - start;
  }
  tell("wall_us", now_us(CLOCK_MONOTONIC) - wall - rested);
  tell("processor_us", now_us(CLOCK_THREAD_CPUTIME_ID) - processor);
  tell("queued_us", queued_us() - queued);
  tell("stolen_us", stolen_us(own) - stolen);
  other.join();
  return 0;
}

// The word that the kernel clears; NULL: libc has registered no area.
volatile uint64_t* sequence_of_this_thread() {
  const auto* size = static_cast<const unsigned*>(dlsym(RTLD_DEFAULT, "__rseq_size"));
  const auto* offset = static_cast<const ptrdiff_t*>(dlsym(RTLD_DEFAULT, "__rseq_offset"));
  if (size == nullptr || offset == nullptr || *size == 0) {
    return nullptr;
  }
  return reinterpret_cast<volatile uint64_t*>(static_cast<char*>(__builtin_thread_pointer()) +
                                              *offset + 8);
}

}  // namespace

// This thread is the first to record. Its time without a processor is what it lacks when all is over.
SUBJECT(share_a_processor) {
  tell("registered", sequence_of_this_thread() != nullptr ? 1 : 0);
  return share(1);
}

SUBJECT(share_a_processor_and_nap) { return share(100); }

// Each wait gives the processor up twice: for the condition, and for its mutex, which whoever signals keeps for a while.
SUBJECT(share_a_processor_and_wait) {
  std::mutex mutex;
  std::condition_variable condition;
  enum { kNothing, kWanted, kOver } state = kNothing;
  std::thread signaller([&] {
    for (bool over = false; !over; nap()) {
      const std::lock_guard<std::mutex> lock(mutex);
      over = state == kOver;
      if (state != kWanted) {
        continue;
      }
      state = kNothing;
      condition.notify_one();
      sleep_ms(1);
    }
  });
  const int result = share(20, [&] {
    std::unique_lock<std::mutex> lock(mutex);
    state = kWanted;
    condition.wait(lock, [&] { return state == kNothing; });
  });
  {
    const std::lock_guard<std::mutex> lock(mutex);
    state = kOver;
  }
  signaller.join();
  return result;
}

// Whose processor time begins anew.
SUBJECT(share_a_processor_in_a_child) {
  compute_ms(100);
  const pid_t child = fork();
  if (child == 0) {
    return share(1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && status == 0 ? 0 : 3;
}

// As one does that ends its own restartable sequences so.
SUBJECT(clears_its_sequence) {
  volatile uint64_t* sequence = sequence_of_this_thread();
  tell("registered", sequence != nullptr ? 1 : 0);
  for (int i = 0; sequence != nullptr && i < 1000; ++i) {
    leaf();
    *sequence = 0;
  }
  sleep_ms(100);  // the helper comes to know of it
  return 0;
}

SUBJECT(many_recording_threads) {
  constexpr uint64_t kThreads = 8;
  leaf();
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([] {
      leaf();
      sleep_ms(50);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  tell("threads", kThreads);
  return 0;
}

// Two threads that wake each other by turns, and a third that sleeps.
SUBJECT(switches_often) {
  leaf();
  pin();  // or they might meet without a switch
  int ping[2], pong[2];
  if (pipe(ping) != 0 || pipe(pong) != 0) {
    return 1;
  }
  std::thread sleeper([] {
    leaf();
    sleep_ms(600);
  });
  std::thread other([&] {
    leaf();
    for (char c = 0; read(ping[0], &c, 1) == 1 && write(pong[1], &c, 1) == 1;) {
    }
  });
  const uint64_t end = now_us(CLOCK_MONOTONIC) + 600000;
  uint64_t turns = 0;
  for (char c = 0;
       now_us(CLOCK_MONOTONIC) < end && write(ping[1], &c, 1) == 1 && read(pong[0], &c, 1) == 1;) {
    ++turns;
  }
  close(ping[1]);
  sleeper.join();
  other.join();
  tell("turns", turns);
  return 0;
}

SUBJECT(naps) {
  leaf();
  for (int i = 0; i < 200; ++i) {
    sleep_ms(1);
  }
  leaf();
  return 0;
}

// From then on the kernel ends the program for perf_event_open, whichever thread calls it.
SUBJECT(shuts_itself_in) {
  leaf();
  sleep_ms(100);
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(SYS_perf_event_open), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof code / sizeof code[0], code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) {
    return 4;
  }
  std::thread([] { compute_ms(50); }).join();
  return 0;
}
