// Waits of every class, who ended them, and that each class can be left out.
#include "reader.h"
#if !defined(__SANITIZE_THREAD__)  // it comes between the program and us for some of these
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "control_file.h"
#include "run.h"

using namespace vprof::test;

namespace {

constexpr uint32_t kNobody = 0;

struct Case {
  const char* scenario;
  const char* name;  // of the class
  uint32_t wait;
  uint32_t release;
};

const Case kCases[] = {
    {"waits_spin", "spin", VPROF_EV_WAIT_SPIN, VPROF_EV_RELEASE_SPIN},
    {"waits_barrier", "barrier", VPROF_EV_WAIT_BARRIER, VPROF_EV_RELEASE_BARRIER},
    {"waits_once", "once", VPROF_EV_WAIT_ONCE, VPROF_EV_RELEASE_ONCE},
    {"waits_call_once", "once", VPROF_EV_WAIT_ONCE, VPROF_EV_RELEASE_ONCE},
    {"waits_c11_mutex", "mutex", VPROF_EV_WAIT_MUTEX, VPROF_EV_RELEASE_MUTEX},
    {"waits_c11_condition", "condition", VPROF_EV_WAIT_COND, VPROF_EV_RELEASE_COND},
    {"waits_c11_join", "join", VPROF_EV_WAIT_JOIN, VPROF_EV_RELEASE_JOIN},
    {"waits_futex", "futex", VPROF_EV_WAIT_FUTEX, VPROF_EV_RELEASE_FUTEX},
    {"waits_atomic", "futex", VPROF_EV_WAIT_FUTEX, VPROF_EV_RELEASE_FUTEX},
    {"waits_future", "futex", VPROF_EV_WAIT_FUTEX, VPROF_EV_RELEASE_FUTEX},
    {"waits_shared_mutex", "rwlock", VPROF_EV_WAIT_RDLOCK, VPROF_EV_RELEASE_RWLOCK},
    {"waits_sysv_semaphore", "sysv", VPROF_EV_WAIT_SYSV, VPROF_EV_RELEASE_SYSV},
    {"waits_sysv_queue", "queue", VPROF_EV_WAIT_QUEUE, VPROF_EV_RELEASE_QUEUE},
    {"waits_posix_queue", "queue", VPROF_EV_WAIT_QUEUE, VPROF_EV_RELEASE_QUEUE},
    {"waits_pipe", "stream", VPROF_EV_WAIT_STREAM, VPROF_EV_RELEASE_STREAM},
    {"waits_socket_pair", "stream", VPROF_EV_WAIT_STREAM, VPROF_EV_RELEASE_STREAM},
    {"waits_eventfd", "stream", VPROF_EV_WAIT_STREAM, VPROF_EV_RELEASE_STREAM},
    {"waits_tcp", "stream", VPROF_EV_WAIT_STREAM, VPROF_EV_RELEASE_STREAM},
    {"waits_accept", "stream", VPROF_EV_WAIT_STREAM, VPROF_EV_RELEASE_STREAM},
    {"waits_poll", "stream", VPROF_EV_WAIT_POLL, VPROF_EV_RELEASE_STREAM},
    {"waits_select", "stream", VPROF_EV_WAIT_POLL, VPROF_EV_RELEASE_STREAM},
    {"waits_epoll", "stream", VPROF_EV_WAIT_POLL, VPROF_EV_RELEASE_STREAM},
    {"waits_signal", "signal", VPROF_EV_WAIT_SIGNAL, VPROF_EV_RELEASE_SIGNAL},
    {"waits_signalfd", "signal", VPROF_EV_WAIT_SIGNAL, VPROF_EV_RELEASE_SIGNAL},
    {"waits_sleep", "timer", VPROF_EV_WAIT_TIMER, kNobody},
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // their runtime gives way, too
    {"waits_yield", "spin", VPROF_EV_WAIT_YIELD, kNobody},
#endif
    {"waits_timerfd", "timer", VPROF_EV_WAIT_TIMER, kNobody},
    {"waits_poll_limit", "stream", VPROF_EV_WAIT_TIMER, kNobody},
    {"waits_child", "child", VPROF_EV_WAIT_CHILD, kNobody},  // who ended it: below
    {"waits_full_pipe", "stream", VPROF_EV_WAIT_SEND, VPROF_EV_RELEASE_SEND},
    {"waits_full_socket", "stream", VPROF_EV_WAIT_SEND, VPROF_EV_RELEASE_SEND},
    {"waits_poll_for_room", "stream", VPROF_EV_WAIT_ROOM, VPROF_EV_RELEASE_SEND},
    {"waits_select_for_room", "stream", VPROF_EV_WAIT_ROOM, VPROF_EV_RELEASE_SEND},
    {"waits_epoll_pwait2", "stream", VPROF_EV_WAIT_POLL, VPROF_EV_RELEASE_STREAM},
    {"waits_epoll_by_number", "stream", VPROF_EV_WAIT_POLL, VPROF_EV_RELEASE_STREAM},
    {"waits_epoll_for_room", "stream", VPROF_EV_WAIT_ROOM, VPROF_EV_RELEASE_SEND},
    {"waits_socket_for_room", "stream", VPROF_EV_WAIT_ROOM, VPROF_EV_RELEASE_SEND},
    {"waits_openmp", "barrier", VPROF_EV_WAIT_BARRIER, VPROF_EV_RELEASE_BARRIER},
    {"waits_openmp_barrier", "barrier", VPROF_EV_WAIT_BARRIER, VPROF_EV_RELEASE_BARRIER},
    {"waits_openmp_critical", "mutex", VPROF_EV_WAIT_OPENMP_LOCK, VPROF_EV_RELEASE_MUTEX},
    {"waits_openmp_named_critical", "mutex", VPROF_EV_WAIT_OPENMP_LOCK, VPROF_EV_RELEASE_MUTEX},
    {"waits_openmp_lock", "mutex", VPROF_EV_WAIT_OPENMP_LOCK, VPROF_EV_RELEASE_MUTEX},
    {"waits_openmp_nest_lock", "mutex", VPROF_EV_WAIT_OPENMP_LOCK, VPROF_EV_RELEASE_MUTEX},
    {"waits_raw_read", "stream", VPROF_EV_WAIT_STREAM, VPROF_EV_RELEASE_STREAM},
    {"waits_raw_write", "stream", VPROF_EV_WAIT_SEND, VPROF_EV_RELEASE_SEND},
    {"waits_raw_poll", "stream", VPROF_EV_WAIT_POLL, VPROF_EV_RELEASE_STREAM},
    {"waits_raw_sleep", "timer", VPROF_EV_WAIT_TIMER, kNobody},
    {"waits_raw_child", "child", VPROF_EV_WAIT_CHILD, kNobody},
    {"waits_ring", "file", VPROF_EV_WAIT_RING, kNobody},
    {"waits_ring_answer", "file", VPROF_EV_WAIT_RING, kNobody},
    {"waits_liburing", "file", VPROF_EV_WAIT_RING, kNobody},
    {"waits_liburing_cqes", "file", VPROF_EV_WAIT_RING, kNobody},
    {"waits_liburing_timeout", "file", VPROF_EV_WAIT_RING, kNobody},
    {"waits_liburing_submit", "file", VPROF_EV_WAIT_RING, kNobody},
    {"waits_liburing_submit_timeout", "file", VPROF_EV_WAIT_RING, kNobody},
    {"waits_file", "file", VPROF_EV_WAIT_FILE, kNobody},
    {"waits_flock", "file", VPROF_EV_WAIT_FILE_LOCK, VPROF_EV_RELEASE_FILE_LOCK},
    {"waits_flock_closed", "file", VPROF_EV_WAIT_FILE_LOCK, VPROF_EV_RELEASE_FILE_LOCK},
    {"waits_fcntl_lock", "file", VPROF_EV_WAIT_FILE_LOCK, VPROF_EV_RELEASE_FILE_LOCK},
};

struct Found {
  const Trace* trace = nullptr;
  const Record* wait = nullptr;
  uint32_t serial = 0;
};

std::vector<Found> waits_of(const Outcome& outcome, uint32_t kind) {
  std::vector<Found> found;
  for (const Trace& trace : outcome.traces) {
    for (const Thread& thread : trace.threads) {
      for (const Record& record : thread.records) {
        if (record.id == kind) {
          found.push_back({&trace, &record, thread.serial});
        }
      }
    }
  }
  return found;
}

// The one that the scenario is about.
Found wait_told(const Outcome& outcome, uint32_t kind) {
  std::vector<Found> found = waits_of(outcome, kind);
  std::erase_if(found, [&](const Found& one) { return !outcome.is_told(*one.wait); });
  REQUIRE(found.size() == 1);
  return found[0];
}

// The release that ended the wait, by another thread and within it. Of the releases of the object
// it has the greatest number that the wait had seen. The wait's number may be greater, since
// objects share counters.
void check_release(const Found& found, uint32_t kind) {
  const Record& wait = *found.wait;
  CHECK(wait.more[0].word != 0);
  const Record* ended = nullptr;
  uint32_t by = 0;
  for (const Thread& thread : found.trace->threads) {
    for (const Record& record : thread.records) {
      const bool candidate = record.id == kind && record.more.at(0).word == wait.more[0].word &&
                             record.more.at(1).word <= wait.more[1].word;
      if (candidate && (ended == nullptr || record.more[1].word > ended->more[1].word)) {
        ended = &record;
        by = thread.serial;
      }
    }
  }
  REQUIRE(ended != nullptr);
  CHECK(by != found.serial);
  CHECK(ended->word >= wait.word);
  CHECK(ended->word <= wait.word + wait.payload);
  CHECK((ended->more[0].payload & VPROF_AUX_SHARED) == (wait.more[0].payload & VPROF_AUX_SHARED));
}

bool polls(const Record& wait) { return (wait.more.at(0).payload & VPROF_AUX_POLL) != 0; }

// The wait says whether it was in epoll_wait, as an event loop's is, and whether one descriptor
// made it return: in these scenarios there is one, and no time limit.
void check_poll(const std::string& scenario, const Record& wait) {
  const bool epolls = scenario.find("epoll") != std::string::npos;
  const uint64_t aux = wait.more[0].payload;
  const bool one_ready = (aux & VPROF_AUX_ONE_READY) != 0;
  const bool timed_out = (aux & VPROF_AUX_TIMED_OUT) != 0;
  CHECK(one_ready == (polls(wait) && !timed_out));
  CHECK((wait.more[1].payload == VPROF_NO_LIMIT) == one_ready);
  CHECK(((aux & VPROF_AUX_EPOLL) != 0) == epolls);
  CHECK((!epolls || (aux & VPROF_AUX_POLL) != 0));
}

void check_case(const Case& c, const Setup& setup) {
  CAPTURE(c.scenario);
  const Outcome outcome = run(c.scenario, setup);
  if (outcome.exit_code == 99) {
    return;  // this system has none
  }
  REQUIRE(outcome.exit_code == 0);
  const Found found = wait_told(outcome, c.wait);
  REQUIRE(found.wait->more.size() == (c.wait == VPROF_EV_WAIT_COND ? 3 : 2));
  check_poll(c.scenario, *found.wait);
  if (c.release != kNobody) {
    check_release(found, c.release);
  }
}

}  // namespace

