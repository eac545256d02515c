// Hand-written recordings of waits for locks, found by random programs: holds that were over before
// the wait, and waits of which only a part is on the path.
#include "path_case.h"

using namespace vprof;
using test::Case;
using test::leaves;
using test::Leaves;

TEST_CASE("whoever gave the lock back before the wait, unrecorded, is not to blame") {
  Case c;
  auto& waiter = c.thread(1);
  auto& holder = c.thread(2);
  auto& earlier = c.thread(3);
  // Thread 3 gets the lock after a wait, and gives it back while nobody waits.
  earlier.wait(VPROF_EV_WAIT_MUTEX, {0x10}, 5, 20, 1);
  earlier.frame(c.h_entry, 0, 200);
  holder.release(VPROF_EV_RELEASE_MUTEX, {0x10}, 18, 1);
  waiter.begin(1, 30);
  waiter.wait(VPROF_EV_WAIT_MUTEX, {0x10}, 50, 90, 2);
  waiter.end(1, 100);
  holder.release(VPROF_EV_RELEASE_MUTEX, {0x10}, 70, 2);
  holder.frame(c.g_entry, 0, 95);
  CHECK(leaves(c.profile()) ==
        Leaves{{"request/body(request)", 30},
               {"request/wait(pthread_mutex_lock)/g", 20},
               {"request/wait(pthread_mutex_lock)/wake-up(pthread_mutex_lock)", 20}});
}

TEST_CASE("the part of a wait in which the lock was free is its body, also below another wait") {
  const bool semaphore = GENERATE(false, true);
  const uint32_t wait = semaphore ? VPROF_EV_WAIT_SEM : VPROF_EV_WAIT_SPIN;
  const uint32_t release = semaphore ? VPROF_EV_RELEASE_SEM : VPROF_EV_RELEASE_SPIN;
  Case c;
  auto& waiter = c.thread(1);
  auto& holder = c.thread(2);
  auto& other = c.thread(3);
  // The holder was woken at 40, and the interval's wait begins at 45.
  holder.wait(wait, {0x20}, 10, 50, 1);
  other.release(release, {0x20}, 40, 1);
  waiter.begin(1, 30);
  waiter.wait(VPROF_EV_WAIT_MUTEX, {0x10}, 45, 90, 1);
  waiter.end(1, 100);
  holder.release(VPROF_EV_RELEASE_MUTEX, {0x10}, 80, 1);
  const auto profile = c.profile();
  const std::string name = semaphore ? "sem_wait" : "pthread_spin_lock";
  CHECK(leaves(profile) ==
        Leaves{{"request/body(request)", 25},
               {"request/wait(pthread_mutex_lock)/wait(" + name + ")", 5},
               {"request/wait(pthread_mutex_lock)/untracked(thread)", 30},
               {"request/wait(pthread_mutex_lock)/wake-up(pthread_mutex_lock)", 10}});
  CHECK(profile.losses.unknown_waits == 0);
}

TEST_CASE("a semaphore is used up until the post, also if only an earlier part is on the path") {
  Case c;
  auto& waiter = c.thread(1);
  auto& reader = c.thread(2);
  auto& poster = c.thread(3);
  // The reader holds the lock, and the writer waits for it. What the reader waits for is posted at
  // 90; the path ends at 60, where another reader is to blame.
  auto& second = c.thread(4);
  waiter.begin(1, 0);
  waiter.wait(VPROF_EV_WAIT_WRLOCK, {0x10}, 20, 120, 2);
  waiter.end(1, 130);
  reader.wait(VPROF_EV_WAIT_SEM, {0x20}, 10, 95, 1);
  reader.release(VPROF_EV_RELEASE_RWLOCK, {0x10}, 100, 1);
  second.acquire(VPROF_EV_ACQUIRE_RWLOCK, {0x10}, 60, 1);
  second.release(VPROF_EV_RELEASE_RWLOCK, {0x10}, 110, 2);
  second.frame(c.h_entry, 0, 115);
  poster.release(VPROF_EV_RELEASE_SEM, {0x20}, 90, 1);
  poster.frame(c.g_entry, 0, 92);
  // [20, 60) the reader, [60, 80) the reader, [80, 100) and [100, 110) the second.
  CHECK(leaves(c.profile()) ==
        Leaves{{"request/body(request)", 30},
               {"request/wait(pthread_rwlock_wrlock)/wait(sem_wait)/g", 60},
               {"request/wait(pthread_rwlock_wrlock)/h", 30},
               {"request/wait(pthread_rwlock_wrlock)/wake-up(pthread_rwlock_wrlock)", 10}});
}

