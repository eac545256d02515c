// Hand-written recordings of intervals that move from thread to thread, and of their ids.
#include "path_case.h"

using namespace vprof;
using test::Case;
using test::leaves;
using test::Leaves;

TEST_CASE("an interval moves over three threads through two queues") {
  Case c;
  c.sites.sync("enqueue", "push");
  c.sites.sync("dequeue", "pop");
  auto& a = c.thread(1);
  auto& b = c.thread(2);
  auto& d = c.thread(3);
  a.begin(1, 0);
  a.enqueue(0xaa, 20, 0);
  a.frame(c.f_entry, 10, 30);
  a.work_for(0, 35);
  b.frame(c.h_entry, 15, 40);  // still busy with other work
  b.dequeue(0xaa, 50, 1);
  b.work_for(1, 55);
  b.enqueue(0xbb, 70, 0);
  b.frame(c.g_entry, 52, 75);
  b.work_for(0, 80);
  d.dequeue(0xbb, 90, 1);
  d.work_for(1, 95);
  d.frame(c.h_entry, 96, 99);
  d.end(1, 100);
  const auto profile = c.profile();
  CHECK(leaves(profile) == Leaves{{"request/body(request)", 10 + 2 + 6 + 1},
                                  {"request/f", 10},
                                  {"request/queue(pop)/h", 20},
                                  {"request/queue(pop)/untracked(thread)", 10 + 20},
                                  {"request/g", 18},
                                  {"request/h", 3}});
}

TEST_CASE("addresses of tasks are reused: an enqueue explains one dequeue only") {
  Case c;
  c.sites.sync("enqueue", "push");
  c.sites.sync("dequeue", "pop");
  c.thread(1).begin(1, 0);
  c.thread(1).enqueue(0xaa, 10, 0);
  c.thread(2).dequeue(0xaa, 20, 1);
  c.thread(2).dequeue(0xaa, 50, 1);  // its enqueue is missing
  c.thread(2).work_for(1, 60);
  c.thread(2).end(1, 70);
  c.thread(1).work_for(0, 40);
  // The second dequeue has no known enqueue, so the first one belongs to this interval.
  const auto result = leaves(c.profile());
  CHECK(result.at("request/queue(pop)/untracked(thread)") == 10);
  CHECK(result.at("request/body(request)") == 60);
}

TEST_CASE("without a queue, the path continues where the interval was active last") {
  Case c;
  c.thread(1).begin(1, 0);
  c.thread(1).frame(c.f_entry, 0, 30);
  c.thread(1).work_for(0, 30);
  c.thread(2).frame(c.g_entry, 20, 45);
  c.thread(2).work_for(1, 50);
  c.thread(2).end(1, 60);
  CHECK(leaves(c.profile()) == Leaves{{"request/body(request)", 10},
                                      {"request/f", 30},
                                      {"request/queue(hand-off)/g", 15},
                                      {"request/queue(hand-off)/untracked(thread)", 5}});
}

TEST_CASE("a start segment that did not lead to the end is off the path (figure 2.2)") {
  Case c;
  c.thread(1).begin(1, 0);
  c.thread(1).frame(c.f_entry, 0, 90);  // continues beside the worker
  c.thread(1).work_for(0, 90);
  c.thread(2).work_for(1, 20);
  c.thread(2).frame(c.g_entry, 20, 95);
  c.thread(2).end(1, 100);
  CHECK(leaves(c.profile()) ==
        Leaves{{"request/body(request)", 5}, {"request/f", 20}, {"request/g", 75}});
}

