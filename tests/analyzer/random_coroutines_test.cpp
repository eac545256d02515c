// Random coroutines: the analyzer's times against those read off microsecond by microsecond.
#include "oracle.h"
#include "simulated_coroutines.h"

using namespace vprof;

namespace {

void check_coroutines(uint64_t first, uint64_t last) {
  test::check_against_oracle<test::CoroutineSimulator>(first, last, "co_await");
}

}  // namespace

TEST_CASE("random coroutines: what keeps them suspended equals the oracle") {
  check_coroutines(1, 200 / test::kEvery);
}

// Takes minutes: `vprof_analyzer_tests "[many]"`.
TEST_CASE("three thousand programs of random coroutines", "[.][many]") {
  check_coroutines(1, 3000);
}
