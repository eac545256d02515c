#include <algorithm>
#include <catch2/catch.hpp>

#include "run.h"

using namespace vprof::test;

namespace {

std::vector<Record> on_object(const Trace& trace, uint32_t event, uint64_t object) {
  std::vector<Record> found = trace.all(event);
  found.erase(std::remove_if(found.begin(), found.end(),
                             [&](const Record& r) { return r.more.at(0).word != object; }),
              found.end());
  return found;
}

struct Case {
  const char* scenario;
  uint32_t wait;
  uint32_t release;
};

// ThreadSanitizer of gcc 12 calls libc's condition variables by their version, past our functions,
// and does not know pthread_mutex_clocklock.
bool works_here(const Case& c) {
  return !kThreadSanitizer ||
         (c.wait != VPROF_EV_WAIT_COND && std::string(c.scenario) != "mutex_clock_contended" &&
          std::string(c.scenario) != "mutex_released_by_condition_wait");
}

}  // namespace

TEST_CASE("a contended operation records the wait and the release that ended it") {
  const Case c = GENERATE(
      Case{"mutex_contended", VPROF_EV_WAIT_MUTEX, VPROF_EV_RELEASE_MUTEX},
      Case{"mutex_timed_contended", VPROF_EV_WAIT_MUTEX, VPROF_EV_RELEASE_MUTEX},
      Case{"mutex_clock_contended", VPROF_EV_WAIT_MUTEX, VPROF_EV_RELEASE_MUTEX},
      Case{"mutex_released_by_condition_wait", VPROF_EV_WAIT_MUTEX, VPROF_EV_RELEASE_MUTEX},
      Case{"read_lock_contended", VPROF_EV_WAIT_RDLOCK, VPROF_EV_RELEASE_RWLOCK},
      Case{"write_lock_contended", VPROF_EV_WAIT_WRLOCK, VPROF_EV_RELEASE_RWLOCK},
      Case{"condition_signalled", VPROF_EV_WAIT_COND, VPROF_EV_RELEASE_COND},
      Case{"condition_broadcast", VPROF_EV_WAIT_COND, VPROF_EV_RELEASE_COND},
      Case{"semaphore_posted", VPROF_EV_WAIT_SEM, VPROF_EV_RELEASE_SEM},
      Case{"semaphore_posted_timed", VPROF_EV_WAIT_SEM, VPROF_EV_RELEASE_SEM},
      Case{"joined", VPROF_EV_WAIT_JOIN, VPROF_EV_RELEASE_JOIN});
  CAPTURE(c.scenario);
  if (!works_here(c)) {
    return;
  }
  const Outcome outcome = run(c.scenario);
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  const std::vector<Record> waits = on_object(trace, c.wait, outcome.number("object"));
  std::vector<Record> releases = on_object(trace, c.release, outcome.number("object"));
  REQUIRE(waits.size() == 1);
  const Record& wait = waits[0];
  REQUIRE(wait.more.size() == (c.wait == VPROF_EV_WAIT_COND ? 3 : 2));
  CHECK(outcome.is_told(wait));
  // The newest one that the wait has seen, by number. The wait's number may be greater, since
  // objects share counters; a later release of this object may follow, as this thread waits for the
  // other's end.
  const auto number = [](const Record& record) { return record.more.at(1).word; };
  std::erase_if(releases, [&](const Record& one) { return number(one) > number(wait); });
  REQUIRE(!releases.empty());
  const Record& release = *std::max_element(
      releases.begin(), releases.end(),
      [&](const Record& one, const Record& other) { return number(one) < number(other); });
  CHECK(wait.more[0].payload == 0);  // private to the process
  CHECK(release.word >= wait.word);  // within the wait
  CHECK(release.word <= wait.word + wait.payload);
  CHECK(wait.more[0].payload == release.more[0].payload);
  if (std::string(c.scenario) == "condition_broadcast") {
    CHECK(release.payload == 1);
  }
}

