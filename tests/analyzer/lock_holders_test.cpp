// Hand-written recordings of locks that are not handed straight on: who held the object at each
// moment of a wait.
#include <fmt/format.h>

#include "path_case.h"

using namespace vprof;
using test::Case;
using test::leaves;
using test::Leaves;

namespace {

constexpr uint32_t kReadWait = VPROF_EV_WAIT_RDLOCK;
constexpr uint32_t kWriteWait = VPROF_EV_WAIT_WRLOCK;
constexpr uint64_t kForReading = 1;

/// One request, [0, 100], that waits for object 0x10 from 10 to 90. Threads 2, 3 and 4 are outside
/// all frames, under their names.
struct WaitCase : Case {
  explicit WaitCase(uint32_t event, uint64_t sequence = 9, uint64_t aux = 0) : event_(event) {
    thread(1).begin(1, 0);
    thread(1).wait(event, {0x10, false, 0, aux}, 10, 90, sequence);
    thread(1).end(1, 100);
    const char* names[] = {"first", "second", "third"};
    for (uint32_t i = 0; i < 3; ++i) {
      thread(2 + i).name = names[i];
    }
  }

  /// What the wait consists of, by the last part of the path.
  Leaves parts() {
    const std::string wait = fmt::format("request/wait({})", vprof_wait_function(event_));
    Leaves found;
    profile_ = profile();
    for (const auto& [path, ns] : leaves(profile_)) {
      if (path.starts_with(wait)) {
        found[path.size() == wait.size() ? "" : path.substr(wait.size() + 1)] = ns;
      }
    }
    return found;
  }
  const analyzer::Losses& losses() const { return profile_.losses; }

 private:
  uint32_t event_;
  analyzer::Profile profile_;
};

}  // namespace

TEST_CASE("a writer waits for a long reader, not for the one that slips in and leaves last") {
  WaitCase c(kWriteWait);
  c.thread(2).release(VPROF_EV_RELEASE_RWLOCK, {0x10}, 70, 1);
  c.thread(3).acquire(VPROF_EV_ACQUIRE_RWLOCK, {0x10}, 60, kForReading);
  c.thread(3).release(VPROF_EV_RELEASE_RWLOCK, {0x10}, 80, 2);
  // Both held it from 60 to 70, so each explains one half of that.
  CHECK(c.parts() == Leaves{{"untracked(first)", 55},
                            {"untracked(second)", 15},
                            {"wake-up(pthread_rwlock_wrlock)", 10}});
  CHECK(c.losses().exact_edges == 1);
}

TEST_CASE("a reader within another one's hold explains nothing") {
  WaitCase c(kWriteWait);
  c.thread(3).acquire(VPROF_EV_ACQUIRE_RWLOCK, {0x10}, 20, kForReading);
  c.thread(3).release(VPROF_EV_RELEASE_RWLOCK, {0x10}, 60, 1);
  c.thread(2).release(VPROF_EV_RELEASE_RWLOCK, {0x10}, 80, 2);
  CHECK(c.parts() == Leaves{{"untracked(first)", 70}, {"wake-up(pthread_rwlock_wrlock)", 10}});
}

TEST_CASE("a reader is not kept waiting by those who read beside it") {
  WaitCase c(kReadWait);
  c.thread(2).release(VPROF_EV_RELEASE_RWLOCK, {0x10}, 70, 1);
  c.thread(3).acquire(VPROF_EV_ACQUIRE_RWLOCK, {0x10}, 72, kForReading);
  c.thread(3).release(VPROF_EV_RELEASE_RWLOCK, {0x10}, 85, 2);
  CHECK(c.parts() == Leaves{{"untracked(first)", 60}, {"wake-up(pthread_rwlock_rdlock)", 20}});
}

TEST_CASE("a thread that barges in is blamed from when it got the mutex") {
  WaitCase c(VPROF_EV_WAIT_MUTEX);
  c.thread(2).release(VPROF_EV_RELEASE_MUTEX, {0x10}, 60, 1);
  c.thread(3).acquire(VPROF_EV_ACQUIRE_MUTEX, {0x10}, 65);
  c.thread(3).release(VPROF_EV_RELEASE_MUTEX, {0x10}, 85, 2);
  CHECK(c.parts() == Leaves{{"untracked(first)", 50},
                            {"untracked(second)", 20},
                            {"wake-up(pthread_mutex_lock)", 10}});
  CHECK(c.losses().exact_edges == 1);
}

