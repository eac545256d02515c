// Time without a processor: as threads find out by themselves, as the kernel reports it, and what
// happens where it does not. test_simulated_preemption.cpp checks exact times.
#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>

#include "refusal.h"
#include "run.h"

using namespace vprof::test;

namespace {

// The main thread's, by time. It need not be the first thread: in a child of fork ThreadSanitizer
// first starts one of its own.
std::vector<Record> preemptions(const Trace& trace) {
  const auto main_thread =
      std::find_if(trace.threads.begin(), trace.threads.end(),
                   [&](const Thread& thread) { return thread.tid == trace.header.pid; });
  REQUIRE(main_thread != trace.threads.end());
  std::vector<Record> found = trace.all(VPROF_EV_PREEMPTED);
  std::erase_if(found, [&](const Record& record) {
    REQUIRE(record.more.size() == 1);
    return record.more[0].word != main_thread->serial;
  });
  std::sort(found.begin(), found.end(),
            [](const Record& a, const Record& b) { return a.word < b.word; });
  return found;
}

uint64_t preempted_us(const Trace& trace) {
  uint64_t ticks = 0;
  for (const Record& record : preemptions(trace)) {
    ticks += record.payload;
  }
  return static_cast<uint64_t>(static_cast<double>(ticks) * 1e6 /
                               static_cast<double>(trace.header.ticks_per_second));
}

// No more than the kernel has counted.
void check_number(const std::vector<Record>& found, const Outcome& outcome) {
  const auto counted = std::count_if(found.begin(), found.end(), [&](const Record& record) {
    return record.word + record.payload <= outcome.number("until");
  });
  CHECK(static_cast<uint64_t>(counted) <= outcome.number("preemptions"));
}

bool refused(const Trace& trace) {
  if (trace.header.switches_refused == 0) {
    return false;
  }
  WARN("not checked: the kernel does not report context switches here");
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

const Refusal kNotAllowed{"not allowed", SYS_perf_event_open, EACCES};
const Setup kWithoutPrivileges{{}, [] { refuse(kNotAllowed); }, {}};

}  // namespace

TEST_CASE("time without a processor is recorded") {
  const std::string scenario = GENERATE("loses_the_processor", "loses_the_processor_in_a_child");
  const Outcome outcome = run(scenario, GENERATE(kByThemselves, kByKernel));
  CAPTURE(scenario);
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.back();
  if (refused(trace)) {
    return;
  }
  const std::vector<Record> found = preemptions(trace);
  for (const char* number : {"0", "1", "2"}) {
    const uint64_t from = outcome.number(std::string("from") + number);
    const uint64_t to = outcome.number(std::string("to") + number);
    const bool told = std::any_of(found.begin(), found.end(), [&](const Record& record) {
      return record.word < to && record.word + record.payload > from;
    });
    // Where other programs take the processor thousands of times a second, the ring may overflow.
    CHECK((told || trace.header.switches_lost > 0));
  }
  check_number(found, outcome);
  uint64_t end = trace.header.start_ticks;
  for (const Record& record : found) {
    CHECK(record.word >= end);
    end = record.word + record.payload;
  }
  CHECK(trace.header.unwatched == 0);
  for (const Record& record : trace.all(VPROF_EV_PREEMPTED)) {
    CHECK(record.more[0].word >= 1);
    CHECK(record.more[0].word <= trace.threads.size());
  }
}

TEST_CASE("a sleep is not preemption, whether it is recorded or not") {
  Setup setup = GENERATE(kByThemselves, kByKernel);
  if (GENERATE(false, true)) {
    setup.environment["VPROF_WAITS_OFF"] = "timer";
  }
  const Outcome outcome = run("naps", setup);
  const Trace& trace = outcome.traces.at(0);
  if (refused(trace)) {
    return;
  }
  check_number(preemptions(trace), outcome);
}

// The clocks and the kernel's own count agree to a few percent, unless the machine is very busy.
TEST_CASE("nearly all time without a processor is recorded", "[soak]") {
  const std::string scenario =
      GENERATE("share_a_processor", "share_a_processor_and_nap", "share_a_processor_and_wait",
               "share_a_processor_in_a_child");
  // ThreadSanitizer's waits for conditions are its own.
  if (kThreadSanitizer && scenario == "share_a_processor_and_wait") {
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
  CHECK(found + stolen + 10000 > lacked * 9 / 10);  // stolen time is counted to 10 ms
  CHECK(found < most * 11 / 10 + 5000);  // starting the other thread is before the first look
}

TEST_CASE("a preemption lies within one frame, and after what was recorded before it") {
  const Outcome outcome = run("loses_the_processor");
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

TEST_CASE("threads without privileges detect preemption by themselves") {
  const Outcome outcome = run("loses_the_processor", kWithoutPrivileges);
  REQUIRE(outcome.exit_code == 0);
  if (unregistered(outcome)) {
    return;
  }
  CHECK(!outcome.traces.at(0).all(VPROF_EV_PREEMPTED).empty());
  CHECK(outcome.traces[0].header.unwatched == 0);
}

TEST_CASE(
    "a program that clears the mark is left to the kernel, and counted if that reports nothing") {
  const Outcome outcome = run("clears_its_sequence", kWithoutPrivileges);
  REQUIRE(outcome.exit_code == 0);
  if (unregistered(outcome)) {
    return;
  }
  CHECK(outcome.traces.at(0).header.unwatched == 1);
  CHECK(outcome.traces[0].header.switches_refused == EACCES);
}

TEST_CASE("threads that switch very often are let go, and counted", "[soak]") {
  const Outcome outcome = run("switches_often", kByKernel);
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  if (refused(trace)) {
    return;
  }
  if (outcome.number("turns") < 25000) {
    WARN("not checked: the machine was too busy to switch 25,000 times");
    return;
  }
  CHECK(trace.header.let_go == 2);
  CHECK(trace.header.threads == (kThreadSanitizer ? 4 : 3));
}

TEST_CASE("preemption can be left out") {
  const Outcome outcome = run("loses_the_processor", {{{"VPROF_WAITS_OFF", "preemption"}}, {}, {}});
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  CHECK(trace.all(VPROF_EV_PREEMPTED).empty());
  CHECK((trace.header.classes & VPROF_CLASS_PREEMPTION) == 0);
  CHECK(trace.header.switches_refused == 0);
  CHECK(trace.header.unwatched == 0);
}

TEST_CASE("the trace says if the kernel does not report context switches") {
  constexpr int kFlags = 3;
  constexpr uint32_t kMapShared = 1;  // nobody else maps a file just so
  const Refusal refusal =
      GENERATE_COPY(Refusal{kNotAllowed}, Refusal{"not known", SYS_perf_event_open, ENOSYS},
                    Refusal{"no memory to lock", SYS_mmap, EPERM, kFlags, kMapShared});
  CAPTURE(refusal.what);
  Setup setup = kByKernel;
  setup.before_exec = [&] { refuse(refusal); };
  const Outcome outcome = run("loses_the_processor", setup);
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

TEST_CASE("a program in a sandbox is not killed for our calls") {
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