TEST_CASE("a wait of any class is recorded, with the release that ended it") {
  for (const Case& c : kCases) {
    check_case(c, {{{"VPROF_WAITS_OFF", ""}}, {}, {}});
  }
}

// The threads, descriptors and locks are from before. A server has most of its own from its start.
TEST_CASE("a wait of any class is recorded likewise when recording begins just before it") {
  for (const Case& c : kCases) {
    const TemporaryDirectory directory;
    const ControlFile control = ControlFile::make(directory.path());
    control.set(1, true);
    control.pause();
    check_case(c, {{{"VPROF_WAITS_OFF", ""}, {"VPROF_TEST_PAUSED", "1"}}, {}, directory.path()});
  }
}

TEST_CASE("a poll that finds something at once is no wait, however long it takes") {
  const Outcome outcome = run("slow_epoll_at_once", {{{"VPROF_WAITS_OFF", ""}}, {}, {}});
  REQUIRE(outcome.exit_code == 0);
  CHECK(waits_of(outcome, VPROF_EV_WAIT_POLL).empty());
}

TEST_CASE("a call that does not block is no wait, however long it takes") {
  for (const char* scenario : {"slow_calls_that_never_wait", "slow_calls_with_dontwait"}) {
    CAPTURE(scenario);
    const Outcome outcome = run(scenario, {{{"VPROF_WAITS_OFF", ""}}, {}, {}});
    REQUIRE(outcome.exit_code == 0);
    CHECK(waits_of(outcome, VPROF_EV_WAIT_STREAM).empty());
    CHECK(waits_of(outcome, VPROF_EV_WAIT_SEND).empty());
  }
}

