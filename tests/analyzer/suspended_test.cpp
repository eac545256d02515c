// Hand-written recordings of coroutines: f awaits g, and g awaits a socket, a timer or other work.
// One unit is a microsecond.
#include "path_case.h"

using namespace vprof;
using test::Case;
using test::leaves;
using test::Leaves;

namespace {

constexpr int64_t kUs = 1000;

struct CoroutineCase : Case {
  uint32_t g_awaited = sites.suspension("g", f);
  uint32_t event_awaited = sites.suspension("event", g);

  /// A stretch of g, which f awaits, from where it begins or goes on to where it is suspended.
  void run_g(test::ThreadWriter& t, int64_t from, int64_t to, uint32_t after, bool ends = false,
             int64_t polled = 0) {
    t.resume(1, from * kUs, after, polled * kUs);
    t.frame(g_entry, from * kUs, to * kUs);
    t.frame(f_entry, from * kUs, to * kUs);
    if (!ends) {
      t.suspend(to * kUs);
    }
  }
  /// The interval begins in f, which awaits g at once.
  void begin_f(test::ThreadWriter& t, int64_t from, int64_t to) {
    t.begin(1, from * kUs);
    t.frame(f_entry, from * kUs, to * kUs);
    t.suspend(to * kUs);
  }
};

Leaves in_us(const analyzer::Profile& profile) {
  Leaves result;
  for (const auto& [path, ns] : leaves(profile)) {
    result[path] = ns / kUs;
  }
  return result;
}

}  // namespace

TEST_CASE("a coroutine is below those that await it, on whatever thread it goes on") {
  CoroutineCase c;
  auto& t = c.thread(1);
  c.begin_f(t, 0, 10);
  c.run_g(t, 11, 20, c.g_awaited);  // f hardly waited
  auto& u = c.thread(2);
  u.epoll_wait(5 * kUs, 50 * kUs, {0x10}, 5);
  c.run_g(u, 52, 60, c.event_awaited, true, 50);
  u.end(1, 60 * kUs);
  CHECK(in_us(c.profile()) == Leaves{{"request/f/body(f)", 10 + 1},
                                     {"request/f/g/body(g)", 9 + 8},
                                     {"request/f/g/co_await(event)/readiness", 30},
                                     {"request/f/g/co_await(event)/untracked(thread)", 2}});
}

TEST_CASE("what the resuming thread did since it was idle is to blame") {
  CoroutineCase c;
  auto& t = c.thread(1);
  c.begin_f(t, 0, 10);
  c.run_g(t, 10, 20, c.g_awaited);
  t.epoll_wait(20 * kUs, 40 * kUs);  // a timer that is due
  t.frame(c.h_entry, 41 * kUs, 80 * kUs);
  c.run_g(t, 81, 90, c.event_awaited, true, 40);
  t.end(1, 90 * kUs);
  CHECK(in_us(c.profile()) == Leaves{{"request/f/body(f)", 10},
                                     {"request/f/g/body(g)", 10 + 9},
                                     // It may have been due for h, or for g.
                                     {"request/f/g/co_await(event)/timer", 20},
                                     {"request/f/g/co_await(event)/h", 39},
                                     {"request/f/g/co_await(event)/untracked(thread)", 2}});
}

TEST_CASE("a timer that nobody else was called for first") {
  CoroutineCase c;
  auto& t = c.thread(1);
  c.begin_f(t, 0, 10);
  c.run_g(t, 10, 20, c.g_awaited);
  t.frame(c.h_entry, 20 * kUs, 30 * kUs);  // delays nothing
  t.epoll_wait(30 * kUs, 70 * kUs);
  c.run_g(t, 70, 90, c.event_awaited, true, 70);
  t.end(1, 90 * kUs);
  CHECK(in_us(c.profile()) == Leaves{{"request/f/body(f)", 10},
                                     {"request/f/g/body(g)", 10 + 20},
                                     {"request/f/g/co_await(event)/timer", 50}});
}

TEST_CASE("the thread that woke the one that resumes a coroutine is to blame before") {
  CoroutineCase c;
  auto& t = c.thread(1);
  c.begin_f(t, 0, 10);
  c.run_g(t, 10, 20, c.g_awaited);
  t.condition_wait({0x20}, {0x30}, 22 * kUs, 70 * kUs, 1);
  c.run_g(t, 72, 90, c.event_awaited, true);
  t.end(1, 90 * kUs);
  auto& worker = c.thread(2);
  worker.frame(c.h_entry, 15 * kUs, 65 * kUs);
  worker.release(VPROF_EV_RELEASE_COND, {0x20}, 66 * kUs, 1);
  CHECK(in_us(c.profile()) == Leaves{{"request/f/body(f)", 10},
                                     {"request/f/g/body(g)", 10 + 18},
                                     {"request/f/g/co_await(event)/h", 45},
                                     {"request/f/g/co_await(event)/untracked(thread)", 1 + 2},
                                     {"request/f/g/co_await(event)/wake-up(event)", 4}});
}

