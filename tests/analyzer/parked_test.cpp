// Hand-written recordings of event loops: intervals that a thread leaves and resumes later.
#include <algorithm>

#include "path_case.h"

using namespace vprof;
using test::Case;
using test::leaves;
using test::Leaves;

namespace {

/// A loop that has just polled for [from, to).
void timer_passes(test::ThreadWriter& loop, int64_t from, int64_t to) { loop.epoll_wait(from, to); }

}  // namespace

TEST_CASE("a request that waits for a timer is parked, whatever else the loop does meanwhile") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.frame(c.f_entry, 0, 10);
  t.epoll_wait(12, 30, {0x10}, 5);  // something else
  t.work_for(2, 31);
  t.frame(c.h_entry, 31, 50);
  timer_passes(t, 52, 90);
  t.work_for(1, 92);
  t.frame(c.g_entry, 92, 99);
  t.end(1, 100);
  // The work for the other one delayed nothing: the timer was not due.
  CHECK(leaves(c.profile()) ==
        Leaves{{"request/f", 10},
               {"request/body(request)", 2 + 1},  // until the loop waits; until the end
               {"request/parked(f), resumed by g/timer", 90 - 12},
               {"request/parked(f), resumed by g/untracked(thread)", 2},
               {"request/g", 7}});
}

TEST_CASE("a loop that is busy with another request when the timer is due is to blame") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.frame(c.f_entry, 0, 10);
  timer_passes(t, 10, 40);
  t.work_for(2, 41);
  t.frame(c.h_entry, 41, 80);
  t.work_for(1, 81);
  t.frame(c.g_entry, 81, 90);
  t.end(1, 90);
  CHECK(leaves(c.profile()) == Leaves{{"request/f", 10},
                                      {"request/parked(f), resumed by g/timer", 30},
                                      {"request/parked(f), resumed by g/h", 39},
                                      {"request/parked(f), resumed by g/untracked(thread)", 2},
                                      {"request/g", 9}});
}

TEST_CASE("a loop that never waits while a request is parked is busy all the time") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.frame(c.f_entry, 0, 10);
  t.work_for(2, 10);
  t.frame(c.h_entry, 10, 50);
  t.work_for(1, 50);
  t.end(1, 60);
  CHECK(leaves(c.profile()) ==
        Leaves{{"request/f", 10}, {"request/parked(f)/h", 40}, {"request/body(request)", 10}});
}

TEST_CASE("a return that did not block shows that the loop was busy until then") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.frame(c.f_entry, 0, 10);
  t.epoll_wait(10, 20, {0x10}, 5);
  t.work_for(2, 20);
  t.frame(c.h_entry, 20, 70);
  t.work_for(1, 75, 0, 0, 72);
  t.end(1, 80);
  CHECK(leaves(c.profile()) == Leaves{{"request/f", 10},
                                      {"request/parked(f)/unknown event", 10},
                                      {"request/parked(f)/h", 50},
                                      {"request/parked(f)/untracked(thread)", 5},
                                      {"request/body(request)", 5}});
}

TEST_CASE("who made the descriptor ready explains the wait for it") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.frame(c.f_entry, 0, 10);
  t.epoll_wait(10, 62, {0x10}, 5);
  t.work_for(1, 64);
  t.frame(c.g_entry, 64, 70);
  t.end(1, 70);
  auto& helper = c.thread(2);
  helper.frame(c.h_entry, 5, 58);
  helper.release(VPROF_EV_RELEASE_STREAM, {0x10}, 60);
  CHECK(leaves(c.profile()) ==
        Leaves{{"request/f", 10},
               {"request/parked(f), resumed by g/wait(readiness)/h", 48},
               {"request/parked(f), resumed by g/wait(readiness)/untracked(thread)", 2},
               {"request/parked(f), resumed by g/wait(readiness)/wake-up(readiness)", 2},
               {"request/parked(f), resumed by g/untracked(thread)", 2},
               {"request/g", 6}});
}