TEST_CASE("the runtime counts its own system calls, and the calls that it times") {
  // Each of three calls is so slow that it asks whether it may have waited.
  const Outcome on =
      run("slow_calls_that_never_wait", {{{"VPROF_WAITS_OFF", "preemption"}}, {}, {}});
  REQUIRE(on.exit_code == 0);
  CHECK(on.traces.at(0).threads.at(0).own_calls >= 3);
  CHECK(on.traces.at(0).threads.at(0).timed_calls == 3);
  const Outcome off = run("slow_calls_that_never_wait",
                          {{{"VPROF_WAITS_OFF", "stream,file,signal,timer,preemption"}}, {}, {}});
  REQUIRE(off.exit_code == 0);
  CHECK(off.traces.at(0).threads.at(0).own_calls == 0);
  CHECK(off.traces.at(0).threads.at(0).timed_calls == 0);
  // Other calls are of interest, these are not: only what the descriptor is gets asked, once.
  const Outcome others =
      run("slow_calls_that_never_wait", {{{"VPROF_WAITS_OFF", "stream,preemption"}}, {}, {}});
  REQUIRE(others.exit_code == 0);
  CHECK(others.traces.at(0).threads.at(0).own_calls == 1);
}

TEST_CASE("waits: what a descriptor refers to is not asked for calls that only files have") {
  const Outcome outcome = run("reads_files_at_once", {{{"VPROF_WAITS_OFF", ""}}, {}, {}});
  CHECK(outcome.exit_code == 0);
}

