#include <vprof/runtime/scope.h>

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "subject.h"

using namespace vprof::test;

SUBJECT(nested) {
  for (int i = 0; i < 1000; ++i) {
    outer(3);
  }
  tell("leaves", 4000);
  tell("middles", 1000);
  tell("outers", 1000);
  return 0;
}

// The times that lie immediately around the frame, and immediately within it.
SUBJECT(timed) {
  leaf();
  const uint64_t before = vprof_ticks();
  uint64_t entered = 0;
  uint64_t left = 0;
  {
    VPROF_SITE(10);
    entered = vprof_ticks();
    rest_us(1000);
    left = vprof_ticks();
  }
  const uint64_t after = vprof_ticks();
  tell("before", before);
  tell("entered", entered);
  tell("left", left);
  tell("after", after);
  until_released();
  return 0;
}

SUBJECT(many_threads) {
  constexpr int kBatches = 100;
  constexpr int kThreads = 100;
  leaf();  // makes the trace
  for (int batch = 0; batch < kBatches; ++batch) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([] { middle(2); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
  tell("frames", kBatches * kThreads * 3 + 1);
  return 0;
}

// One after another, each with several chunks.
SUBJECT(many_short_threads) {
  constexpr int kThreads = 200, kFrames = 6000;
  for (int i = 0; i < kThreads; ++i) {
    std::thread([] { leaves(kFrames); }).join();
    until_helper_sleeps();
  }
  tell("frames", uint64_t{kThreads} * kFrames);
  return 0;
}

SUBJECT(two_busy_threads) {
  constexpr int kFrames = 400000;
  const auto work = [] {
    for (int i = 0; i < kFrames; ++i) {
      leaf();
    }
  };
  std::thread other(work);
  work();
  other.join();
  tell("frames", 2 * kFrames);
  return 0;
}

// Instrumented code in a destructor that runs after the thread's function and after most other
// destructors.
static pthread_key_t late_key;
static void late(void* round) {
  leaf();
  const auto n = reinterpret_cast<uintptr_t>(round);
  if (n < 3) {
    pthread_setspecific(late_key, reinterpret_cast<void*>(n + 1));
  }
}
SUBJECT(late_destructors) {
  pthread_key_create(&late_key, late);
  std::thread thread([] {
    leaf();
    pthread_setspecific(late_key, reinterpret_cast<void*>(uintptr_t{1}));
  });
  thread.join();
  tell("frames", 4);
  return 0;
}

// ---- signals

static std::atomic<uint64_t> handled;
static std::atomic<int> handlers_open;
static void on_signal(int) {
  ++handlers_open;
  middle(1);
  ++handled;
  --handlers_open;
}

SUBJECT(signal_storm) {
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval every{{0, 40}, {0, 40}};
  setitimer(ITIMER_REAL, &every, nullptr);
  uint64_t frames = 0;
  while (handled < 1000) {
    leaf();
    ++frames;
    if (sanitized() && frames % 4096 == 0) {
      rest_us(1);  // sanitizers deliver signals here
    }
  }
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  tell("handled", handled);
  tell("frames", frames + 2 * handled);
  return 0;
}

// Signals in such quick succession that handlers interrupt handlers, half of them on an alternate
// stack.
SUBJECT(signal_storm_between_threads) {
  static char stack[1 << 20];
  const stack_t alternate{stack, 0, sizeof stack};
  sigaltstack(&alternate, nullptr);
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART | SA_NODEFER;
  sigaction(SIGUSR1, &action, nullptr);
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigaction(SIGUSR2, &action, nullptr);
  const pthread_t target = pthread_self();
  std::atomic<bool> over{false};
  std::thread sender([&] {
    for (int round = 0; round < 200; ++round) {
      const uint64_t before = handled;
      for (int i = 0; i < 8; ++i) {
        pthread_kill(target, i % 2 == 0 ? SIGUSR1 : SIGUSR2);
      }
      // Or they would nest ever deeper, if this thread is the faster one.
      while (handled == before || handlers_open != 0) {
        sched_yield();
      }
    }
    over = true;
  });
  uint64_t frames = 0;
  while (!over) {
    leaf();
    ++frames;
    if (sanitized() && frames % 4096 == 0) {
      rest_us(1);
    }
    if (frames % 512 == 0) {
      sched_yield();  // the sender may wait for this processor
    }
  }
  sender.join();
  tell("handled", handled);
  tell("frames", frames + 2 * handled);
  return 0;
}

#if defined(__x86_64__)
// The processor's trap flag raises SIGTRAP after each instruction. So a handler that records comes
// between any two instructions of the hot path, of making the file, and of changing the chunk
// several times.
static void on_trap(int) {
  leaf();
  handled.fetch_add(1, std::memory_order_relaxed);
}

static constexpr uint64_t kTrapFlag = 0x100;
static void flip_trap_flag() {
  __asm__ __volatile__("subq $128, %%rsp; pushfq; xorq %0, (%%rsp); popfq; addq $128, %%rsp"
                       :
                       : "r"(kTrapFlag)
                       : "memory", "cc");
}

SUBJECT(signal_at_every_instruction) {
  struct sigaction action{};
  action.sa_handler = on_trap;
  sigaction(SIGTRAP, &action, nullptr);
  constexpr int kFrames = 1500;  // some 45 instructions each where it is optimised
  flip_trap_flag();
  for (int i = 0; i < kFrames; ++i) {
    leaf();
  }
  flip_trap_flag();
  tell("handled", handled);
  tell("frames", kFrames + handled);
  return 0;
}

// Handlers at two instructions of a record for which the chunk has too little room. The first fills
// a new chunk, the second takes another: so any look at the chunk before, between and after them
// finds a different one, of which some lie behind the others and some in front.
namespace {

struct Steps {
  int first, second;  // the instructions before which a handler records
  int now;
  uint64_t frames;
};
Steps steps;

int free_slots() { return vprof_free_slots(vprof_thread_buffer.cursor); }

void leave_slots(int slots) {
  do {
    leaf();
    ++steps.frames;
  } while (free_slots() != slots);
}

void on_step(int, siginfo_t*, void* context) {
  ++steps.now;
  if (steps.now == steps.first) {
    leave_slots(0);
  }
  if (steps.now == steps.second) {
    leaf();
    ++steps.frames;
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &=
        ~static_cast<greg_t>(kTrapFlag);
  }
}

template <typename Record>
void record_between(int first, int second, int slots, Record record) {
  leave_slots(slots);
  steps.first = first;
  steps.second = second;
  steps.now = 0;
  flip_trap_flag();
  record();
  if (steps.now < second) {
    flip_trap_flag();
  }
}

}  // namespace

SUBJECT(two_handlers_in_one_record) {
  struct sigaction action{};
  action.sa_sigaction = on_step;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, nullptr);
  constexpr int kSteps = 64;
  uint64_t records = 0;
  for (int first = 0; first < kSteps; ++first) {  // 0: never
    for (int second = first + 1; second < kSteps; ++second) {
      record_between(first, second, 0, [] { leaf(); });
      record_between(first, second, static_cast<int>(records % 4),
                     [] { vprof_rt_label(0, 7, "0123456789012345678901234567"); });
      ++records;
    }
  }
  tell("frames", steps.frames + records);
  tell("labels", records);
  return 0;
}
#endif

// ---- ways out

static jmp_buf out;
static __attribute__((noinline)) void jump(int depth) {
  VPROF_FUNCTION(20);
  static volatile bool jumps = true;
  if (depth > 0) {
    jump(depth - 1);
  } else if (jumps) {
    longjmp(out, 1);
  }
}

SUBJECT(longjmp_past_scopes) {
  volatile int rounds = 0;
  while (rounds < 1000) {
    outer(1);
    if (setjmp(out) == 0) {
      jump(5);
    }
    outer(1);
    rounds = rounds + 1;
  }
  tell("outers", 2 * static_cast<uint64_t>(rounds));
  return 0;
}

static __attribute__((noinline)) int thrower(bool throws) {
  VPROF_FUNCTION(30);
  if (throws) {
    throw std::runtime_error("x");
  }
  return 1;
}

static __attribute__((noinline)) int left_by_exception(bool throws) {
  VPROF_FUNCTION_N(31, 2);
  return VPROF_VALUE(0, 32) thrower(false) VPROF_VALUE_END(0) + VPROF_VALUE(1, 33) thrower(throws)
                                                                    VPROF_VALUE_END(1);
}

SUBJECT(exceptions) {
  for (int i = 0; i < 100; ++i) {
    try {
      left_by_exception(i % 2 == 0);
    } catch (const std::runtime_error&) {
    }
  }
  return 0;
}

static __attribute__((noinline)) int callee(int depth) {
  VPROF_FUNCTION(50);
  return depth > 0 ? callee(depth - 1) : 0;
}
static __attribute__((noinline)) int without_scope() { return 1; }

static __attribute__((noinline)) int throwing() { throw 1; }
static __attribute__((noinline)) void left_in_an_argument() {
  VPROF_FRAME_N(1);
  VPROF_CALL_VALUE(0, 57, 50) callee(throwing()) VPROF_VALUE_END(0);
}

// A callee's scope records nothing if a measured call entered it, and a frame otherwise.
SUBJECT(scopes_within_calls) {
  VPROF_FRAME_N(2);
  {
    VPROF_CALL(51, 50);
    callee(2);  // 50 twice: it calls itself
  }
  callee(0);  // 50
  {
    VPROF_CALL(52, 50);
    without_scope();
  }
  callee(0);  // 50, although the call before it did not enter its scope
  {
    VPROF_SITE(53);
    callee(0);  // 50
  }
  const int value = VPROF_CALL_VALUE(0, 54, 50) callee(0) VPROF_VALUE_END(0);
  VPROF_CALL_VOID(1, 55, 50) static_cast<void>(callee(value)) VPROF_VOID_END(1, 55);
  static_cast<void>((VPROF_CALL_GUARD(56, 50) callee(0) VPROF_GUARD_END));
  callee(0);  // 50
  try {
    left_in_an_argument();
  } catch (int) {
  }
  callee(0);  // 50
  return 0;
}

static __attribute__((noinline)) int plus_one(int x) {
  __asm__ __volatile__("" : "+r"(x));
  return x + 1;
}
SUBJECT(operands) {
  VPROF_FRAME_N(3);
  int sum = 0;
  for (int i = 0; i < 1000; ++i) {
    sum = VPROF_VALUE(0, 61) plus_one(sum) VPROF_VALUE_END(0) +
          VPROF_VALUE(1, 62) plus_one(i) VPROF_VALUE_END(1) * VPROF_VALUE(2, 63) plus_one(0)
                                                                  VPROF_VALUE_END(2);
  }
  return sum == 0;
}

// One after the other in the same slot; an exception leaves the first one.
static __attribute__((noinline)) int after_an_exception() {
  VPROF_FRAME_N(1);
  try {
    VPROF_VALUE(0, 64) thrower(true) VPROF_VALUE_END(0);
  } catch (const std::runtime_error&) {
  }
  return VPROF_VALUE(0, 65) plus_one(1) VPROF_VALUE_END(0) * plus_one(2);
}
SUBJECT(shared_slots) {
  for (int i = 0; i < 10; ++i) {
    VPROF_SITE(66);
    after_an_exception();
  }
  return 0;
}

// Two sites open at once: the one entered last is closed first.
static __attribute__((noinline)) int identity(int x) { return x; }
static __attribute__((noinline)) void nested_sites() {
  VPROF_FRAME_N(70);
  VPROF_VALUE(1, 41)
  identity(VPROF_VALUE(69, 42) thrower(true) VPROF_VALUE_END(69)) VPROF_VALUE_END(1);
}

SUBJECT(nested_open_sites) {
  for (int i = 0; i < 10; ++i) {
    try {
      nested_sites();
    } catch (const std::runtime_error&) {
    }
  }
  return 0;
}

// ---- what does not fit

SUBJECT(long_frame) {
  leaf();
  // As the inlined code does: it reserves a slot before it looks at the duration.
  const auto frame = [](unsigned id, vprof_u64 duration) {
    vprof_rt_frame(id, 1000, duration, vprof_take_slots(&vprof_thread_buffer, 1));
  };
  frame(50, 1ull << 41);
  frame(51, static_cast<vprof_u64>(-5));  // a counter that went back
  return 0;
}

// Events of several slots at every offset from the end of a chunk.
SUBJECT(chunk_ends) {
  static const char text[] =
      "0123456789012345678901234567890123456789012345678901234567890123456789";
  uint64_t labels = 0;
  for (int i = 0; i < 20000; ++i) {
    for (int j = 0; j < i % 7; ++j) {
      leaf();
    }
    vprof_rt_label(0, 7, text + i % 70);
    ++labels;
  }
  tell("labels", labels);
  tell("frames", 20000 / 7 * 21 + (20000 % 7) * (20000 % 7 - 1) / 2);
  return 0;
}

SUBJECT(toggled) {
  leaf();
  vprof_rt_set_site(1, 0);
  leaf();
  vprof_rt_set_site(1, 1);
  leaf();
  vprof_rt_set_site(1u << 20, 1);  // no site: ignored
  return 0;
}