TEST_CASE(
    "what readers held together is divided for the whole wait, whatever part is on the path") {
  Case c;
  auto& waiter = c.thread(1);
  auto& writer = c.thread(2);
  auto& a = c.thread(3);
  auto& b = c.thread(4);
  // The writer waits in [10, 60) for a: [10, 40), and b: [20, 50). They divide [20, 40).
  writer.wait(VPROF_EV_WAIT_WRLOCK, {0x20}, 10, 60, 2);
  a.release(VPROF_EV_RELEASE_RWLOCK, {0x20}, 40, 1);
  a.frame(c.g_entry, 0, 55);
  b.acquire(VPROF_EV_ACQUIRE_RWLOCK, {0x20}, 20, 1);
  b.release(VPROF_EV_RELEASE_RWLOCK, {0x20}, 50, 2);
  b.frame(c.h_entry, 0, 55);
  // The interval is in it from 24 on.
  waiter.begin(1, 24);
  waiter.wait(VPROF_EV_WAIT_MUTEX, {0x10}, 24, 80, 1);
  waiter.end(1, 80);
  writer.release(VPROF_EV_RELEASE_MUTEX, {0x10}, 70, 1);
  const std::string wait = "request/wait(pthread_mutex_lock)/";
  CHECK(leaves(c.profile()) ==
        Leaves{{wait + "wait(pthread_rwlock_wrlock)/g", 6},
               {wait + "wait(pthread_rwlock_wrlock)/h", 20},
               {wait + "wait(pthread_rwlock_wrlock)/wake-up(pthread_rwlock_wrlock)", 10},
               {wait + "untracked(thread)", 10},
               {wait + "wake-up(pthread_mutex_lock)", 10}});
}

TEST_CASE("readers with the same hold share it; a reader that has the lock twice is one holder") {
  Case c;
  auto& waiter = c.thread(1);
  auto& a = c.thread(2);
  auto& b = c.thread(3);
  waiter.begin(1, 0);
  waiter.wait(VPROF_EV_WAIT_WRLOCK, {0x10}, 10, 60, 3);
  waiter.end(1, 60);
  a.release(VPROF_EV_RELEASE_RWLOCK, {0x10}, 50, 1);
  a.release(VPROF_EV_RELEASE_RWLOCK, {0x10}, 50, 2);
  a.frame(c.g_entry, 0, 55);
  b.release(VPROF_EV_RELEASE_RWLOCK, {0x10}, 50, 3);
  b.frame(c.h_entry, 0, 55);
  const std::string wait = "request/wait(pthread_rwlock_wrlock)/";
  CHECK(leaves(c.profile()) == Leaves{{"request/body(request)", 10},
                                      {wait + "g", 20},
                                      {wait + "h", 20},
                                      {wait + "wake-up(pthread_rwlock_wrlock)", 10}});
}

TEST_CASE("who ended a wait in slices is to blame for all of them") {
  struct Kind {
    uint32_t wait, release;
    const char* name;
  };
  const Kind kind =
      GENERATE(Kind{VPROF_EV_WAIT_MUTEX, VPROF_EV_RELEASE_MUTEX, "pthread_mutex_lock"},
               Kind{VPROF_EV_WAIT_WRLOCK, VPROF_EV_RELEASE_RWLOCK, "pthread_rwlock_wrlock"},
               Kind{VPROF_EV_WAIT_SEM, VPROF_EV_RELEASE_SEM, "sem_wait"},
               Kind{VPROF_EV_WAIT_FUTEX, VPROF_EV_RELEASE_FUTEX, "futex"});
  CAPTURE(kind.name);
  const test::Object timed_out{0x10, false, 0, VPROF_AUX_TIMED_OUT};
  const std::string wait = std::string("request/wait(") + kind.name + ")/";
  Case c;
  auto& waiter = c.thread(1);
  auto& holder = c.thread(2);
  waiter.begin(1, 0);
  waiter.wait(kind.wait, timed_out, 10, 30);
  waiter.frame(c.f_entry, 30, 31);  // looks whether the client has gone
  waiter.wait(kind.wait, timed_out, 32, 52);
  SECTION("got in the end") {
    waiter.wait(kind.wait, {0x10}, 53, 70, 1);
    waiter.end(1, 80);
    holder.release(kind.release, {0x10}, 65, 1);
    holder.frame(c.g_entry, 0, 75);
    const auto profile = c.profile();
    // Each wait keeps its last nanosecond.
    CHECK(leaves(profile).at(wait + "g") == 19 + 19 + 12);
    CHECK(profile.losses.inferred_edges == 2);
    CHECK(profile.losses.exact_edges == 1);
  }
  SECTION("given up") {
    waiter.end(1, 80);
    holder.release(kind.release, {0x10}, 65, 1);
    holder.frame(c.g_entry, 0, 75);
    CHECK_FALSE(leaves(c.profile()).contains(wait + "g"));
  }
  SECTION("something else was done in between, for longer than the wait") {
    waiter.frame(c.h_entry, 52, 80);
    waiter.wait(kind.wait, {0x10}, 81, 90, 1);
    waiter.end(1, 100);
    holder.release(kind.release, {0x10}, 85, 1);
    holder.frame(c.g_entry, 0, 95);
    CHECK(leaves(c.profile()).at(wait + "g") == 4);
  }
}

