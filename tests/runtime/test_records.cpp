#include <catch2/catch.hpp>

#include "run.h"

using namespace vprof::test;

namespace {

// Every frame that the subject says it ran is in the trace or counted as dropped, and no slot is
// half written.
void check_accounted(const Outcome& outcome) {
  REQUIRE(outcome.exit_code == 0);
  REQUIRE(outcome.traces.size() == 1);
  const Trace& trace = outcome.traces[0];
  // What is dropped may also be a record of another kind.
  CHECK(trace.frames() + trace.header.dropped >= outcome.number("frames"));
  CHECK(trace.frames() <= outcome.number("frames"));
  for (const Thread& thread : trace.threads) {
    CHECK(thread.holes == 0);
  }
}

uint64_t all_dropped(const Trace& trace) {
  uint64_t sum = 0;
  for (const Record& record : trace.all(VPROF_EV_DROPPED)) {
    sum += record.payload;
  }
  return sum;
}

}  // namespace

TEST_CASE("frames are complete and nested") {
  const Outcome outcome = run("nested");
  REQUIRE(outcome.exit_code == 0);
  REQUIRE(outcome.traces.size() == 1);
  const Trace& trace = outcome.traces[0];
  CHECK(trace.frames(1) == outcome.number("leaves"));
  CHECK(trace.frames(2) == outcome.number("middles"));
  CHECK(trace.frames(3) == outcome.number("outers"));
  REQUIRE(trace.threads.size() == 1);
  CHECK(nesting_error(trace.threads[0]) == "");
  CHECK(trace.header.dropped == 0);
  CHECK(trace.header.record_ticks_x256 > 256);
  CHECK(trace.header.call_ticks_x256 > 0);
  CHECK(trace.header.start_processor_ns > 0);
  CHECK(trace.header.processor_ns > trace.header.start_processor_ns);
  CHECK(std::string(trace.header.program).find("subject") != std::string::npos);
  CHECK(trace.file_bytes == trace.header.used);  // cut at exit
}

namespace {

// Ends once the helper has written a snapshot of the clocks.
Setup until_clocks_are_read(const std::string& clock) {
  Setup setup{{{"VPROF_CLOCK", clock}}, {}, {}};
  setup.until = [](const std::vector<Trace>& traces) {
    return !traces.empty() && !traces[0].all(VPROF_EV_CLOCK).empty();
  };
  return setup;
}

}  // namespace

TEST_CASE("times are in ticks of the clock that the header names") {
  const std::string clock = GENERATE("tsc", "monotonic");
  const Outcome outcome = run("timed", until_clocks_are_read(clock));
  REQUIRE(outcome.exit_code == 0);
  REQUIRE(outcome.traces.size() == 1);
  const Trace& trace = outcome.traces[0];
  if (clock == "monotonic") {
    CHECK(trace.header.clock == VPROF_CLOCK_MONOTONIC);
    CHECK(trace.header.ticks_per_second == 1000000000);
  }
  const std::vector<Record> frames = trace.all(10);
  REQUIRE(frames.size() == 1);
  const uint64_t start = frames[0].word;
  const uint64_t end = start + frames[0].payload;
  CHECK(outcome.number("before") <= start);
  CHECK(start <= outcome.number("entered"));
  CHECK(outcome.number("left") <= end);
  CHECK(end <= outcome.number("after"));

  // Snapshots come later than the header's, by all clocks.
  const std::vector<Record> clocks = trace.all(VPROF_EV_CLOCK);
  REQUIRE(!clocks.empty());
  REQUIRE(clocks[0].more.size() == 2);
  CHECK(clocks[0].word > trace.header.start_ticks);
  CHECK(clocks[0].more[0].word > trace.header.start_monotonic_ns);
}

// The clocks are read one after another. A machine that stalls in between falsifies the rate.
TEST_CASE("the snapshots have the rate of the header's first estimate", "[soak]") {
  const Outcome outcome = run("timed", until_clocks_are_read("tsc"));
  const Trace& trace = outcome.traces.at(0);
  const Record clock = trace.all(VPROF_EV_CLOCK).at(0);
  const auto ticks = static_cast<double>(clock.word - trace.header.start_ticks);
  const auto nanoseconds =
      static_cast<double>(clock.more.at(0).word - trace.header.start_monotonic_ns);
  CHECK(ticks / nanoseconds * 1e9 ==
        Approx(static_cast<double>(trace.header.ticks_per_second)).epsilon(0.001));
}