TEST_CASE("of several events, only the first is known") {
  for (const bool other_first : {false, true}) {
    Case c;
    auto& t = c.thread(1);
    t.begin(1, 0);
    t.frame(c.f_entry, 0, 10);
    t.epoll_wait(10, 60, {0x10}, 5);
    if (other_first) {
      t.frame(c.h_entry, 60, 70);  // a handler without a mark
    }
    t.work_for(1, 70);
    t.end(1, 80);
    const auto result = leaves(c.profile());
    CHECK(result.contains("request/parked(f)/unknown event") == other_first);
    CHECK(result.contains("request/parked(f)/readiness") == !other_first);
  }
}

TEST_CASE("what a loop calls for the one descriptor that was ready hides nothing") {
  struct Situation {
    uint64_t aux, limit;  // ns to microseconds: see vprof_aux
    bool other_request;
    bool known;
  };
  constexpr uint64_t kTenMs = 10'001;
  const std::vector<Situation> situations = {
      {VPROF_AUX_ONE_READY, VPROF_NO_LIMIT, false, true},
      {VPROF_AUX_ONE_READY, kTenMs, false, true},         // no timer was due for 10 ms
      {VPROF_AUX_ONE_READY, 1001, false, false},          // perhaps a timer was
      {VPROF_AUX_ONE_READY, 0, false, false},             // an older recording
      {0, VPROF_NO_LIMIT, false, false},                  // perhaps the second descriptor
      {VPROF_AUX_ONE_READY, VPROF_NO_LIMIT, true, false}  // which may have resumed this one
  };
  for (const Situation& situation : situations) {
    CAPTURE(situation.aux, situation.limit, situation.other_request);
    Case c;
    auto& t = c.thread(1);
    t.begin(1, 0);
    t.frame(c.f_entry, 0, 10);
    t.epoll_wait(10, 60, {0x10, false, 0, situation.aux, situation.limit}, 5);
    if (situation.other_request) {
      t.work_for(2, 61);
    }
    t.frame(c.h_entry, 61, 70);
    t.work_for(1, 70, 0, 0, 60, situation.other_request ? 1 : 0);
    t.end(1, 80);
    auto& helper = c.thread(2);
    helper.frame(c.g_entry, 5, 50);
    helper.release(VPROF_EV_RELEASE_STREAM, {0x10}, 52);
    const auto result = leaves(c.profile());
    CHECK(result.contains("request/parked(f)/unknown event") == !situation.known);
    CHECK(result.contains("request/parked(f)/wait(readiness)/g") == situation.known);
    CHECK(result.at("request/parked(f)/h") == 9);
  }
}

TEST_CASE("the functions of a park are those of the request, not those of the loop") {
  Case c;
  const uint32_t loop = c.sites.function_site(c.sites.function("loop", 5));
  const uint32_t turn = c.sites.function_site(c.sites.function("turn", 4));
  auto& t = c.thread(1);
  t.begin(1, 2);
  t.frame(c.h_entry, 3, 5);
  t.frame(c.f_entry, 1, 10);  // the begin is in it
  t.frame(turn, 0, 12);
  timer_passes(t, 13, 50);
  t.work_for(1, 53);
  t.frame(c.h_entry, 54, 60);
  t.frame(c.g_entry, 52, 70);
  t.end(1, 72);
  t.frame(turn, 12, 80);
  t.frame(loop, 0, 90);
  const auto result = leaves(c.profile());
  CHECK(result.at("request/parked(f), resumed by g/timer") == 37);
  CHECK(result.at("request/parked(f), resumed by g/loop/turn/body(turn)") == 2);
}

TEST_CASE("the call of an annotation is no function that leaves or resumes a request") {
  Case c;
  const uint32_t begin = c.sites.call_site(c.f, c.sites.library("vprof_begin"));
  const uint32_t resume = c.sites.call_site(c.g, c.sites.library("vprof_switch"));
  auto& t = c.thread(1);
  t.begin(1, 2);
  t.frame(begin, 1, 3);
  t.frame(c.f_entry, 0, 10);
  timer_passes(t, 13, 50);
  t.work_for(1, 54);
  t.frame(resume, 53, 55);
  t.frame(c.g_entry, 52, 70);
  t.end(1, 70);
  CHECK(leaves(c.profile()).at("request/parked(f), resumed by g/timer") == 37);
}

