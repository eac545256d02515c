// How the intervals compare with the recording.
#include "analysis/presence.h"

#include <catch2/catch.hpp>

using namespace vprof::analyzer;

TEST_CASE("presence: time in intervals, of the threads that work for them") {
  Presence presence;
  Interval interval;
  interval.begin = 100;
  interval.end = 400;
  interval.segments = {{100, 200, 0, 200, {}}, {300, 400, 2, 400, {}}};
  presence.add(interval);
  interval.begin = 600;
  interval.end = 700;
  interval.segments = {{600, 700, 0, 700, {}}};
  presence.add(interval);
  Overhead overhead;
  presence.add_to(overhead);
  CHECK(overhead.run_ns == 600);
  CHECK(overhead.working_threads == 2);
  CHECK(overhead.working_ns == 300);
  CHECK(overhead.present_ns == 700);

  Overhead nothing;
  Presence().add_to(nothing);
  CHECK(nothing.run_ns == 0);
}