TEST_CASE("each of 10,000 short threads is accounted for") {
  const Outcome outcome = run("many_threads", with_disk());
  check_accounted(outcome);
  const Trace& trace = outcome.traces[0];
  CHECK(trace.header.dropped == 0);
  constexpr uint64_t kOthers = kThreadSanitizer ? 1 : 0;
  CHECK((kThreadSanitizer || trace.header.threads == 10001));  // and the one that waited for them
  CHECK(trace.all(VPROF_EV_THREAD_START).size() >= 10000 + kOthers);
  CHECK(trace.all(VPROF_EV_RELEASE_JOIN).size() >= 10000);
  for (const Thread& thread : trace.threads) {
    CHECK(nesting_error(thread) == "");
  }
}

TEST_CASE("threads that record a lot get chunks without gaps") {
  const Outcome outcome = run("two_busy_threads", with_disk());
  check_accounted(outcome);
  CHECK(outcome.traces[0].header.dropped == 0);
  CHECK(outcome.traces[0].header.chunks > 4);
}

TEST_CASE("instrumented code in late destructors of a thread records") {
  const Outcome outcome = run("late_destructors");
  check_accounted(outcome);
  CHECK(outcome.traces[0].header.dropped == 0);
}

TEST_CASE("records of signal handlers are accounted for") {
  const std::string scenario = GENERATE("signal_storm", "signal_storm_between_threads");
  const Outcome outcome = run(scenario);
  check_accounted(outcome);
  CHECK(outcome.number("handled") >= 200);
  CHECK(all_dropped(outcome.traces[0]) <= outcome.traces[0].header.dropped);
}

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
TEST_CASE("a handler that records comes between any two instructions") {
  const Outcome outcome = run("signal_at_every_instruction");
  check_accounted(outcome);
  CHECK(outcome.number("handled") > 50000);
  CHECK(outcome.traces[0].header.dropped < outcome.number("frames") / 2);
  CHECK(outcome.traces[0].header.chunks > 3);
}

// In a ring, chunks come back: the next one lies behind the last one, or in front of it.
TEST_CASE("handlers that change the chunk come at any two instructions of a record") {
  Setup setup = countable();  // every signal looks like a preemption
  setup.environment["VPROF_RING_MB"] = "1";
  const Outcome outcome = run("two_handlers_in_one_record", setup);
  REQUIRE(outcome.exit_code == 0);
  REQUIRE(outcome.traces.size() == 1);
  const Trace& trace = outcome.traces[0];
  CHECK(trace.header.overwritten > 0);
  CHECK(trace.frames() + trace.header.dropped + trace.header.overwritten >=
        outcome.number("frames") + outcome.number("labels"));
  for (const Thread& thread : trace.threads) {
    CHECK(thread.holes == 0);
    CHECK(thread.orphans == 0);
  }
}
#endif

TEST_CASE("longjmp past open scopes leaves later frames right") {
  const Outcome outcome = run("longjmp_past_scopes");
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  CHECK(trace.frames(20) == 0);
  CHECK(trace.frames(3) == outcome.number("outers"));
  CHECK(nesting_error(trace.threads.at(0)) == "");
}

TEST_CASE("a site that an exception leaves is closed by its function") {
  const Outcome outcome = run("exceptions");
  REQUIRE(outcome.exit_code == 0);
  const Trace& trace = outcome.traces.at(0);
  CHECK(trace.frames(31) == 100);
  CHECK(trace.frames(32) == 100);
  CHECK(trace.frames(33) == 100);
  CHECK(trace.frames(30) == 200);
  CHECK(nesting_error(trace.threads.at(0)) == "");
}

TEST_CASE("sites that are operands of one operator do not overlap") {
  const Trace trace = run("operands").traces.at(0);
  CHECK(trace.frames(61) == 1000);
  CHECK(trace.frames(62) == 1000);
  CHECK(trace.frames(63) == 1000);
  const std::vector<Record> frames = trace.threads.at(0).frames();
  for (size_t i = 1; i < frames.size(); ++i) {
    CHECK(frames[i].word >= frames[i - 1].word + frames[i - 1].payload);
  }
}