TEST_CASE("a request that waits for an answer in its own function is not parked") {
  for (const bool switches : {false, true}) {
    Case c;
    auto& t = c.thread(1);
    t.begin(1, 0);
    t.epoll_wait(10, 40, {0x10}, 5);
    t.frame(c.f_entry, 0, 50);
    if (switches) {
      t.work_for(1, 55);
    }
    t.end(1, 60);
    CHECK(leaves(c.profile()) == Leaves{{"request/f/body(f)", 20},
                                        {"request/f/wait(poll)", 30},
                                        {"request/body(request)", 10}});
  }
}

TEST_CASE("a poll in the handler of another request is that handler's work") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.frame(c.f_entry, 0, 10);
  timer_passes(t, 10, 20);
  t.work_for(2, 22);
  t.epoll_wait(25, 70, {0x10}, 5);
  t.frame(c.h_entry, 20, 75);
  t.work_for(1, 76);
  t.end(1, 80);
  t.end(2, 90);  // of an interval that began before
  CHECK(leaves(c.profile()) == Leaves{{"request/f", 10},
                                      {"request/parked(f)/timer", 10},
                                      {"request/parked(f)/h/body(h)", 10},
                                      {"request/parked(f)/h/wait(poll)", 45},
                                      {"request/parked(f)/untracked(thread)", 1},
                                      {"request/body(request)", 4}});
}

TEST_CASE("without a switch, only the waits of the loop are known not to be of the request") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.frame(c.f_entry, 0, 10);
  t.epoll_wait(12, 30, {0x10}, 5);
  t.frame(c.h_entry, 31, 50);  // perhaps of this request
  timer_passes(t, 52, 90);
  t.frame(c.g_entry, 92, 99);
  t.end(1, 100);
  CHECK(leaves(c.profile()) == Leaves{{"request/f", 10},
                                      {"request/parked(f)/unknown event", 18 + 38},
                                      {"request/h", 19},
                                      {"request/g", 7},
                                      {"request/body(request)", 2 + 1 + 2 + 2 + 1}});
}

TEST_CASE("a function that waits for one descriptor is no event loop") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.frame(c.f_entry, 0, 10);
  t.wait(VPROF_EV_WAIT_POLL, {.address = 0x10, .aux = VPROF_AUX_POLL}, 12, 30);
  t.end(1, 40);
  CHECK(leaves(c.profile()) ==
        Leaves{{"request/f", 10}, {"request/wait(poll)", 18}, {"request/body(request)", 12}});
}

TEST_CASE("an interval without a key is all that its thread does") {
  Case c;
  auto& t = c.thread(1);
  const uint64_t id = VPROF_RUNTIME_ID | 1;
  t.begin(id, 0, 0, VPROF_INTERVAL_PROCESS_LOCAL);
  t.frame(c.f_entry, 0, 10);
  t.epoll_wait(12, 30, {0x10}, 5);
  t.work_for(id, 32, 0, VPROF_INTERVAL_PROCESS_LOCAL);
  t.end(id, 40, 0, VPROF_INTERVAL_PROCESS_LOCAL);
  CHECK(leaves(c.profile()) ==
        Leaves{{"request/f", 10}, {"request/wait(poll)", 18}, {"request/body(request)", 12}});
}

TEST_CASE("a request that moves to the loop of another thread is parked until that returns") {
  Case c;
  auto& a = c.thread(1);
  a.begin(1, 100);
  a.release(VPROF_EV_RELEASE_STREAM, {0x10}, 118);
  a.frame(c.f_entry, 100, 120);
  a.epoll_wait(122, 300, {0x20}, 6);
  auto& b = c.thread(2);
  b.epoll_wait(50, 124, {0x10}, 5);
  b.work_for(1, 125);
  b.frame(c.g_entry, 125, 130);
  b.end(1, 130);
  CHECK(leaves(c.profile()) == Leaves{{"request/f", 20},
                                      {"request/body(request)", 2},
                                      {"request/parked(f), resumed by g/wait(readiness)", 2},
                                      {"request/parked(f), resumed by g/untracked(thread)", 1},
                                      {"request/g", 5}});
}

