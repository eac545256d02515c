// Random event loops: the analyzer's times against those read off nanosecond by nanosecond.
#include "oracle.h"
#include "simulated_loops.h"

using namespace vprof;

namespace {

void check_loops(uint64_t first, uint64_t last) {
  test::check_against_oracle<test::LoopSimulator>(first, last, "parked");
}

}  // namespace

TEST_CASE("random event loops: where parked requests wait equals the oracle") {
  check_loops(1, 200 / test::kEvery);
}

// Takes minutes: `vprof_analyzer_tests "[many]"`.
TEST_CASE("three thousand random event loops", "[.][many]") { check_loops(1, 3000); }
