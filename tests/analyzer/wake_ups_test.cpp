// Hand-written recordings of waits: who ended them, and what the waker did meanwhile. Preemption.
#include "path_case.h"

using namespace vprof;
using test::Case;
using test::leaves;
using test::Leaves;

TEST_CASE("a condition wait that timed out takes no signal from another sleeper") {
  Case c;
  auto& t = c.thread(1);
  auto& early = c.thread(2);
  auto& signaller = c.thread(3);
  const bool marked = GENERATE(true, false);
  t.begin(1, 0);
  t.wait(VPROF_EV_WAIT_COND, {0x10}, 10, 90, 1);
  t.end(1, 100);
  // The first of the two sleepers to return, just after the signal, which was not for it.
  early.wait(VPROF_EV_WAIT_COND, {0x10, false, 0, marked ? VPROF_AUX_TIMED_OUT : 0}, 5, 55, 1);
  signaller.release(VPROF_EV_RELEASE_COND, {0x10}, 50, 1);
  signaller.frame(c.f_entry, 0, 52);
  CHECK(leaves(c.profile()).contains("request/wait(pthread_cond_wait)/f") == marked);
}

TEST_CASE("a thread without a processor was preempted, whatever it was doing") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 100);
  t.frame(c.g_entry, 115, 140);
  t.frame(c.f_entry, 110, 160);
  t.end(1, 200);
  auto& helper = c.thread(0);
  helper.preempted(1, 180, 190);
  helper.preempted(1, 120, 130);
  helper.preempted(1, 95, 104);   // partly before the begin
  helper.preempted(7, 110, 200);  // of an unknown thread
  CHECK(leaves(c.profile()) == Leaves{{"request/body(request)", 36},
                                      {"request/preempted", 14},
                                      {"request/f/body(f)", 25},
                                      {"request/f/g/body(g)", 15},
                                      {"request/f/g/preempted", 10}});
}

TEST_CASE("a preemption may overlap the end of a frame, as its clock differs a little") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 100);
  t.frame(c.f_entry, 110, 160);
  t.end(1, 200);
  c.thread(0).preempted(1, 105, 112);
  c.thread(0).preempted(1, 155, 162);
  const auto profile = c.profile();
  CHECK(leaves(profile) ==
        Leaves{{"request/body(request)", 43}, {"request/preempted", 9}, {"request/f", 48}});
  CHECK(profile.losses.notes.size() == 1);  // about few intervals; none about records that were cut
}

TEST_CASE("the preemption of a waker is blamed; that of the waiter is part of its wait") {
  Case c;
  auto& t = c.thread(1);
  auto& holder = c.thread(2);
  t.begin(1, 0);
  t.wait(VPROF_EV_WAIT_MUTEX, {0x10}, 10, 90, 1);
  t.end(1, 100);
  holder.release(VPROF_EV_RELEASE_MUTEX, {0x10}, 80, 1);
  holder.frame(c.f_entry, 5, 85);
  c.thread(0).preempted(2, 30, 70);
  c.thread(0).preempted(1, 82, 88);  // awake but not running yet: part of the wait
  CHECK(leaves(c.profile()) ==
        Leaves{{"request/body(request)", 20},
               {"request/wait(pthread_mutex_lock)/wake-up(pthread_mutex_lock)", 10},
               {"request/wait(pthread_mutex_lock)/f/body(f)", 30},
               {"request/wait(pthread_mutex_lock)/f/preempted", 40}});
}

TEST_CASE("what the runtime does for itself is no part of an interval") {
  Case c;
  auto& t = c.thread(1);
  t.set_up(10, 90);
  t.begin(1, 100);
  t.set_up(100, 110);
  t.frame(c.g_entry, 115, 140);
  t.set_up(140, 145);
  t.frame(c.f_entry, 112, 160);
  t.end(1, 200);
  t.set_up(200, 230);
  const auto profile = c.profile();
  CHECK(leaves(profile) ==
        Leaves{{"request/body(request)", 42}, {"request/f/body(f)", 18}, {"request/f/g", 25}});
  CHECK(profile.interval.mean_ns == 85);
  REQUIRE(profile.losses.notes.size() == 2);  // the other one is about few intervals
  CHECK(profile.losses.notes[0] ==
        "vprof's own set-up is taken out of 1 interval: 0.000 ms in all");
}