TEST_CASE("intervals within a request park with it") {
  Case c;
  c.sites.intervals = {"request", "step"};
  auto& t = c.thread(1);
  t.begin(1, 0, 0);
  t.begin(7, 5, 1);
  t.frame(c.f_entry, 0, 10);
  timer_passes(t, 10, 40);
  t.work_for(1, 42, 0);
  t.end(7, 48, 1);
  t.end(1, 50, 0);
  analyzer::Options options;
  options.interval = "request";
  CHECK(leaves(c.profile(options)) == Leaves{{"request/f", 10},
                                             {"request/parked(f)/timer", 30},
                                             {"request/parked(f)/untracked(thread)", 2},
                                             {"request/body(request)", 8}});
  options.interval = "step";
  // The switch was to the request.
  CHECK(leaves(c.profile(options)) == Leaves{{"step/f", 5},
                                             {"step/parked(f)/unknown event", 30},
                                             {"step/body(step)", 2},
                                             {"step/parked(f)/untracked(thread)", 6}});
}

TEST_CASE("a request that begins after another one was not ready with it if one descriptor was") {
  Case c;
  auto& t = c.thread(1);
  t.epoll_wait(0, 1'000'000, {0x10}, 5);
  t.begin(1, 1'100'000, 0, 0, 1'000'000, VPROF_NO_BATCH);
  t.end(1, 3'100'000);
  t.begin(2, 3'200'000, 0, 0, 1'000'000, VPROF_NO_BATCH + 1);
  t.end(2, 5'200'000);
  const analyzer::LoopQueueSummary queue = c.profile().interval.loop_queue;
  CHECK(queue.begun == 2);
  CHECK(queue.waited == 0);
  CHECK(queue.mean_ns == 0);
}

TEST_CASE(
    "executions of a function wait for the loop before their begin as requests with keys do") {
  Case c;
  auto& t = c.thread(1);
  constexpr uint64_t kFirst = VPROF_RUNTIME_ID + 1;
  t.epoll_wait(0, 1'000'000, {0x10}, 5);
  for (const uint64_t i : {0, 1, 2}) {
    const auto start = static_cast<int64_t>(1'100'000 + i * 1'000'000);
    const uint64_t since = i < 2 ? i : VPROF_NO_BATCH + i;
    t.begin(kFirst + i, start, 0, VPROF_INTERVAL_PROCESS_LOCAL, 1'000'000, since);
    t.end(kFirst + i, start + 900'000, 0, VPROF_INTERVAL_PROCESS_LOCAL);
  }
  const analyzer::LoopQueueSummary queue = c.profile().interval.loop_queue;
  CHECK(queue.begun == 3);
  CHECK(queue.waited == 1);
  CHECK(queue.mean_ns == Approx(1.1e6 / 3));
}

TEST_CASE("what a request waits for the loop before its begin is told beside the latency") {
  Case c;
  auto& t = c.thread(1);
  t.epoll_wait(0, 1'000'000, {0x10}, 5);
  t.begin(1, 1'100'000, 0, 0, 1'000'000, 0);  // the first of the batch: its own begin took so long
  t.end(1, 3'100'000);
  t.begin(2, 3'200'000, 0, 0, 1'000'000, 1);
  t.end(2, 5'200'000);
  const auto profile = c.profile();
  CHECK(profile.interval.mean_ns == Approx(2e6));
  const analyzer::LoopQueueSummary& queue = profile.interval.loop_queue;
  CHECK(queue.begun == 2);
  CHECK(queue.waited == 1);
  CHECK(queue.mean_ns == Approx(1.1e6));
  CHECK(queue.p99_ns == Approx(2.2e6));
  CHECK(queue.share == Approx(0.55));
  // Profiles add up.
  const auto twice = analyzer::merge({{"a.vprof", profile.bytes}, {"b.vprof", profile.bytes}}, {});
  REQUIRE(twice);
  CHECK(twice->interval.loop_queue.begun == 4);
  CHECK(twice->interval.loop_queue.waited == 2);
  CHECK(twice->interval.loop_queue.mean_ns == Approx(1.1e6));
  CHECK(twice->interval.loop_queue.p99_ns == Approx(2.2e6));
  CHECK(twice->interval.loop_queue.share == Approx(0.55));
}