// ThreadSanitizer holds signals back while a thread sleeps, so no handler can keep it.
TEST_CASE("whoever gets an object at once while others wait records since when") {
  if (kThreadSanitizer) {
    return;
  }
  struct Barging {
    const char* scenario;
    uint32_t acquired, released;
    uint64_t payload;
  };
  const Barging c =
      GENERATE(Barging{"mutex_barged", VPROF_EV_ACQUIRE_MUTEX, VPROF_EV_RELEASE_MUTEX, 0},
               Barging{"recursive_mutex_barged", VPROF_EV_ACQUIRE_MUTEX, VPROF_EV_RELEASE_MUTEX, 0},
               Barging{"read_lock_barged", VPROF_EV_ACQUIRE_RWLOCK, VPROF_EV_RELEASE_RWLOCK, 1},
               Barging{"semaphore_barged", VPROF_EV_ACQUIRE_SEM, VPROF_EV_RELEASE_SEM, 0});
  CAPTURE(c.scenario);
  const Outcome outcome = run(c.scenario);
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  const std::vector<Record> acquired = on_object(trace, c.acquired, outcome.number("object"));
  const std::vector<Record> released = on_object(trace, c.released, outcome.number("object"));
  REQUIRE(acquired.size() == 1);
  CHECK(acquired[0].payload == c.payload);
  CHECK(acquired[0].more.size() == 1);
  CHECK(acquired[0].word >= outcome.number("before"));
  CHECK(acquired[0].word <= outcome.number("after"));
  CHECK(std::any_of(released.begin(), released.end(), [&](const Record& release) {
    return release.word >= outcome.number("after");
  }));
}

TEST_CASE("every thread that gets ahead of a waiter is recorded, not only the first") {
  if (kThreadSanitizer) {
    return;
  }
  const Outcome outcome = run("mutex_barged_twice");
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  CHECK(on_object(trace, VPROF_EV_ACQUIRE_MUTEX, outcome.number("object")).size() == 2);
  CHECK(on_object(trace, VPROF_EV_RELEASE_MUTEX, outcome.number("object")).size() == 3);
}

TEST_CASE("a thread that gets ahead of waiters for two mutexes is recorded for both") {
  if (kThreadSanitizer) {
    return;
  }
  const Outcome outcome = run("two_mutexes_barged");
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  for (const char* mutex : {"object", "other"}) {
    CAPTURE(mutex);
    CHECK(on_object(trace, VPROF_EV_ACQUIRE_MUTEX, outcome.number(mutex)).size() == 2);
    CHECK(on_object(trace, VPROF_EV_RELEASE_MUTEX, outcome.number(mutex)).size() == 3);
  }
}

TEST_CASE("a condition wait names its mutex, and whether it is another turn of one loop") {
  if (kThreadSanitizer) {
    return;
  }
  const Outcome outcome = run("condition_turns");
  REQUIRE(outcome.exit_code == 0);
  const std::vector<Record> waits =
      on_object(outcome.traces.at(0), VPROF_EV_WAIT_COND, outcome.number("object"));
  REQUIRE(waits.size() == 3);
  std::vector<uint64_t> again;
  for (const Record& wait : waits) {
    REQUIRE(wait.more.size() == 3);
    CHECK(wait.more[2].word == outcome.number("mutex"));
    again.push_back(wait.more[0].payload & VPROF_AUX_AGAIN);
  }
  // The second follows the first under the mutex; before the third it was released.
  CHECK(again == std::vector<uint64_t>{0, VPROF_AUX_AGAIN, 0});
}

TEST_CASE("uncontended operations record nothing") {
  const Outcome outcome = run("uncontended");
  REQUIRE(outcome.exit_code == 0);
  for (const Thread& thread : outcome.traces.at(0).threads) {
    for (const Record& record : thread.records) {
      CHECK((record.id == 1 || record.id == VPROF_EV_CLOCK || record.id == VPROF_EV_PREEMPTED ||
             record.id == VPROF_EV_SETUP));
    }
  }
}

