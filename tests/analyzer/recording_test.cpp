// A recording that grows, counted while it does.
#include <catch2/catch.hpp>

#include "trace_writer.h"
#include "vprof/analyzer/recording.h"

using namespace vprof::analyzer;
using namespace vprof::test;

namespace {

/// Intervals of one call and one wait each: `records` of them, with their continuations.
constexpr uint64_t kRecordsPerInterval = 4;

void add_intervals(ThreadWriter& thread, uint64_t from, uint64_t to) {
  for (uint64_t id = from; id < to; ++id) {
    const auto time = static_cast<int64_t>(1000 * id);
    thread.begin(id, time);
    thread.frame(1, time + 1, time + 2);
    thread.wait(VPROF_EV_WAIT_MUTEX, {.address = 1}, time + 3, time + 4);
    thread.end(id, time + 5);
  }
}

}  // namespace

TEST_CASE("a recording without a file holds nothing") {
  const ScratchDir scratch;
  RecordingCounter counter(scratch.path("none"));
  CHECK(counter.look().intervals == 0);
  CHECK(counter.look().exact);
}

TEST_CASE("a small recording is counted exactly while it grows") {
  const ScratchDir scratch;
  RecordingCounter counter(scratch.path());
  ProcessWriter process;
  for (uint64_t step = 1; step <= 5; ++step) {
    add_intervals(process.thread(1), 100 * (step - 1) + 1, 100 * step + 1);
    add_intervals(process.thread(2), 100 * (step - 1) + 1, 100 * step + 1);
    process.thread(0).preempted(1, 5, 6);  // the helper's records are nobody's calls
    process.write(scratch.path());
    const RecordedSoFar now = counter.look();
    CHECK(now.intervals == 200 * step);
    CHECK(now.records == 200 * step * kRecordsPerInterval);
    CHECK(now.exact);
  }
  CHECK(counter.look().intervals == 1000);
}

TEST_CASE("a record that was cut off hides nothing of a full chunk") {
  const ScratchDir scratch;
  ProcessWriter process;
  process.thread(1).torn();
  add_intervals(process.thread(1), 1, 201);
  process.write(scratch.path());
  RecordingCounter counter(scratch.path());
  CHECK(counter.look().intervals == 200);
}

TEST_CASE("of a recording that grows fast a part is read, and the rest judged by it") {
  const ScratchDir scratch;
  RecordingCounter counter(scratch.path(), 1024);
  ProcessWriter process;
  add_intervals(process.thread(1), 1, 20'001);
  process.write(scratch.path());
  const RecordedSoFar now = counter.look();
  CHECK_FALSE(now.exact);
  CHECK(now.intervals == Approx(20'000).epsilon(0.02));
  CHECK(now.records == Approx(20'000 * kRecordsPerInterval).epsilon(0.02));
}