TEST_CASE("a thread that sleeps hands nothing over: it had done so before") {
  // Thread 1 accepts a request, puts it into a queue that nobody knows of, and waits for the next
  // client. Thread 2 is busy with g before it takes the request.
  const auto found = [](uint32_t event, const auto& inside) {
    Case c;
    c.sites.sync("acquire", "wait_for_room");
    auto& acceptor = c.thread(1);
    acceptor.begin(1, 0);
    inside(acceptor);
    acceptor.wait(event, {0x20, false, 0}, 25, 95);
    acceptor.frame(c.f_entry, 10, 97);
    auto& worker = c.thread(2);
    worker.frame(c.g_entry, 5, 60);
    worker.work_for(1, 70);
    worker.end(1, 100);
    return leaves(c.profile());
  };
  const auto nothing = [](auto&) {};
  const Leaves handed_over{{"request/body(request)", 10 + 30},
                           {"request/f", 15},
                           {"request/queue(hand-off)/g", 35},
                           {"request/queue(hand-off)/untracked(thread)", 10}};
  for (const uint32_t event : {VPROF_EV_WAIT_STREAM, VPROF_EV_WAIT_POLL, VPROF_EV_WAIT_TIMER,
                               VPROF_EV_WAIT_COND, VPROF_EV_WAIT_MUTEX, VPROF_EV_WAIT_FILE}) {
    CAPTURE(event);
    CHECK(found(event, nothing) == handed_over);
  }
  // Where it waits for room, it hands over at the end, as in an application's own lock.
  CHECK(found(VPROF_EV_WAIT_SEND, nothing) == Leaves{{"request/body(request)", 10 + 30},
                                                     {"request/f/body(f)", 15},
                                                     {"request/f/wait(write)", 45}});
  CHECK(found(VPROF_EV_WAIT_APP, nothing) == Leaves{{"request/body(request)", 10 + 30},
                                                    {"request/f/body(f)", 15},
                                                    {"request/f/wait(wait_for_room)", 45}});
  // Within that lock it sleeps, or has slept.
  const auto sleeps = [&](int64_t from, int64_t to) {
    return found(VPROF_EV_WAIT_APP,
                 [&](auto& acceptor) { acceptor.wait(VPROF_EV_WAIT_TIMER, {}, from, to); });
  };
  CHECK(sleeps(40, 90).at("request/queue(hand-off)/g") == 20);
  CHECK(!sleeps(40, 69).contains("request/queue(hand-off)/g"));
}

TEST_CASE("a thread that sleeps when another one ends its interval had handed it over") {
  Case c;
  c.thread(1).begin(1, 0);
  c.thread(1).wait(VPROF_EV_WAIT_STREAM, {0x20}, 20, 120);
  c.thread(2).frame(c.g_entry, 10, 60);
  c.thread(2).frame(c.h_entry, 65, 99);  // for the interval, but nothing says so
  c.thread(2).end(1, 100);
  CHECK(leaves(c.profile()) == Leaves{{"request/body(request)", 20},
                                      {"request/queue(hand-off)/g", 40},
                                      {"request/queue(hand-off)/h", 34},
                                      {"request/queue(hand-off)/untracked(thread)", 6}});
}

TEST_CASE("an end on a thread that never worked for the interval") {
  Case c;
  c.thread(1).begin(1, 0);
  c.thread(1).frame(c.f_entry, 0, 40);
  c.thread(1).work_for(0, 40);
  c.thread(2).end(1, 50);
  CHECK(leaves(c.profile()) ==
        Leaves{{"request/f", 40}, {"request/queue(hand-off)/untracked(thread)", 10}});
}

TEST_CASE("time in which no thread worked for the interval is untracked") {
  Case c;
  c.thread(1).begin(1, 0);
  c.thread(1).work_for(0, 0);  // at once
  c.thread(2).work_for(1, 70);
  c.thread(2).end(1, 100);
  CHECK(leaves(c.profile()) == Leaves{{"request/body(request)", 30}, {"request/untracked", 70}});
}

TEST_CASE("ids are reused, local ids belong to their process, and a second begin ends nothing") {
  Case c;
  c.processes.emplace_back(200, 1);
  for (const size_t p : {0u, 1u}) {
    auto& t = c.thread(1, p);
    t.begin(7, 10, 0, VPROF_INTERVAL_PROCESS_LOCAL);
    t.end(7, 20 + static_cast<int64_t>(p), 0, VPROF_INTERVAL_PROCESS_LOCAL);
    t.begin(7, 30, 0, VPROF_INTERVAL_PROCESS_LOCAL);
    t.begin(7, 40, 0, VPROF_INTERVAL_PROCESS_LOCAL);  // the previous one stays incomplete
    t.end(7, 60, 0, VPROF_INTERVAL_PROCESS_LOCAL);
    t.end(7, 65, 0, VPROF_INTERVAL_PROCESS_LOCAL);  // no begin
  }
  const auto profile = c.profile();
  CHECK(profile.interval.count == 4);
  CHECK(profile.interval.incomplete == 4);
  CHECK(profile.interval.mean_ns == Approx((10 + 11 + 20 + 20) / 4.0));
}