TEST_CASE("nor is what it does for a thread that the interval waits for") {
  Case c;
  auto& t = c.thread(1);
  auto& other = c.thread(2);
  t.begin(1, 0);
  t.wait(VPROF_EV_WAIT_JOIN, {0x10}, 10, 90, 1);
  t.end(1, 100);
  other.set_up(5, 40);
  other.frame(c.f_entry, 45, 70);
  other.release(VPROF_EV_RELEASE_JOIN, {0x10}, 80, 1);
  const auto profile = c.profile();
  CHECK(profile.interval.mean_ns == 70);
  const auto found = leaves(profile);
  CHECK(found.at("request/wait(pthread_join)/f") == 25);
  CHECK(found.at("request/body(request)") == 20);
}

TEST_CASE("what many processes lack is one note with their numbers added up") {
  Case c;
  c.processes.resize(404);
  for (uint32_t p = 0; p < c.processes.size(); ++p) {
    test::ProcessWriter& process = c.processes[p];
    process.header.pid = 1000 + p;
    process.header.classes = VPROF_CLASS_ALL;
    process.header.switches_refused = 13;
    process.header.threads = 3;
    process.header.unwatched = 2;
    process.thread(1).begin(p + 1, 0);
    process.thread(1).end(p + 1, 100);
  }
  const auto notes = c.profile().losses.notes;
  CHECK(std::count_if(notes.begin(), notes.end(), [](const std::string& note) {
          return note.find("context switches") != std::string::npos;
        }) == 1);
  CHECK(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.starts_with("404 processes: context switches of 808 of 1212 threads could not");
  }));
}

TEST_CASE("the report says where preemption could not be recorded") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.end(1, 100);
  auto& header = c.processes[0].header;
  header.classes = VPROF_CLASS_ALL;
  header.switches_refused = 13;
  header.threads = header.unwatched = 1;
  const auto noted = [](const analyzer::Profile& p, const std::string& words) {
    return std::any_of(p.losses.notes.begin(), p.losses.notes.end(), [&](const std::string& note) {
      return note.find(words) != std::string::npos;
    });
  };
  CHECK(noted(c.profile(), "switches of 1 of 1 threads could not be seen (perf_event_open: Perm"));
  header.switches_refused = 0;
  CHECK(noted(c.profile(), "context switches of 1 of 1 threads were not watched"));
  header.unwatched = 0;
  header.let_go = 1;
  CHECK(
      noted(c.profile(), "1 of 1 threads gave up their processor more than 10,000 times a second"));
  header.switches_lost = 5;
  CHECK(noted(c.profile(), "5 context switches were lost"));
  header.classes &= ~uint64_t{VPROF_CLASS_PREEMPTION};
  CHECK(noted(c.profile(), "left out: preemption"));
}

TEST_CASE("a wait is blamed on what its waker did meanwhile") {
  Case c;
  auto& t = c.thread(1);
  auto& u = c.thread(2);
  u.name = "flusher-7";
  t.begin(1, 0);
  t.wait(VPROF_EV_WAIT_MUTEX, {0x10}, 20, 80, 5);
  t.frame(c.f_entry, 10, 90);
  t.end(1, 100);
  u.frame(c.g_entry, 5, 60);
  u.release(VPROF_EV_RELEASE_MUTEX, {0x10}, 10, 4);
  u.release(VPROF_EV_RELEASE_MUTEX, {0x10}, 75, 5);
  const auto profile = c.profile();
  CHECK(leaves(profile) ==
        Leaves{{"request/body(request)", 20},
               {"request/f/body(f)", 20},
               {"request/f/wait(pthread_mutex_lock)/g", 40},
               {"request/f/wait(pthread_mutex_lock)/untracked(flusher)", 15},
               {"request/f/wait(pthread_mutex_lock)/wake-up(pthread_mutex_lock)", 5}});
  CHECK(profile.losses.exact_edges == 1);
}

