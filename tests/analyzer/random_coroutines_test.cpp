// Random coroutines: the analyzer's times against those read off microsecond by microsecond.
#include <catch2/catch.hpp>

#include "helpers.h"
#include "simulated_coroutines.h"

using namespace vprof;

namespace {

void check_coroutines(uint64_t first, uint64_t last) {
  uint64_t suspended = 0;
  for (uint64_t seed = first; seed <= last; ++seed) {
    INFO("seed " << seed);
    const test::CoroutineSimulator coroutines(seed);
    test::ScratchDir dir;
    const std::string sites = coroutines.write(dir.path());
    const auto truth = coroutines.truth();
    for (const uint64_t window : {uint64_t{1}, uint64_t{1} << 17}) {
      analyzer::Options options;
      options.window = window;
      const auto profile = analyzer::analyze(dir.path(), sites, options);
      REQUIRE(profile);
      REQUIRE(profile->interval.count == coroutines.requests());
      CHECK(test::worst_violation(*profile) < 1e-9);
      const auto found = test::leaves(*profile);
      for (const auto& [path, ns] : truth) {
        INFO(path);
        CHECK(ns == (found.contains(path) ? found.at(path) : 0));
      }
      for (const auto& [path, ns] : found) {
        INFO(path << " " << ns);
        CHECK(truth.contains(path));
        suspended += path.find("/co_await(") != std::string::npos ? 1 : 0;
      }
    }
  }
  CHECK(suspended > 4 * (last - first));
}

}  // namespace

TEST_CASE("random coroutines: what keeps them suspended equals the oracle") {
  check_coroutines(1, 200 / test::kEvery);
}

// Takes minutes: `vprof_analyzer_tests "[many]"`.
TEST_CASE("three thousand programs of random coroutines", "[.][many]") {
  check_coroutines(1, 3000);
}