TEST_CASE("a convoy folds onto its first wait") {
  Case c;
  // Threads 1..5 want the same lock in f; each holds it for 10.
  for (uint32_t i = 1; i <= 5; ++i) {
    auto& t = c.thread(i);
    const int64_t got = 10 * static_cast<int64_t>(i);
    if (i > 1) {
      t.wait(VPROF_EV_WAIT_MUTEX, {0x10}, 5, got + 1, i - 1);
    }
    t.release(VPROF_EV_RELEASE_MUTEX, {0x10}, got + 10, i);
    t.frame(c.f_entry, 0, got + 10);
  }
  auto& last = c.thread(5);
  last.begin(1, 0);
  last.end(1, 60);
  CHECK(leaves(c.profile()) ==
        Leaves{{"request/f/body(f)", 5 + 9},
               {"request/f/wait(pthread_mutex_lock)/f", 15 + 9 * 3},
               {"request/f/wait(pthread_mutex_lock)/wake-up(pthread_mutex_lock)", 4}});
}

TEST_CASE("the most frequent interval is analysed, unless one is named") {
  Case c;
  c.sites.intervals = {"get", "set"};
  auto& t = c.thread(1);
  t.begin(1, 0, 0);
  t.end(1, 10, 0);
  for (int i = 0; i < 2; ++i) {
    t.begin(2, 100 + i * 100, 1);
    t.end(2, 150 + i * 100, 1);
  }
  CHECK(c.profile().interval.name == "set");
  analyzer::Options options;
  options.interval = "get";
  CHECK(c.profile(options).interval.count == 1);
  options.interval = "put";
  const auto none = analyzer::analyze(c.dir.path(), c.sites.write(c.dir.path()), options);
  REQUIRE(!none);
  CHECK(none.error().message.find("'put'") != std::string::npos);
  CHECK(none.error().message.find("get, set") != std::string::npos);
}

TEST_CASE("an interval of another kind that begins inside leaves the outer one its thread") {
  Case c;
  c.sites.intervals = {"request", "step"};
  auto& t = c.thread(1);
  t.begin(1, 0, 0);
  t.frame(c.f_entry, 5, 20);
  t.begin(1, 20, 1);
  t.frame(c.g_entry, 22, 28);
  t.end(1, 30, 1);
  t.frame(c.h_entry, 35, 40);
  t.end(1, 50, 0);
  analyzer::Options options;
  options.interval = "request";
  CHECK(
      leaves(c.profile(options)) ==
      Leaves{{"request/f", 15}, {"request/g", 6}, {"request/h", 5}, {"request/body(request)", 24}});
  options.interval = "step";
  CHECK(leaves(c.profile(options)) == Leaves{{"step/g", 6}, {"step/body(step)", 4}});
}

TEST_CASE("a switch takes the thread away from intervals of all kinds") {
  Case c;
  c.sites.intervals = {"get", "set"};
  auto& t = c.thread(1);
  t.begin(1, 0, 0);
  t.begin(2, 10, 1);
  t.work_for(2, 15, 1);
  t.frame(c.g_entry, 15, 40);
  t.work_for(1, 40, 0);
  t.end(1, 50, 0);
  t.work_for(2, 55, 1);
  t.end(2, 60, 1);
  analyzer::Options options;
  options.interval = "get";
  CHECK(leaves(c.profile(options)) == Leaves{{"get/body(get)", 25}, {"get/parked/g", 25}});
  options.interval = "set";
  CHECK(leaves(c.profile(options)) ==
        Leaves{{"set/g", 25}, {"set/body(set)", 5 + 5}, {"set/parked(g)/untracked(thread)", 15}});
}