TEST_CASE("a waker that waited passes the blame on") {
  Case c;
  auto& t = c.thread(1);
  auto& u = c.thread(2);
  auto& v = c.thread(3);
  t.begin(1, 0);
  t.wait(VPROF_EV_WAIT_MUTEX, {0x10}, 20, 80, 1);
  t.frame(c.f_entry, 10, 100);
  t.end(1, 100);
  u.wait(VPROF_EV_WAIT_SEM, {0x20}, 5, 50, 9);
  u.release(VPROF_EV_RELEASE_MUTEX, {0x10}, 75, 1);
  u.frame(c.g_entry, 0, 78);
  v.frame(c.h_entry, 30, 40);
  v.release(VPROF_EV_RELEASE_SEM, {0x20}, 45, 9);
  const auto profile = c.profile();
  const std::string wait = "request/f/wait(pthread_mutex_lock)";
  CHECK(leaves(profile) == Leaves{{"request/body(request)", 10},
                                  {"request/f/body(f)", 30},
                                  {wait + "/g/body(g)", 25},
                                  {wait + "/g/wait(sem_wait)/h", 10},
                                  {wait + "/g/wait(sem_wait)/untracked(thread)", 15},
                                  {wait + "/g/wait(sem_wait)/wake-up(sem_wait)", 5},
                                  {wait + "/wake-up(pthread_mutex_lock)", 5}});
}

TEST_CASE("a wait with an unknown waker stays a wait and is counted") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.wait(VPROF_EV_WAIT_COND, {0x10}, 20, 80, 5);
  t.end(1, 100);
  const auto profile = c.profile();
  CHECK(leaves(profile) ==
        Leaves{{"request/body(request)", 40}, {"request/wait(pthread_cond_wait)", 60}});
  CHECK(profile.losses.unknown_waits == 1);
  CHECK(profile.losses.exact_edges == 0);
}

TEST_CASE("nobody ended a wait whose time limit passed") {
  Case c;
  c.sites.sync("acquire", "lock_wait");
  const uint64_t limit = VPROF_AUX_TIMED_OUT;
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.wait(VPROF_EV_WAIT_MUTEX, {0x10, false, 0, limit}, 5, 15);
  t.wait(VPROF_EV_WAIT_SEM, {0x20, false, 0, limit}, 20, 40);
  t.wait(VPROF_EV_WAIT_FUTEX, {0x30}, 45, 50);
  t.wait(VPROF_EV_WAIT_COND, {0x40, false, 0, limit}, 62, 77);
  t.wait(VPROF_EV_WAIT_APP, {0x50}, 60, 80);
  // Looks in between: it need not have been the limit for which it left.
  t.condition_wait({0x60, false, 0, limit}, {0x70}, 81, 86, 1);
  t.condition_wait({0x60, false, 0, limit | VPROF_AUX_AGAIN}, {0x70}, 87, 92, 2);
  t.end(1, 100);
  const auto profile = c.profile();
  CHECK(leaves(profile) == Leaves{{"request/body(request)", 35},
                                  {"request/wait(pthread_mutex_lock)/time limit", 10},
                                  {"request/wait(sem_wait)/time limit", 20},
                                  {"request/wait(futex)", 5},
                                  {"request/wait(lock_wait)/time limit", 20},
                                  {"request/polled(pthread_cond_wait)", 10}});
  CHECK(profile.losses.outside_waits == 3);
  CHECK(profile.losses.unknown_waits == 3);
}

TEST_CASE("waits for disks, clocks and clients are ended by nothing that is recorded") {
  Case c;
  c.sites.sync("acquire", "flush");
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.wait(VPROF_EV_WAIT_FILE, {0x10}, 10, 20);
  t.wait(VPROF_EV_WAIT_POLL, {0x20}, 30, 40);
  t.wait(VPROF_EV_WAIT_FILE, {0x10}, 52, 57);
  t.wait(VPROF_EV_WAIT_APP, {0x30, false, 1}, 50, 60);  // flushes a log to the disk
  t.wait(VPROF_EV_WAIT_SEM, {0x40}, 72, 77);
  t.wait(VPROF_EV_WAIT_APP, {0x50, false, 1}, 70, 80);
  t.end(1, 100);
  const auto profile = c.profile();
  CHECK(profile.losses.outside_waits == 3);
  CHECK(profile.losses.unknown_waits == 1);
}

