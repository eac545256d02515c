// Threads that compete for a processor, threads that do not want one, and a program that enters a
// sandbox.
#include <dlfcn.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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

// What the host has taken of a processor for other machines, to 10 ms: no thread was switched away,
// and none had it.
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

// How long this thread could have run and did not, as the kernel counts it; 0 where it does not.
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

struct Moment {
  uint64_t ticks, wall_ns, processor_ns;
  uint64_t waited, preempted;  // how often, as the kernel counts it
};

uint64_t now_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

Moment look() {
  const uint64_t ticks = vprof_ticks();
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return {ticks, now_ns(CLOCK_MONOTONIC), now_ns(CLOCK_THREAD_CPUTIME_ID),
          static_cast<uint64_t>(usage.ru_nvcsw), static_cast<uint64_t>(usage.ru_nivcsw)};
}

// How often this thread could have run and was switched away, up to now.
void tell_preemptions() {
  const Moment now = look();
  tell("until", now.ticks);
  tell("preemptions", now.preempted);
}

constexpr uint64_t kMillisecond = 1000000;  // ns

bool lost_a_millisecond(const Moment& before, const Moment& after) {
  return after.wall_ns - before.wall_ns >=
             after.processor_ns - before.processor_ns + kMillisecond &&
         after.preempted != before.preempted;
}

// Runs until it has lost its processor three times, each time for at least a millisecond between
// two frames, with no wait since the runtime last asked the kernel. Tells the times around each
// loss.
int lose_the_processor() {
  leaf();
  until_helper_sleeps();  // it knows this thread
  pin();
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) {
    }
  });
  int found = 0;
  while (found < 3) {
    rest_us(1000);  // a wait that is not recorded: the runtime asks at the next frame
    leaf();
    const uint64_t waited = look().waited;
    Moment after = look();
    while (found < 3 && after.waited == waited) {
      middle(1);
      const Moment before = look();
      for (int i = 0; i < 10000; ++i) {
        __asm__ __volatile__("");
      }
      after = look();
      const uint64_t to = vprof_ticks();
      middle(1);
      if (after.waited == waited && lost_a_millisecond(before, after)) {
        const std::string number = std::to_string(found++);
        tell(("from" + number).c_str(), before.ticks);
        tell(("to" + number).c_str(), to);
        break;  // telling may have waited
      }
    }
  }
  over = true;
  other.join();
  tell_preemptions();
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

SUBJECT(loses_the_processor) {
  tell("registered", sequence_of_this_thread() != nullptr ? 1 : 0);
  return lose_the_processor();
}

// Its processor time begins anew.
SUBJECT(loses_the_processor_in_a_child) {
  compute_ms(10);
  const pid_t child = fork();
  if (child == 0) {
    return lose_the_processor();
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && status == 0 ? 0 : 3;
}

// ---- for the soak

namespace {

void nap() {
  const timespec length{0, 100000};
  nanosleep(&length, nullptr);
}

// For the soak: computes for 200 ms of processor time while another thread wants the same. `rests`:
// in between, which are not time without a processor.
template <class Rest = void (*)()>
int share(int rests, const Rest& rest = nap) {
  leaf();
  until_helper_sleeps();  // it knows this thread
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

}  // namespace

SUBJECT(share_a_processor) { return share(1); }

SUBJECT(share_a_processor_and_nap) { return share(100); }

// Each wait gives the processor up twice: for the condition, and for its mutex, which the signaller
// keeps for a while.
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
      rest_us(1000);
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

SUBJECT(share_a_processor_in_a_child) {
  compute_ms(100);
  const pid_t child = fork();
  if (child == 0) {
    return share(1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && status == 0 ? 0 : 3;
}

// ---- not for the soak only

// Clears the mark as a program does that uses restartable sequences itself, until the runtime gives
// up.
SUBJECT(clears_its_sequence) {
  volatile uint64_t* sequence = sequence_of_this_thread();
  tell("registered", sequence != nullptr ? 1 : 0);
  leaf();
  while (sequence != nullptr && vprof_thread_buffer.running == sequence) {
    leaf();
    *sequence = 0;
  }
  until_helper_sleeps();  // it has seen the request
  return 0;
}

SUBJECT(many_recording_threads) {
  constexpr uint64_t kThreads = 8;
  leaf();
  std::atomic<uint64_t> recorded{0};
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      leaf();
      ++recorded;
      until([&] { return over.load(); });
    });
  }
  until([&] { return recorded == kThreads; });
  until_helper_sleeps();  // it has looked at each
  over = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  tell("threads", kThreads);
  return 0;
}

// For the soak: two threads that wake each other by turns, and a third that sleeps.
SUBJECT(switches_often) {
  leaf();
  pin();  // or they might meet without a switch
  int ping[2], pong[2];
  if (pipe(ping) != 0 || pipe(pong) != 0) {
    return 1;
  }
  std::thread sleeper([] {
    leaf();
    rest_us(600000);
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
  until_helper_sleeps();  // it knows this thread
  for (int i = 0; i < 50; ++i) {
    nap();
    leaf();
  }
  tell_preemptions();
  return 0;
}

// In the sandbox the kernel kills the program if any of its threads calls perf_event_open.
SUBJECT(shuts_itself_in) {
  leaf();
  until_helper_sleeps();  // it knows this thread
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
  std::thread([] { leaf(); }).join();
  return 0;
}