TEST_CASE("sites that share a slot do not end each other") {
  const Trace both = run("shared_slots").traces.at(0);
  CHECK(both.frames(64) == 0);  // nobody saw it end
  CHECK(both.frames(65) == 10);
  CHECK(nesting_error(both.threads.at(0)) == "");
  // The function closes the first one when it returns, and not the second one, which is off.
  const Trace first = run("shared_slots", {{{"VPROF_SITES", "64,66"}}, {}, {}}).traces.at(0);
  CHECK(first.frames(64) == 10);
  CHECK(first.frames(65) == 0);
  CHECK(nesting_error(first.threads.at(0)) == "");
  const Trace second = run("shared_slots", {{{"VPROF_SITES", "65"}}, {}, {}}).traces.at(0);
  CHECK(second.frames(65) == 10);
  CHECK(second.frames() == 10);
}

TEST_CASE("of two open sites the inner one is closed first") {
  const Trace trace = run("nested_open_sites").traces.at(0);
  CHECK(trace.frames(41) == 10);
  CHECK(trace.frames(42) == 10);
  CHECK(nesting_error(trace.threads.at(0)) == "");
  const std::vector<Record> frames = trace.threads.at(0).frames();
  for (size_t i = 0; i + 1 < frames.size(); ++i) {
    if (frames[i].id == 42) {
      CHECK(frames[i + 1].id == 41);
    }
  }
}

TEST_CASE("a frame too long for a slot is an event") {
  const Trace trace = run("long_frame").traces.at(0);
  const std::vector<Record> frames = trace.all(VPROF_EV_LONG_FRAME);
  REQUIRE(frames.size() == 2);
  CHECK(frames[0].payload == 50);
  CHECK(frames[0].more.at(0).word == 1ull << 41);
  CHECK(frames[1].more.at(0).word == 0);
}

TEST_CASE("events of several slots stay whole at the end of a chunk") {
  const Outcome outcome = run("chunk_ends");
  check_accounted(outcome);
  const std::vector<Record> labels = outcome.traces[0].all(VPROF_EV_LABEL);
  CHECK(labels.size() == outcome.number("labels"));
  for (const Record& label : labels) {
    REQUIRE(label.more.size() == 1 + (label.payload + 7) / 8);
    CHECK(label.more[0].word == 7);
  }
}

TEST_CASE("sites are switched at run time and by the environment") {
  CHECK(run("toggled").traces.at(0).frames() == 2);
  const Trace some = run("nested", {{{"VPROF_SITES", "1,3-4"}}, {}, {}}).traces.at(0);
  CHECK(some.frames(1) == 4000);
  CHECK(some.frames(2) == 0);
  CHECK(some.frames(3) == 1000);
}

TEST_CASE("a function does not time again what a measured call times") {
  const Trace trace = run("scopes_within_calls").traces.at(0);
  CHECK(trace.frames(50) == 7);
  for (uint32_t site = 51; site <= 57; ++site) {
    CHECK(trace.frames(site) == 1);
  }
  // Where the call is not timed, the function is.
  const Trace without =
      run("scopes_within_calls", {{{"VPROF_SITES", "50,52-57"}}, {}, {}}).traces.at(0);
  CHECK(without.frames(50) == 8);
}

TEST_CASE("with all sites off, intervals alone are recorded") {
  const Setup off{{{"VPROF_SITES", "off"}}, {}, {}};
  const Trace trace = run("interval_scopes", off).traces.at(0);
  CHECK(trace.frames() == 0);
  CHECK(trace.all(VPROF_EV_BEGIN).size() == 4);
  CHECK(run("mutex_contended", off).traces.empty());
  CHECK(run("nested", off).traces.empty());
}

TEST_CASE("without a trace directory nothing is recorded") {
  const Outcome outcome = run("nested", {{{"VPROF_TRACE_DIR", ""}}, {}, {}});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.traces.empty());
  CHECK(outcome.output == "leaves 4000\nmiddles 1000\nouters 1000\n");
}