TEST_CASE("waits across processes are matched by shared address and number") {
  const Outcome outcome = run("shared_between_processes");
  REQUIRE(outcome.exit_code == 0);
  REQUIRE(outcome.traces.size() == 2);
  const bool parent_first = outcome.traces[1].header.parent_pid == outcome.traces[0].header.pid;
  const Trace& parent = outcome.traces[parent_first ? 0 : 1];
  const Trace& child = outcome.traces[parent_first ? 1 : 0];
  CHECK(parent.header.family == child.header.family);
  const auto check = [&](uint32_t wait, uint32_t release, uint64_t object) {
    const std::vector<Record> waits = on_object(child, wait, object);
    const std::vector<Record> releases = on_object(parent, release, object);
    REQUIRE(waits.size() == 1);
    REQUIRE(releases.size() == 1);
    CHECK(waits[0].more[0].payload == VPROF_AUX_SHARED);
    CHECK(releases[0].more[0].payload == VPROF_AUX_SHARED);
    CHECK(releases[0].more[1].word <= waits[0].more[1].word);  // objects share counters
  };
  check(VPROF_EV_WAIT_MUTEX, VPROF_EV_RELEASE_MUTEX, outcome.number("object"));
  check(VPROF_EV_WAIT_SEM, VPROF_EV_RELEASE_SEM, outcome.number("semaphore"));
}

TEST_CASE("in whatever order waiter and releaser take their steps") {
  enum { kNoRelease, kSameNumber };
  struct Race {
    const char* scenario;
    int release;
  };
  // Without a release: the wait lies within a few instructions of the releaser, which gate.c has
  // stretched here, or the mutex was free when it began.
  const Race race = GENERATE(Race{"race_counted_before_the_first_look", kSameNumber},
                             Race{"race_counted_between_the_looks", kSameNumber},
                             Race{"race_gone_before_the_second_look", kNoRelease},
                             Race{"race_counted_after_the_second_look", kNoRelease});
  CAPTURE(race.scenario);
  const Outcome outcome = run(race.scenario);
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  const std::vector<Record> waits = on_object(trace, VPROF_EV_WAIT_MUTEX, outcome.number("object"));
  const std::vector<Record> releases =
      on_object(trace, VPROF_EV_RELEASE_MUTEX, outcome.number("object"));
  REQUIRE(waits.size() == 1);
  REQUIRE(releases.size() == (race.release == kSameNumber ? 1 : 0));
  if (race.release == kSameNumber) {
    CHECK(releases[0].more.at(1).word <= waits[0].more.at(1).word);
    CHECK(releases[0].word >= waits[0].word);
    CHECK(releases[0].word <= waits[0].word + waits[0].payload);
  }
}

namespace {

// In the order of their numbers, which must differ.
std::vector<Record> releases_of_storm(const Outcome& outcome) {
  std::vector<Record> releases =
      on_object(outcome.traces.at(0), VPROF_EV_RELEASE_MUTEX, outcome.number("object"));
  const auto number = [](const Record& release) { return release.more.at(1).word; };
  std::sort(releases.begin(), releases.end(),
            [&](const Record& a, const Record& b) { return number(a) < number(b); });
  for (size_t i = 1; i < releases.size(); ++i) {
    CHECK(number(releases[i - 1]) < number(releases[i]));
  }
  return releases;
}

}  // namespace

TEST_CASE("under heavy contention no two releases have one number") {
  const Outcome outcome = run("mutex_storm");
  REQUIRE(outcome.exit_code == 0);
  const std::vector<Record> releases = releases_of_storm(outcome);
  for (const Record& wait :
       on_object(outcome.traces.at(0), VPROF_EV_WAIT_MUTEX, outcome.number("object"))) {
    // The release whose number it has seen came before it ended.
    const auto seen = std::find_if(releases.begin(), releases.end(), [&](const Record& release) {
      return release.more[1].word == wait.more.at(1).word;
    });
    CHECK((seen == releases.end() || seen->word <= wait.word + wait.payload));
  }
}

// The scheduler decides how many waits begin between a releaser's two looks.
TEST_CASE("under heavy contention nearly every wait of some length has its release", "[soak]") {
  const Outcome outcome = run("mutex_storm");
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  const std::vector<Record> releases = releases_of_storm(outcome);
  const std::vector<Record> waits = on_object(trace, VPROF_EV_WAIT_MUTEX, outcome.number("object"));
  const uint64_t short_wait = trace.header.ticks_per_second / 50000;  // 20 us
  uint64_t missed = 0;
  for (const Record& wait : waits) {
    if (wait.payload < short_wait) {
      continue;
    }
    // The greatest number up to that of the wait.
    const auto after = std::find_if(releases.begin(), releases.end(), [&](const Record& r) {
      return r.more[1].word > wait.more.at(1).word;
    });
    const bool found = after != releases.begin();
    if (!found || std::prev(after)->word + 2000 < wait.word ||
        std::prev(after)->word > wait.word + wait.payload) {
      ++missed;
    }
  }
  CHECK(waits.size() >= 3);
  CHECK(missed <= 2 + waits.size() / 100);
}

