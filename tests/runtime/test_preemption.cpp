// When threads had no processor: as they find it out by themselves, as the kernel tells it, and what happens where it does not.
#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>

#include "refusal.h"
#include "run.h"

using namespace vprof::test;

namespace {

// Of the main thread, in us. It need not be the first: in a child of fork ThreadSanitizer starts one of its own before.
uint64_t preempted_us(const Trace& trace) {
  const auto main_thread =
      std::find_if(trace.threads.begin(), trace.threads.end(),
                   [&](const Thread& thread) { return thread.tid == trace.header.pid; });
  REQUIRE(main_thread != trace.threads.end());
  uint64_t ticks = 0;
  for (const Record& record : trace.all(VPROF_EV_PREEMPTED)) {
    REQUIRE(record.more.size() == 1);
    if (record.more[0].word == main_thread->serial) {
      ticks += record.payload;
    }
  }
  return static_cast<uint64_t>(static_cast<double>(ticks) * 1e6 /
                               static_cast<double>(trace.header.ticks_per_second));
}

bool refused(const Trace& trace) {
  if (trace.header.switches_refused == 0) {
    return false;
  }
  WARN("not checked: the kernel tells nothing of context switches here");
  return true;
}

bool unregistered(const Outcome& outcome) {
  if (outcome.number("registered") != 0) {
    return false;
  }
  WARN("not checked: libc has no restartable sequences");
  return true;
}

// By restartable sequences, unless libc has none.
const Setup kByThemselves{};
const Setup kByKernel{{{"VPROF_PREEMPTION", "perf"}}, {}, {}};

}  // namespace

TEST_CASE("time without a processor is recorded") {
  const char* scenario = GENERATE("share_a_processor", "share_a_processor_and_nap",
                                  "share_a_processor_and_wait", "share_a_processor_in_a_child");
  // Whose waits for conditions are its own.
  if (kThreadSanitizer && std::string(scenario) == "share_a_processor_and_wait") {
    return;
  }
  const Outcome outcome = run(scenario, GENERATE(kByThemselves, kByKernel));
  CAPTURE(scenario);
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.back();
  if (refused(trace)) {
    return;
  }
  const uint64_t lacked = outcome.number("wall_us") - outcome.number("processor_us");
  REQUIRE(lacked > 50000);  // two threads, one processor
  const uint64_t found = preempted_us(trace);
  const uint64_t stolen = outcome.number("stolen_us");
  // On a busy machine the program also waits for its processor between its clocks and ours.
  const uint64_t most = std::max(lacked, outcome.number("queued_us"));
  CAPTURE(lacked, stolen, most, found);
  CHECK(found + stolen + 10000 > lacked * 9 / 10);  // to 10 ms: how stolen time is counted
  CHECK(found < most * 11 / 10 + 5000);  // starting the other thread is before the first look
  CHECK(trace.header.unwatched == 0);
  CHECK(trace.header.switches_lost == 0);
  for (const Record& record : trace.all(VPROF_EV_PREEMPTED)) {
    CHECK(record.word > trace.header.start_ticks);
    CHECK(record.more[0].word >= 1);
    CHECK(record.more[0].word <= trace.threads.size());
  }
}

TEST_CASE("a sleep is no preemption, whether it is recorded or not") {
  Setup setup = GENERATE(kByThemselves, kByKernel);
  if (GENERATE(false, true)) {
    setup.environment["VPROF_WAITS_OFF"] = "timer";
  }
  const Outcome outcome = run("naps", setup);
  const Trace& trace = outcome.traces.at(0);
  if (refused(trace)) {
    return;
  }
  CHECK(preempted_us(trace) < 100000);  // of 200 ms and more; the rest is the machine's
}

TEST_CASE("a preemption lies within one frame, and after what was recorded before it") {
  const Outcome outcome = run("share_a_processor");
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  const uint64_t slack = trace.header.ticks_per_second / 1000000 * 3;  // 3 us: two clocks
  for (const Thread& thread : trace.threads) {
    const Record* before = nullptr;
    const Record* preempted = nullptr;
    for (const Record& record : thread.records) {
      const bool frame = record.id < VPROF_EV_FIRST;
      if (frame && preempted != nullptr) {  // the next that ended: around it, or after it
        const uint64_t end = preempted->word + preempted->payload;
        CHECK((record.word <= preempted->word + slack || record.word + slack >= end));
        preempted = nullptr;
      }
      if (frame) {
        before = &record;
      }
      if (record.id != VPROF_EV_PREEMPTED) {
        continue;
      }
      preempted = &record;
      if (before != nullptr) {
        CHECK(before->word + before->payload <= record.word);
      }
    }
  }
}