TEST_CASE("another waiter holds the mutex from the end of its own wait on") {
  WaitCase c(VPROF_EV_WAIT_MUTEX);
  c.thread(2).release(VPROF_EV_RELEASE_MUTEX, {0x10}, 30, 1);
  c.thread(3).wait(VPROF_EV_WAIT_MUTEX, {0x10}, 5, 40, 1);
  c.thread(3).release(VPROF_EV_RELEASE_MUTEX, {0x10}, 80, 2);
  CHECK(c.parts() == Leaves{{"untracked(first)", 20},
                            {"untracked(second)", 40},
                            {"wake-up(pthread_mutex_lock)", 20}});
}

TEST_CASE("a hold whose release was not recorded lasts until the next thread has the mutex") {
  WaitCase c(VPROF_EV_WAIT_MUTEX);
  c.thread(2).release(VPROF_EV_RELEASE_MUTEX, {0x10}, 60, 1);
  c.thread(3).acquire(VPROF_EV_ACQUIRE_MUTEX, {0x10}, 65);
  CHECK(c.parts() == Leaves{{"untracked(first)", 50},
                            {"untracked(second)", 24},
                            {"wake-up(pthread_mutex_lock)", 6}});
  CHECK(c.losses().inferred_edges == 1);
}

TEST_CASE("who held the mutex before the first known holder is unknown") {
  Case c;
  c.thread(1).begin(1, 0);
  c.thread(1).wait(VPROF_EV_WAIT_MUTEX, {0x10}, 10'000, 90'000, 9);
  c.thread(1).end(1, 100'000);
  c.thread(2).acquire(VPROF_EV_ACQUIRE_MUTEX, {0x10}, 50'000);
  c.thread(2).release(VPROF_EV_RELEASE_MUTEX, {0x10}, 85'000, 2);
  const auto profile = c.profile();
  CHECK(leaves(profile) ==
        Leaves{{"request/body(request)", 20'000},
               {"request/wait(pthread_mutex_lock)/unknown waker", 40'000},
               {"request/wait(pthread_mutex_lock)/untracked(thread)", 35'000},
               {"request/wait(pthread_mutex_lock)/wake-up(pthread_mutex_lock)", 5'000}});
  CHECK(profile.losses.inferred_edges == 1);
}

TEST_CASE("a later holder of the mutex is not blamed") {
  WaitCase c(VPROF_EV_WAIT_MUTEX, 1);
  c.thread(2).release(VPROF_EV_RELEASE_MUTEX, {0x10}, 60, 1);
  c.thread(3).release(VPROF_EV_RELEASE_MUTEX, {0x10}, 95, 2);  // got it after the request
  CHECK(c.parts() == Leaves{{"untracked(first)", 50}, {"wake-up(pthread_mutex_lock)", 30}});
}

TEST_CASE("a second post before the waiter has run changes nothing") {
  WaitCase c(VPROF_EV_WAIT_SEM);
  c.thread(2).release(VPROF_EV_RELEASE_SEM, {0x10}, 60, 1);
  c.thread(3).release(VPROF_EV_RELEASE_SEM, {0x10}, 70, 2);
  CHECK(c.parts() == Leaves{{"untracked(first)", 50}, {"wake-up(sem_wait)", 30}});
  CHECK(c.losses().exact_edges == 1);
}

TEST_CASE("of two posts at the same nanosecond the one with the lower number came first") {
  WaitCase c(VPROF_EV_WAIT_SEM);
  c.thread(2).release(VPROF_EV_RELEASE_SEM, {0x10}, 60, 2);
  c.thread(3).release(VPROF_EV_RELEASE_SEM, {0x10}, 60, 1);
  SECTION("nobody takes the second") {
    CHECK(c.parts() == Leaves{{"untracked(second)", 50}, {"wake-up(sem_wait)", 30}});
  }
  SECTION("somebody else takes one of them at that nanosecond") {
    c.thread(4).acquire(VPROF_EV_ACQUIRE_SEM, {0x10}, 60);
    CHECK(c.parts() == Leaves{{"untracked(second)", 50}, {"wake-up(sem_wait)", 30}});
  }
  SECTION("others take both") {
    c.thread(4).acquire(VPROF_EV_ACQUIRE_SEM, {0x10}, 60);
    c.thread(4).acquire(VPROF_EV_ACQUIRE_SEM, {0x10}, 65);
    c.thread(2).release(VPROF_EV_RELEASE_SEM, {0x10}, 80, 3);
    CHECK(c.parts() ==
          Leaves{{"untracked(first)", 15}, {"untracked(second)", 50}, {"wake-up(sem_wait)", 15}});
  }
  CHECK(c.losses().exact_edges == 1);
}

TEST_CASE("a post that somebody else takes leads to another one") {
  WaitCase c(VPROF_EV_WAIT_SEM);
  c.thread(2).release(VPROF_EV_RELEASE_SEM, {0x10}, 40, 1);
  c.thread(3).acquire(VPROF_EV_ACQUIRE_SEM, {0x10}, 50);
  c.thread(3).release(VPROF_EV_RELEASE_SEM, {0x10}, 80, 2);
  CHECK(c.parts() ==
        Leaves{{"untracked(first)", 30}, {"untracked(second)", 30}, {"wake-up(sem_wait)", 20}});
}

TEST_CASE("after the signal, whoever holds the mutex keeps a condition wait waiting") {
  Case c;
  c.thread(1).begin(1, 0);
  c.thread(1).condition_wait({0x10}, {0x20}, 10, 90, 1);
  c.thread(1).end(1, 100);
  c.thread(2).name = "signaller";
  c.thread(2).release(VPROF_EV_RELEASE_COND, {0x10}, 30, 1);
  c.thread(2).release(VPROF_EV_RELEASE_MUTEX, {0x20}, 60, 1);
  c.thread(3).name = "barger";
  c.thread(3).acquire(VPROF_EV_ACQUIRE_MUTEX, {0x20}, 65);
  c.thread(3).release(VPROF_EV_RELEASE_MUTEX, {0x20}, 80, 2);
  const std::string wait = "request/wait(pthread_cond_wait)";
  CHECK(leaves(c.profile()) == Leaves{{"request/body(request)", 20},
                                      {wait + "/untracked(signaller)", 50},
                                      {wait + "/untracked(barger)", 15},
                                      {wait + "/wake-up(pthread_cond_wait)", 15}});
}

TEST_CASE("turns of one loop are one wait, ended by the signal after which the loop was left") {
  const bool one_loop = GENERATE(true, false);
  Case c;
  c.thread(1).begin(1, 0);
  c.thread(1).condition_wait({0x10}, {0x20}, 10, 40, 1);
  c.thread(1).condition_wait({0x10, false, 0, one_loop ? VPROF_AUX_AGAIN : 0}, {0x20}, 41, 90, 2);
  c.thread(1).end(1, 100);
  c.thread(2).name = "other";
  c.thread(2).release(VPROF_EV_RELEASE_COND, {0x10}, 39, 1, 1);
  c.thread(3).name = "holder";
  c.thread(3).release(VPROF_EV_RELEASE_COND, {0x10}, 85, 2, 1);
  const auto result = leaves(c.profile());
  const std::string wait = "request/wait(pthread_cond_wait)";
  CHECK(result.contains(wait + "/untracked(other)") == !one_loop);
  CHECK(result.at(wait + "/untracked(holder)") == (one_loop ? 29 + 44 : 44));
}

TEST_CASE("a broadcast while a woken thread is on its way may be why it left its loop") {
  // Object 0x10 is broadcast for several resources. Thread 2's broadcasts change nothing for thread
  // 1, except that the second loop is left after one of 2 and one of 3.
  const bool changed_first = GENERATE(false, true);
  Case c;
  auto& t = c.thread(1);
  auto& busy = c.thread(2);
  auto& owner = c.thread(3);
  busy.name = "busy";
  owner.name = "owner";
  for (uint64_t request = 1; request <= 3; ++request) {
    const int64_t at = static_cast<int64_t>(request - 1) * 1000;
    t.begin(request, at);
    t.condition_wait({0x10}, {0x20}, at + 10, at + 40, request * 10);
    t.condition_wait({0x10, false, 0, VPROF_AUX_AGAIN}, {0x20}, at + 41, at + 90, request * 10 + 5);
    t.end(request, at + 100);
    busy.release(VPROF_EV_RELEASE_COND, {0x10}, at + 35, request * 10, 1);
    const bool crossed = request == 3;
    if (crossed) {
      (changed_first ? owner : busy).release(VPROF_EV_RELEASE_COND, {0x10}, at + 60, 31, 1);
      (changed_first ? busy : owner).release(VPROF_EV_RELEASE_COND, {0x10}, at + 80, 32, 1);
    } else {
      owner.release(VPROF_EV_RELEASE_COND, {0x10}, at + 80, request * 10 + 2, 1);
    }
  }
  const auto profile = c.profile();
  const Leaves result = leaves(profile);
  const std::string wait = "request/wait(pthread_cond_wait)";
  CHECK_FALSE(result.contains(wait + "/untracked(busy)"));
  CHECK(result.contains(wait + "/untracked(owner)"));
  CHECK(profile.losses.inferred_edges != 0);
}

TEST_CASE("a loop that waits with a time limit is left after a signal in the end") {
  Case c;
  c.thread(1).begin(1, 0);
  c.thread(1).condition_wait({0x10, false, 0, VPROF_AUX_TIMED_OUT}, {0x20}, 10, 40, 1);
  c.thread(1).condition_wait({0x10, false, 0, VPROF_AUX_AGAIN}, {0x20}, 41, 90, 2);
  c.thread(1).end(1, 100);
  c.thread(2).name = "setter";
  c.thread(2).release(VPROF_EV_RELEASE_COND, {0x10}, 85, 2);
  CHECK(leaves(c.profile()).at("request/wait(pthread_cond_wait)/untracked(setter)") == 29 + 44);
}

TEST_CASE("a wait in slices around a flag is polled") {
  const std::string condition = "request/polled(pthread_cond_wait)";
  const std::string sleep = "request/polled(sleep)";
  Case c;
  auto& t = c.thread(1);
  SECTION("a condition wait with a time limit, left although nobody signalled") {
    t.begin(1, 0);
    t.condition_wait({0x10, false, 0, VPROF_AUX_TIMED_OUT}, {0x20}, 10, 40);
    t.condition_wait({0x10, false, 0, VPROF_AUX_TIMED_OUT | VPROF_AUX_AGAIN}, {0x20}, 41, 71);
    t.end(1, 100);
    CHECK(leaves(c.profile()) == Leaves{{"request/body(request)", 40}, {condition, 60}});
  }
  SECTION("one time limit is a wait") {
    t.begin(1, 0);
    t.condition_wait({0x10, false, 0, VPROF_AUX_TIMED_OUT}, {0x20}, 10, 40);
    t.end(1, 100);
    CHECK_FALSE(leaves(c.profile()).contains(condition));
  }
  SECTION("three sleeps in a row") {
    t.begin(1, 0);
    t.wait(VPROF_EV_WAIT_TIMER, {0}, 10, 30);
    t.wait(VPROF_EV_WAIT_TIMER, {0}, 31, 52);
    t.frame(c.g_entry, 52, 54);
    t.wait(VPROF_EV_WAIT_TIMER, {0}, 55, 75);
    t.end(1, 100);
    CHECK(leaves(c.profile()).at(sleep) == 61);
  }
  SECTION("giving way is polling, however often") {
    t.begin(1, 0);
    t.wait(VPROF_EV_WAIT_YIELD, {0}, 10, 30);
    t.end(1, 100);
    CHECK(leaves(c.profile()).at("request/polled(sched_yield)") == 20);
  }
  SECTION("two sleeps, or sleeps of different lengths, are waits") {
    t.begin(1, 0);
    t.wait(VPROF_EV_WAIT_TIMER, {0}, 10, 30);
    t.wait(VPROF_EV_WAIT_TIMER, {0}, 31, 52);
    t.wait(VPROF_EV_WAIT_TIMER, {0}, 53, 98);
    t.end(1, 100);
    CHECK_FALSE(leaves(c.profile()).contains(sleep));
  }
}