TEST_CASE("a wait for a file says which call it is") {
  const Outcome outcome = run("waits_file", {{{"VPROF_WAITS_OFF", ""}}, {}, {}});
  REQUIRE(outcome.exit_code == 0);
  const Found found = wait_told(outcome, VPROF_EV_WAIT_FILE);
  CHECK(found.wait->more.at(0).payload >> VPROF_AUX_SYNC_SHIFT == VPROF_FILE_FSYNC);
}

TEST_CASE("the exit of a child ends its parent's wait, however the two do it") {
  for (const char* scenario : {"waits_child", "waits_any_child", "waits_raw_child"}) {
    CAPTURE(scenario);
    const Outcome outcome = run(scenario, {{{"VPROF_WAITS_OFF", ""}}, {}, {}});
    REQUIRE(outcome.exit_code == 0);
    REQUIRE(outcome.traces.size() == 2);
    const Found found = wait_told(outcome, VPROF_EV_WAIT_CHILD);
    const Trace& child = outcome.traces[found.trace == outcome.traces.data() ? 1 : 0];
    const std::vector<Record> exits = child.all(VPROF_EV_RELEASE_CHILD);
    REQUIRE(exits.size() == 1);
    CHECK(found.trace->all(VPROF_EV_RELEASE_CHILD).empty());  // nobody in its family waits for it
    CHECK(exits[0].more.at(0).word == child.header.pid);
    CHECK(found.wait->more[0].word == child.header.pid);
    CHECK(exits[0].more[0].payload == found.wait->more[0].payload);
    CHECK(exits[0].more.at(1).word <= found.wait->more.at(1).word);
    CHECK(exits[0].word >= found.wait->word);
    CHECK(exits[0].word <= found.wait->word + found.wait->payload);
  }
}

TEST_CASE("calls that give up after a time limit say so") {
  const Outcome outcome = run("calls_that_give_up", {{{"VPROF_WAITS_OFF", ""}}, {}, {}});
  REQUIRE(outcome.exit_code == 0);
  const std::map<uint32_t, size_t> calls = {{VPROF_EV_WAIT_FUTEX, 1},
                                            {VPROF_EV_WAIT_STREAM, 2},
                                            {VPROF_EV_WAIT_SEND, 2},
                                            {VPROF_EV_WAIT_SYSV, 1},
                                            {VPROF_EV_WAIT_SIGNAL, 1}};
  for (const auto& [event, count] : calls) {
    CAPTURE(event);
    size_t given_up = 0;
    for (const Found& found : waits_of(outcome, event)) {
      given_up += (found.wait->more.at(0).payload & VPROF_AUX_TIMED_OUT) != 0 ? 1 : 0;
    }
    CHECK(given_up == count);
  }
}

TEST_CASE("a poll says what its time limit was") {
  const Outcome outcome = run("poll_limits", {{{"VPROF_WAITS_OFF", ""}}, {}, {}});
  REQUIRE(outcome.exit_code == 0);
  std::vector<uint64_t> limits;
  for (const Found& found : waits_of(outcome, VPROF_EV_WAIT_TIMER)) {
    CHECK(polls(*found.wait));
    limits.push_back(found.wait->more.at(1).payload);
  }
  CHECK(limits == std::vector<uint64_t>{1001, 2001, 3001, 4001, 5001, 6001, 7001, 8001, 9001});
}

TEST_CASE("a poll that returns two descriptors does not say that one was ready") {
  const Outcome outcome = run("waits_poll_two_ready", {{{"VPROF_WAITS_OFF", ""}}, {}, {}});
  REQUIRE(outcome.exit_code == 0);
  const Found found = wait_told(outcome, VPROF_EV_WAIT_POLL);
  CHECK((found.wait->more.at(0).payload & VPROF_AUX_ONE_READY) == 0);
  CHECK(found.wait->more.at(1).payload == 60'000'001);
}

TEST_CASE("each class of waits can be left out") {
  for (const Case& c : kCases) {
    CAPTURE(c.scenario, c.name);
    const Outcome outcome =
        run(c.scenario, {{{"VPROF_WAITS_OFF", std::string("nothing,") + c.name}}, {}, {}});
    if (outcome.exit_code == 99) {
      continue;
    }
    REQUIRE(outcome.exit_code == 0);
    CHECK(waits_of(outcome, c.wait).empty());
    for (const Trace& trace : outcome.traces) {
      CHECK((trace.header.classes & VPROF_CLASS_ALL) != VPROF_CLASS_ALL);
      if (c.release != kNobody) {
        CHECK(trace.all(c.release).empty());
      }
    }
  }
}
#endif
