// Trees so large that memory bounds the number of batches, and of collectors side by side.
#include <fmt/format.h>

#include "path_case.h"
#include "profile/profile_file.h"
#include "statistics/histogram.h"
#include "statistics/moments.h"

using namespace vprof;
using namespace vprof::test;

TEST_CASE("a large tree has fewer batches, and the same sums for any number of threads") {
  constexpr size_t kFunctions = 30;  // each calls each
  constexpr int kVisits = 8;         // so that most places are in several collectors
  Case c;
  std::vector<uint32_t> outer;
  std::vector<uint32_t> inner;
  for (size_t i = 0; i < kFunctions; ++i) {
    outer.push_back(c.sites.function_site(c.sites.function(fmt::format("outer{}", i), 2)));
    inner.push_back(c.sites.function_site(c.sites.function(fmt::format("inner{}", i), 1)));
  }
  ThreadWriter& t = c.thread(1);
  int64_t now = 0;
  uint64_t id = 0;
  for (int visit = 0; visit < kVisits; ++visit) {
    for (const uint32_t a : outer) {
      for (const uint32_t b : inner) {
        const auto ns = static_cast<int64_t>(10 + id % 7 * 100);
        t.begin(++id, now);
        t.frame(b, now + 2, now + ns);
        t.frame(a, now + 1, now + ns + 3);
        t.end(id, now + ns + 5);
        now += ns + 10;
      }
    }
  }
  size_t fewer = SIZE_MAX;
  for (const uint64_t memory : {400, 25, 1}) {
    CAPTURE(memory);
    analyzer::Options options;
    options.memory = memory << 20;
    options.threads = 1;
    const std::string alone = c.profile(options).bytes;
    options.threads = 8;
    CHECK((c.profile(options).bytes == alone));
    const auto sums = analyzer::from_bytes(alone);
    REQUIRE(sums);
    CHECK(sums->count() == kVisits * kFunctions * kFunctions);
    CHECK(sums->places.size() > kFunctions * kFunctions);
    CHECK(sums->batches.size() >= 8);
    CHECK(sums->batches.size() < fewer);
    fewer = sums->batches.size();
  }
  CHECK(fewer <= 16);
}

TEST_CASE("sums by latency: few bins and many") {
  for (const uint32_t bins : {1U, 20U, 64U, 65U, 66U, 300U}) {
    const uint32_t apart = GENERATE(1U, 3U);  // if they are close together, it is an array at once
    CAPTURE(bins, apart);
    analyzer::TailSums sums;
    std::map<uint32_t, uint64_t> expected;
    for (uint32_t i = 0; i < 4 * bins; ++i) {
      const uint32_t bin = 1000 + i * 7919 % bins * apart - (i > bins && i % 2 == 0 ? 500 : 0);
      sums.add(bin, i + 1);
      expected[bin] += i + 1;
    }
    std::map<uint32_t, uint64_t> found;
    uint32_t last = 0;
    sums.for_each([&](uint32_t bin, analyzer::UInt128 ns) {
      CHECK(bin > last);
      last = bin;
      found[bin] = static_cast<uint64_t>(ns);
    });
    CHECK(found == expected);
  }
}