TEST_CASE("a wait for a file has the name of the call") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.wait(VPROF_EV_WAIT_FILE, {0x10, false, VPROF_FILE_FDATASYNC}, 10, 20);
  t.wait(VPROF_EV_WAIT_FILE, {0x10, false, VPROF_FILE_PREAD}, 30, 35);
  t.wait(VPROF_EV_WAIT_FILE, {0x10}, 40, 50);  // as older traces have it
  t.end(1, 100);
  CHECK(leaves(c.profile()) == Leaves{{"request/body(request)", 75},
                                      {"request/wait(fdatasync)", 10},
                                      {"request/wait(pread)", 5},
                                      {"request/wait(file I/O)", 10}});
}

TEST_CASE("objects belong to a process unless they are shared in a family") {
  const bool shared = GENERATE(false, true);
  const uint64_t family = GENERATE(1, 2);
  Case c;
  c.processes.emplace_back(200, family);
  c.thread(1).begin(1, 0);
  c.thread(1).wait(VPROF_EV_WAIT_SEM, {0x10, shared}, 20, 80, 5);
  c.thread(1).end(1, 100);
  c.thread(1, 1).frame(c.g_entry, 0, 90);
  c.thread(1, 1).release(VPROF_EV_RELEASE_SEM, {0x10, shared}, 70, 5);
  const bool known = shared && family == 1;
  CHECK(c.profile().losses.exact_edges == (known ? 1u : 0u));
}

TEST_CASE("an application's objects are shared in a family if sites.json says so") {
  const bool shared = GENERATE(false, true);
  Case c;
  c.processes.emplace_back(200, 1);
  c.sites.sync("acquire", "LockTake", shared);
  c.sites.sync("release", "LockGive", shared);
  c.thread(1).begin(1, 0);
  c.thread(1).wait(VPROF_EV_WAIT_APP, {0x10, false, 0}, 20, 80, 0);
  c.thread(1).end(1, 100);
  c.thread(1, 1).frame(c.g_entry, 0, 90);
  c.thread(1, 1).release(VPROF_EV_RELEASE_APP, {0x10, false, 1}, 70, 0);
  CHECK(c.profile().losses.exact_edges == (shared ? 1u : 0u));
}

TEST_CASE("condition: the signal within the wait, then the mutex") {
  Case c;
  auto& t = c.thread(1);
  auto& u = c.thread(2);
  t.begin(1, 0);
  t.wait(VPROF_EV_WAIT_COND, {0x10}, 10, 50, 3);
  t.wait(VPROF_EV_WAIT_MUTEX, {0x20}, 50, 70, 7);
  t.frame(c.f_entry, 5, 75);
  t.end(1, 80);
  u.release(VPROF_EV_RELEASE_COND, {0x10}, 5, 2);
  u.release(VPROF_EV_RELEASE_COND, {0x10}, 45, 3);
  u.frame(c.g_entry, 0, 48);
  u.release(VPROF_EV_RELEASE_MUTEX, {0x20}, 68, 7);
  u.frame(c.h_entry, 50, 69);
  const auto profile = c.profile();
  CHECK(leaves(profile) ==
        Leaves{{"request/body(request)", 10},
               {"request/f/body(f)", 10},
               {"request/f/wait(pthread_cond_wait)/g", 35},
               {"request/f/wait(pthread_cond_wait)/wake-up(pthread_cond_wait)", 5},
               {"request/f/wait(pthread_mutex_lock)/h", 18},
               {"request/f/wait(pthread_mutex_lock)/wake-up(pthread_mutex_lock)", 2}});
  CHECK(profile.losses.exact_edges == 2);
}