TEST_CASE("a thread that was woken and ran what was awaited first of all was woken for it") {
  for (const bool other_first : {false, true}) {
    CAPTURE(other_first);
    CoroutineCase c;
    const uint32_t task = c.sites.function("task", 1);
    const uint32_t task_entry = c.sites.function_site(task);
    const uint32_t spawn_awaited = c.sites.suspension("spawn", c.f, {task});
    auto& t = c.thread(1);
    c.begin_f(t, 0, 10);
    auto& u = c.thread(2);
    u.condition_wait({0x20}, {0x30}, 5 * kUs, 60 * kUs, 1);
    u.frame(other_first ? c.g_entry : task_entry, 61 * kUs, 65 * kUs);
    u.frame(task_entry, 66 * kUs, 80 * kUs);
    u.resume(1, 82 * kUs, spawn_awaited);
    u.frame(c.f_entry, 82 * kUs, 90 * kUs);
    u.end(1, 90 * kUs);
    auto& worker = c.thread(3);
    worker.frame(c.h_entry, 2 * kUs, 56 * kUs);  // the executor could not run the task meanwhile
    worker.release(VPROF_EV_RELEASE_COND, {0x20}, 57 * kUs, 1);
    Leaves expected = {{"request/f/body(f)", 10 + 8},
                       {"request/f/co_await(spawn)/task", 14 + (other_first ? 0 : 4)},
                       {"request/f/co_await(spawn)/untracked(thread)", 1 + 1 + 2}};
    if (other_first) {
      expected["request/f/co_await(spawn)/g"] = 4;
      expected["request/f/co_await(spawn)/unknown event"] = 50;
    } else {
      expected["request/f/co_await(spawn)/h"] = 46;
      expected["request/f/co_await(spawn)/untracked(thread)"] += 1;
      expected["request/f/co_await(spawn)/wake-up(spawn)"] = 3;
    }
    CHECK(in_us(c.profile()) == expected);
  }
}

TEST_CASE("whoever resumes a coroutine from within a function is to blame since it was idle") {
  CoroutineCase c;
  auto& t = c.thread(1);
  c.begin_f(t, 0, 10);
  c.run_g(t, 10, 20, c.g_awaited);
  auto& worker = c.thread(2);
  worker.epoll_wait(5 * kUs, 30 * kUs, {0x10}, 5);
  worker.resume(1, 80 * kUs, c.event_awaited, 30 * kUs);
  worker.frame(c.g_entry, 80 * kUs, 90 * kUs);
  worker.frame(c.f_entry, 80 * kUs, 90 * kUs);
  worker.end(1, 90 * kUs);
  worker.frame(c.h_entry, 31 * kUs, 95 * kUs);  // calls resume()
  CHECK(in_us(c.profile()) ==
        Leaves{{"request/f/body(f)", 10},
               {"request/f/g/body(g)", 10 + 10},  // not below h, which does not call it
               {"request/f/g/co_await(event)/readiness", 10},
               {"request/f/g/co_await(event)/h", 49},
               {"request/f/g/co_await(event)/untracked(thread)", 1}});
}

TEST_CASE("calls in the operand of a co_await are below it") {
  CoroutineCase c;
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.frame(c.f_entry, 0, 10 * kUs);
  t.suspend(10 * kUs);
  t.frame(c.h_in_f, 10 * kUs, 30 * kUs);
  t.epoll_wait(30 * kUs, 70 * kUs);
  t.resume(1, 70 * kUs, c.g_awaited, 70 * kUs);
  t.frame(c.f_entry, 70 * kUs, 90 * kUs);
  t.end(1, 90 * kUs);
  CHECK(in_us(c.profile()) == Leaves{{"request/f/body(f)", 30},
                                     {"request/f/co_await(g)/h", 20},
                                     {"request/f/co_await(g)/timer", 40}});
}

TEST_CASE("a thread that was busy all the time is to blame, and what it does afterwards is not") {
  CoroutineCase c;
  auto& t = c.thread(1);
  c.begin_f(t, 0, 10);
  t.frame(c.h_entry, 12 * kUs, 60 * kUs);
  t.resume(1, 60 * kUs, c.g_awaited);
  t.frame(c.f_entry, 60 * kUs, 70 * kUs);
  t.suspend(70 * kUs);
  t.frame(c.h_entry, 70 * kUs, 99 * kUs);
  auto& u = c.thread(2);
  u.end(1, 80 * kUs);  // nobody knows for whom
  CHECK(in_us(c.profile()).at("request/f/co_await(g)/h") == 48);
}