TEST_CASE("a wait says whether it timed out") {
  const Outcome outcome = run("condition_timed");
  REQUIRE(outcome.exit_code == 0);
  const std::vector<Record> waits =
      on_object(outcome.traces.at(0), VPROF_EV_WAIT_COND, outcome.number("object"));
  REQUIRE(waits.size() >= 2);  // more after spurious wake-ups
  for (const Record& wait : waits) {
    const bool timed_out = (wait.more.at(0).payload & VPROF_AUX_TIMED_OUT) != 0;
    CHECK(timed_out == (&wait == &waits.back()));
  }
}

TEST_CASE("cancellation unwinds through the interposed waits") {
  const Case c =
      GENERATE(Case{"cancelled_in_condition_wait", VPROF_EV_WAIT_COND, VPROF_EV_RELEASE_COND},
               Case{"cancelled_in_semaphore_wait", VPROF_EV_WAIT_SEM, VPROF_EV_RELEASE_SEM});
  CAPTURE(c.scenario);
  if (!works_here(c)) {
    return;
  }
  const Outcome outcome = run(c.scenario);
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  CHECK(on_object(trace, c.wait, outcome.number("object")).size() == 1);
  CHECK(on_object(trace, c.release, outcome.number("object"))
            .empty());  // the waiter no longer counts
}

TEST_CASE("a pending cancellation takes effect where it does in libc") {
  CHECK(run("cancelled_before_semaphore_wait").exit_code == 0);
}

TEST_CASE("threads record who created them") {
  const Trace trace = run("joined").traces.at(0);
  const std::vector<Record> starts = trace.all(VPROF_EV_THREAD_START);
  CHECK((kThreadSanitizer || starts.size() == 1));
  REQUIRE(starts.at(0).more.size() == 1);
  CHECK((kThreadSanitizer || starts[0].more[0].payload == 1));  // the serial of the first thread
  CHECK((kThreadSanitizer || trace.threads.size() == 2));
}

TEST_CASE("the application's own locks and queues") {
  const Outcome outcome = run("application_sync");
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  const uint64_t object = outcome.number("object");
  const std::vector<Record> waits = on_object(trace, VPROF_EV_WAIT_APP, object);
  REQUIRE(waits.size() == 2);
  for (const Record& wait : waits) {
    CHECK(wait.more[0].payload == 5u << VPROF_AUX_SYNC_SHIFT);
    CHECK(wait.more[1].word == 0);
  }
  // What took less than a microsecond is not a wait. Each acquire lies within a frame of site 80,
  // so one in a shorter frame took less.
  const uint64_t microsecond = trace.header.ticks_per_second / 1000000;
  const std::vector<Record> around = trace.all(80);
  const auto quick = std::count_if(around.begin(), around.end(), [&](const Record& frame) {
    return frame.payload < microsecond;
  });
  const std::vector<Record> slow = on_object(trace, VPROF_EV_WAIT_APP, outcome.number("quick"));
  REQUIRE(around.size() == 1000);
  CHECK(slow.size() + static_cast<size_t>(quick) <= around.size());
  for (const Record& wait : slow) {
    CHECK(wait.payload >= microsecond);
  }
  const std::vector<Record> releases = on_object(trace, VPROF_EV_RELEASE_APP, object);
  REQUIRE(releases.size() == 1);
  CHECK(releases[0].more[0].payload == 6u << VPROF_AUX_SYNC_SHIFT);
  const std::vector<Record> enqueues = trace.all(VPROF_EV_ENQUEUE);
  REQUIRE(enqueues.size() == 1);
  CHECK(enqueues[0].payload == 7);
  CHECK(enqueues[0].more.at(0).word == object);
  const std::vector<Record> dequeues = trace.all(VPROF_EV_DEQUEUE);
  REQUIRE(dequeues.size() == 1);
  CHECK(dequeues[0].payload == 8);
}