TEST_CASE("condition: of several signals, the one that found the thread asleep ended its wait") {
  // By the second one, the only waiter was awake already and waited for the mutex.
  Case c;
  c.thread(1).begin(1, 0);
  c.thread(1).wait(VPROF_EV_WAIT_COND, {0x10}, 10, 50, 4);
  c.thread(1).end(1, 80);
  c.thread(2).name = "first";
  c.thread(2).release(VPROF_EV_RELEASE_COND, {0x10}, 20, 3);
  c.thread(3).name = "late";
  c.thread(3).release(VPROF_EV_RELEASE_COND, {0x10}, 45, 4);
  const auto profile = c.profile();
  CHECK(profile.losses.exact_edges == 1);
  CHECK(leaves(profile).at("request/wait(pthread_cond_wait)/untracked(first)") == 10);
  CHECK(leaves(profile).at("request/wait(pthread_cond_wait)/wake-up(pthread_cond_wait)") == 30);
}

TEST_CASE("condition: each signal goes to the sleeper that returns next") {
  // Threads 1 and 4 sleep. Thread 4 returns before the second signal, so that one was for thread 1.
  const bool crossed = GENERATE(false, true);
  Case c;
  c.thread(1).begin(1, 0);
  c.thread(1).wait(VPROF_EV_WAIT_COND, {0x10}, 10, 50, 4);
  c.thread(1).end(1, 80);
  c.thread(4).wait(VPROF_EV_WAIT_COND, {0x10}, 5, crossed ? 48 : 30, crossed ? 4 : 3);
  c.thread(2).name = "first";
  c.thread(2).release(VPROF_EV_RELEASE_COND, {0x10}, 20, 3);
  c.thread(3).name = "second";
  c.thread(3).release(VPROF_EV_RELEASE_COND, {0x10}, 45, 4);
  const auto profile = c.profile();
  CHECK(leaves(profile).at("request/wait(pthread_cond_wait)/untracked(second)") == 35);
  CHECK(profile.losses.exact_edges == 1);
}

TEST_CASE("condition: wake-ups that cross are inferred, a broadcast alone is exact") {
  // A broadcast wakes both, but what they wait for may have come with the signal after it.
  const bool broadcast = GENERATE(false, true);
  const bool alone = broadcast && GENERATE(false, true);
  Case c;
  c.thread(1).begin(1, 0);
  c.thread(1).wait(VPROF_EV_WAIT_COND, {0x10}, 10, 50, 4);
  c.thread(1).end(1, 80);
  c.thread(4).wait(VPROF_EV_WAIT_COND, {0x10}, 5, 55, 4);
  c.thread(2).release(VPROF_EV_RELEASE_COND, {0x10}, 20, 3, broadcast ? 1 : 0);
  if (!alone) {
    c.thread(3).release(VPROF_EV_RELEASE_COND, {0x10}, 45, 4);
  }
  const auto profile = c.profile();
  CHECK(profile.losses.inferred_edges == (alone ? 0u : 1u));
  CHECK(leaves(profile).at("request/wait(pthread_cond_wait)/wake-up(pthread_cond_wait)") == 30);
}

TEST_CASE("a reader was woken by the first write within its wait") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 100);
  t.wait(VPROF_EV_WAIT_POLL, {0x50}, 120, 180, 9);
  t.end(1, 200);
  auto& writer = c.thread(2);
  writer.release(VPROF_EV_RELEASE_STREAM, {0x50}, 110, 7);  // read before the wait
  writer.release(VPROF_EV_RELEASE_STREAM, {0x50}, 150, 8);
  writer.frame(c.g_entry, 120, 150);
  writer.release(VPROF_EV_RELEASE_STREAM, {0x50}, 170, 9);
  CHECK(leaves(c.profile()) == Leaves{{"request/body(request)", 40},
                                      {"request/wait(poll)/wake-up(poll)", 30},
                                      {"request/wait(poll)/g", 30}});
}