TEST_CASE("a poll in slices is ended by what makes the last one return") {
  Case c;
  auto& waiter = c.thread(1);
  auto& writer = c.thread(2);
  const test::Object limit{0, false, 0, VPROF_AUX_TIMED_OUT | VPROF_AUX_POLL};
  waiter.begin(1, 0);
  for (int64_t start = 10; start < 70; start += 20) {
    waiter.wait(VPROF_EV_WAIT_TIMER, limit, start, start + 19);
    // The call is measured: each wait is in a frame of its own.
    waiter.frame(c.g_in_f, start, start + 19);
  }
  waiter.wait(VPROF_EV_WAIT_POLL, {0x10, false, 5, VPROF_AUX_POLL}, 70, 80);
  waiter.frame(c.g_in_f, 70, 80);
  waiter.end(1, 90);
  waiter.frame(c.f_entry, 0, 90);
  writer.release(VPROF_EV_RELEASE_STREAM, {0x10}, 78, 1);
  writer.frame(c.h_entry, 0, 79);
  const Leaves found = leaves(c.profile());
  int64_t blamed = 0;
  for (const auto& [path, ns] : found) {
    CAPTURE(path);
    CHECK(path.find("sleep") == std::string::npos);
    blamed += path.ends_with("/wait(poll)/h") ? ns : 0;
  }
  CHECK(blamed == 3 * 18 + 8);
}

TEST_CASE("slices are found although each call of the sleep is measured, but not of its caller") {
  const bool by_caller = GENERATE(false, true);
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 0);
  for (int64_t start = 10; start < 70; start += 20) {
    t.wait(VPROF_EV_WAIT_TIMER, {0}, start, start + 19);
    if (by_caller) {
      t.frame(c.f_in_g, start, start + 19);
    }
    t.frame(c.g_in_f, start, start + 19);
  }
  t.end(1, 90);
  t.frame(c.f_entry, 0, 90);
  int64_t polled = 0;
  for (const auto& [path, ns] : leaves(c.profile())) {
    polled += path.ends_with("/polled(sleep)") ? ns : 0;
  }
  CHECK(polled == (by_caller ? 0 : 3 * 19));
}

TEST_CASE(
    "a turn after which the thread did what others waited for is not that of a later signal") {
  // The flusher holds the mutex, but while it waits for its next round, or for the signal to stop.
  const std::string wait = "request/wait(pthread_cond_wait)/";
  const bool timed = GENERATE(true, false);
  const uint64_t limit = timed ? VPROF_AUX_TIMED_OUT : 0;
  Case c;
  auto& waiter = c.thread(1);
  auto& flusher = c.thread(2);
  auto& main = c.thread(3);
  auto& source = c.thread(4);
  flusher.name = "flusher";
  main.name = "main";
  source.name = "source";
  waiter.begin(1, 10);
  waiter.condition_wait({0x10}, {0x20}, 20, 60, 1);
  waiter.end(1, 70);
  flusher.condition_wait({0x30, false, 0, limit}, {0x20}, 5, 45);
  flusher.frame(c.g_entry, 45, 55);
  flusher.release(VPROF_EV_RELEASE_COND, {0x10}, 56, 1);
  flusher.release(VPROF_EV_RELEASE_MUTEX, {0x20}, 57, 1);
  flusher.condition_wait({0x30, false, 0, VPROF_AUX_AGAIN}, {0x20}, 57, 97, 2);
  if (!timed) {
    source.release(VPROF_EV_RELEASE_COND, {0x30}, 43, 1);
  }
  main.release(VPROF_EV_RELEASE_COND, {0x30}, 95, 2);
  const Leaves found = leaves(c.profile());
  for (const auto& [path, ns] : found) {
    CAPTURE(path);
    CHECK(path.find("main") == std::string::npos);
  }
  CHECK(found.at(wait + "g") == 10);
  CHECK(found.at(wait + "wait(pthread_cond_wait)" +
                 (timed ? "/time limit" : "/untracked(source)")) == (timed ? 25 : 23));
}
