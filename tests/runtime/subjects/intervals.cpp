#include <vprof/runtime/scope.h>

#define VPROF_ENABLED
#include <vprof/annotations.h>

#include <setjmp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <thread>

#include "subject.h"

using namespace vprof::test;

// Tasks by address; one address twice.
SUBJECT(annotated_tasks) {
  static int task;
  const auto id = reinterpret_cast<uint64_t>(&task);
  for (int i = 0; i < 2; ++i) {
    vprof_task_created(id);
    vprof_task_taken(id);
  }
  vprof_task_created(0);  // no task
  tell("task", id);
  return 0;
}

// The first record of the process, of a thread and of a child is the begin of an interval. A child
// also ends one that its parent began.
SUBJECT(first_intervals) {
  const auto interval = [](uint64_t id) {
    vprof_begin(id);
    leaf();
    vprof_end(id);
  };
  interval(1);
  std::thread thread([&] { interval(2); });
  thread.join();
  vprof_begin(3);
  const pid_t child = fork();
  if (child == 0) {
    vprof_end(3);
    interval(4);
    _exit(0);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child ? status : 1;
}

SUBJECT(annotations) {
  vprof_begin(11);
  vprof_label(11, "GET");
  vprof_trace_context(11, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  vprof_trace_context(0, "of what this thread works for");
  vprof_trace_context(11, nullptr);  // none
  vprof_trace_context(11, "");       // none
  vprof_work(11, 50);
  vprof_work(0, UINT64_MAX);  // for what this thread works for
  vprof_work(11, 0);          // none
  vprof_switch(0);
  vprof_work(0, 7);  // for nothing
  vprof_trace_context(0, "for nothing");
  vprof_switch(11);
  vprof_end(11);
  {
    vprof::interval request(
        12, "a label that is longer than sixty-three bytes, which is all that is kept of it");
    vprof::working_for other(13);
    leaf();
  }
  vprof_label(14, nullptr);  // none
  vprof_begin(0);            // no id
  return 0;
}

// Intervals identified by their thread: two in succession, an end without a begin, and one that the
// parent begins and the child ends.
SUBJECT(thread_keys) {
  const auto event = [](int what, unsigned def) { vprof_rt_interval(what, def, VPROF_THREAD_KEY); };
  event(VPROF_WHAT_SWITCH, 5);
  for (int i = 0; i < 2; ++i) {
    event(VPROF_WHAT_BEGIN, 5);
    event(VPROF_WHAT_BEGIN, 6);
    event(VPROF_WHAT_SWITCH, 5);
    event(VPROF_WHAT_END, 6);
    event(VPROF_WHAT_END, 5);
  }
  event(VPROF_WHAT_END, 5);
  event(VPROF_WHAT_BEGIN, 5);
  const pid_t child = fork();
  event(VPROF_WHAT_END, 5);
  if (child == 0) {
    return 0;
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

static __attribute__((noinline)) int recursive(int depth) {
  VPROF_INTERVAL(2);
  leaf();
  return depth == 0 ? 0 : recursive(depth - 1) + 1;
}

static __attribute__((noinline)) void inner_kind() {
  VPROF_INTERVAL(4);
  leaf();
}

static __attribute__((noinline)) void outer_kind() {
  VPROF_INTERVAL(3);
  inner_kind();
  leaf();
}

SUBJECT(interval_scopes) {
  recursive(5);
  recursive(0);
  outer_kind();
  return 0;
}

static jmp_buf out;
static __attribute__((noinline)) void statement(bool fails) {
  VPROF_INTERVAL(1);
  if (fails) {
    longjmp(out, 1);
  }
  leaf();
}

static __attribute__((noinline)) void deeper(int depth, bool fails) {
  volatile char space[64];
  space[0] = 1;
  if (depth == 0) {
    return statement(fails);
  }
  deeper(depth - 1, fails);
  space[1] = space[0];
}

// longjmp leaves half of the statements, at a depth that differs from that of the next one.
SUBJECT(interval_left_by_longjmp) {
  volatile int i = 0;
  while (i < 20) {
    const int n = i;
    i = n + 1;
    if (setjmp(out) == 0) {
      deeper(n % 2 == 0 ? 10 : 0, n % 2 == 0);
    }
  }
  return 0;
}

static __attribute__((noinline)) void throws() {
  VPROF_INTERVAL(1);
  throw std::runtime_error("x");
}

SUBJECT(interval_left_by_exception) {
  try {
    throws();
  } catch (const std::runtime_error&) {
  }
  return 0;
}

// The child's interval has its own id, and the child does not end its parent's.
static __attribute__((noinline)) int forks_inside() {
  VPROF_INTERVAL(1);
  const pid_t child = fork();
  if (child == 0) {
    leaf();
    inner_kind();
    return 0;
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}
SUBJECT(interval_and_fork) { return forks_inside(); }

struct Request {
  uint64_t number;
  std::string name;
};

static void handle(Request* request, int kind, const unsigned char* text) {
  VPROF_EXIT_EVENT(END, 1, request);
  VPROF_ENTRY_EVENT(BEGIN, 1, request);
  VPROF_ENTRY_LABEL(1, request, request->name);
  VPROF_ENTRY_LABEL_CURRENT(2, text);
  VPROF_ENTRY_LABEL_CURRENT(3, kind);
  VPROF_ENTRY_LABEL(4, request, -9223372036854775807LL - 1);
  VPROF_ENTRY_EVENT(SWITCH, 2, request->number);
  leaf();
  VPROF_EVENT(SWITCH, 1, request);
}

SUBJECT(events) {
  Request request{77, "by name"};
  tell("object", reinterpret_cast<uintptr_t>(&request));
  handle(&request, 42, reinterpret_cast<const unsigned char*>("text"));
  vprof_rt_interval(VPROF_WHAT_SWITCH, 1, 0);
  vprof_rt_label_current(1, "nobody's");
  return 0;
}
