// Random event loops: the analyzer's times against those read off nanosecond by nanosecond.
#include <catch2/catch.hpp>

#include "helpers.h"
#include "simulated_loops.h"

using namespace vprof;

namespace {

void check_loops(uint64_t first, uint64_t last) {
  uint64_t parked = 0;
  for (uint64_t seed = first; seed <= last; ++seed) {
    INFO("seed " << seed);
    const test::LoopSimulator loops(seed);
    test::ScratchDir dir;
    const std::string sites = loops.write(dir.path());
    const auto truth = loops.truth();
    for (const uint64_t window : {uint64_t{1}, uint64_t{1} << 17}) {
      analyzer::Options options;
      options.window = window;
      const auto profile = analyzer::analyze(dir.path(), sites, options);
      REQUIRE(profile);
      REQUIRE(profile->interval.count == loops.requests());
      CHECK(test::worst_violation(*profile) < 1e-9);
      const auto found = test::leaves(*profile);
      for (const auto& [path, ns] : truth) {
        INFO(path);
        CHECK(ns == (found.contains(path) ? found.at(path) : 0));
      }
      for (const auto& [path, ns] : found) {
        INFO(path << " " << ns);
        CHECK(truth.contains(path));
        parked += path.find("/parked(") != std::string::npos ? 1 : 0;
      }
    }
  }
  CHECK(parked > 4 * (last - first));
}

}  // namespace

TEST_CASE("random event loops: where parked requests wait equals the oracle") {
  check_loops(1, 200 / test::kEvery);
}

// Takes minutes: `vprof_analyzer_tests "[many]"`.
TEST_CASE("three thousand random event loops", "[.][many]") { check_loops(1, 3000); }