TEST_CASE("the last thread to arrive opens a barrier") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 100);
  t.wait(VPROF_EV_WAIT_BARRIER, {0x50}, 120, 180, 4);
  t.end(1, 200);
  auto& second = c.thread(2);
  second.release(VPROF_EV_RELEASE_BARRIER, {0x50}, 130, 3);
  second.wait(VPROF_EV_WAIT_BARRIER, {0x50}, 130, 180, 4);
  auto& last = c.thread(3);
  last.frame(c.g_entry, 110, 160);
  last.release(VPROF_EV_RELEASE_BARRIER, {0x50}, 160, 4);
  CHECK(leaves(c.profile()) ==
        Leaves{{"request/body(request)", 40},
               {"request/wait(pthread_barrier_wait)/wake-up(pthread_barrier_wait)", 20},
               {"request/wait(pthread_barrier_wait)/g", 40}});
}

TEST_CASE("a sleep has no waker") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 100);
  t.wait(VPROF_EV_WAIT_TIMER, {0}, 120, 180);
  t.end(1, 200);
  CHECK(leaves(c.profile()) == Leaves{{"request/body(request)", 40}, {"request/wait(sleep)", 60}});
}

TEST_CASE("a joined thread is blamed until its end") {
  Case c;
  c.thread(1).begin(1, 0);
  c.thread(1).wait(VPROF_EV_WAIT_JOIN, {0x77}, 10, 60);
  c.thread(1).end(1, 80);
  c.thread(2).frame(c.g_entry, 0, 40);
  c.thread(2).release(VPROF_EV_RELEASE_JOIN, {0x77}, 55);
  const auto result = leaves(c.profile());
  CHECK(result.at("request/wait(pthread_join)/g") == 30);
  CHECK(result.at("request/wait(pthread_join)/untracked(thread)") == 15);
  CHECK(result.at("request/wait(pthread_join)/wake-up(pthread_join)") == 5);
}

TEST_CASE("an application's lock: its waker by time, or that of the lock inside it") {
  Case c;
  c.sites.sync("acquire", "LWLockAcquire");
  c.sites.sync("release", "LWLockRelease");
  auto& t = c.thread(1);
  auto& u = c.thread(2);
  t.begin(1, 0);
  t.wait(VPROF_EV_WAIT_SEM, {0x20}, 15, 60, 7);
  t.wait(VPROF_EV_WAIT_APP, {0x10, false, 0}, 10, 65);
  t.end(1, 80);
  u.frame(c.g_entry, 5, 55);

  SECTION("exact: the only release of the object within the wait") {
    u.release(VPROF_EV_RELEASE_APP, {0x10, false, 1}, 50);
    const auto profile = c.profile();
    CHECK(leaves(profile) == Leaves{{"request/body(request)", 25},
                                    {"request/wait(LWLockAcquire)/g", 40},
                                    {"request/wait(LWLockAcquire)/wake-up(LWLockAcquire)", 15}});
    CHECK(profile.losses.exact_edges == 1);
  }
  SECTION("several: the lock inside knows its waker exactly") {
    u.release(VPROF_EV_RELEASE_APP, {0x10, false, 1}, 30);
    c.thread(3).release(VPROF_EV_RELEASE_APP, {0x10, false, 1}, 40);
    u.release(VPROF_EV_RELEASE_SEM, {0x20}, 54, 7);
    const auto profile = c.profile();
    CHECK(leaves(profile) == Leaves{{"request/body(request)", 25},
                                    {"request/wait(LWLockAcquire)/wake-up(LWLockAcquire)", 16},
                                    {"request/wait(LWLockAcquire)/g", 39}});
  }
  SECTION("several, and the lock inside knows nothing: the last release") {
    u.release(VPROF_EV_RELEASE_APP, {0x10, false, 1}, 30);
    u.release(VPROF_EV_RELEASE_APP, {0x10, false, 1}, 50);
    const auto profile = c.profile();
    CHECK(profile.losses.inferred_edges == 1);
    CHECK(leaves(profile).at("request/wait(LWLockAcquire)/g") == 40);
  }
  SECTION("none: both stay waits") {
    const auto profile = c.profile();
    CHECK(leaves(profile) ==
          Leaves{{"request/body(request)", 25}, {"request/wait(LWLockAcquire)", 55}});
    CHECK(profile.losses.unknown_waits == 1);
  }
}