TEST_CASE("threads without privileges find out by themselves") {
  Setup setup;
  setup.before_exec = [] { refuse({"not allowed", SYS_perf_event_open, EACCES}); };
  const Outcome outcome = run("share_a_processor", setup);
  REQUIRE(outcome.exit_code == 0);
  if (unregistered(outcome)) {
    return;
  }
  CHECK(!outcome.traces.at(0).all(VPROF_EV_PREEMPTED).empty());
  CHECK(outcome.traces[0].header.unwatched == 0);
}

TEST_CASE(
    "a program that clears the mark is left to the kernel, and counted where that tells nothing") {
  Setup setup;
  setup.before_exec = [] { refuse({"not allowed", SYS_perf_event_open, EACCES}); };
  const Outcome outcome = run("clears_its_sequence", setup);
  REQUIRE(outcome.exit_code == 0);
  if (unregistered(outcome)) {
    return;
  }
  CHECK(outcome.traces.at(0).header.unwatched == 1);
  CHECK(outcome.traces[0].header.switches_refused == EACCES);
}

TEST_CASE("threads that switch very often are let go, and counted") {
  const Outcome outcome = run("switches_often", kByKernel);
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  if (refused(trace)) {
    return;
  }
  if (outcome.number("turns") < 25000) {
    WARN("not checked: the machine is too busy for so many switches");
    return;
  }
  CHECK(trace.header.let_go == 2);
  CHECK(trace.header.threads == (kThreadSanitizer ? 4 : 3));
}

TEST_CASE("preemption can be left out") {
  const Outcome outcome = run("share_a_processor", {{{"VPROF_WAITS_OFF", "preemption"}}, {}, {}});
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  CHECK(trace.all(VPROF_EV_PREEMPTED).empty());
  CHECK((trace.header.classes & VPROF_CLASS_PREEMPTION) == 0);
  CHECK(trace.header.switches_refused == 0);
  CHECK(trace.header.unwatched == 0);
}

TEST_CASE("a kernel that tells nothing of context switches: the trace says so") {
  constexpr int kFlags = 3;
  constexpr uint32_t kMapShared = 1;  // nobody else maps a file just so
  const Refusal refusal =
      GENERATE_COPY(Refusal{"not allowed", SYS_perf_event_open, EACCES},
                    Refusal{"not known", SYS_perf_event_open, ENOSYS},
                    Refusal{"no memory to lock", SYS_mmap, EPERM, kFlags, kMapShared});
  CAPTURE(refusal.what);
  Setup setup = kByKernel;
  setup.before_exec = [&] { refuse(refusal); };
  const Outcome outcome = run("share_a_processor", setup);
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  CHECK(trace.all(VPROF_EV_PREEMPTED).empty());
  CHECK(trace.header.unwatched == trace.header.threads);
  CHECK(trace.header.switches_refused == static_cast<uint64_t>(refusal.error));
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // they need descriptors
TEST_CASE("any single call for a thread's switches may fail") {
  if (refused(run("naps", kByKernel).traces.at(0))) {
    return;
  }
  for (rlim_t descriptors = 4; descriptors <= 12; ++descriptors) {
    CAPTURE(descriptors);
    Setup setup = kByKernel;
    setup.before_exec = [&] {
      const rlimit limit{descriptors, descriptors};
      setrlimit(RLIMIT_NOFILE, &limit);
    };
    const Outcome outcome = run("many_recording_threads", setup);
    if (outcome.exit_code == 127) {
      continue;  // the program could not even be loaded
    }
    REQUIRE(outcome.exit_code == 0);
    if (outcome.traces.empty()) {
      continue;  // nor could the trace be opened
    }
    const Trace& trace = outcome.traces[0];
    CHECK(trace.header.threads == 1 + outcome.number("threads"));
    if (trace.header.unwatched != 0) {
      CHECK(trace.header.switches_refused == EMFILE);
      CHECK(trace.header.unwatched < trace.header.threads);
    }
  }
}
#endif

TEST_CASE("a program that has shut itself in is not ended by ours") {
  const Outcome outcome = run("shuts_itself_in", kByKernel);
  CHECK(outcome.signal == 0);
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  if (trace.header.unwatched == trace.header.threads) {
    return;  // the kernel allows nothing anyway
  }
  CHECK(trace.header.switches_refused == EPERM);
  CHECK(trace.header.unwatched == (kThreadSanitizer ? 2 : 1));
}
