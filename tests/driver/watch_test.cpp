// What the flight recorder takes for slow, and what it keeps.
#include <catch2/catch.hpp>
#include <cmath>

#include "pipeline/recordings/kept_recordings.h"
#include "search/live/watch/slow_bound.h"
#include "temporary.h"

using namespace vprof;
using namespace vprof::driver;

TEST_CASE("slow is a latency, or a percentile of a thousand intervals and more") {
  analyzer::Profile profile;
  profile.interval.count = 999;
  profile.interval.p999_ns = 7e6;
  CHECK(SlowBound::parse("50ms")->ns(profile) == 50e6);
  CHECK(SlowBound::parse("1.5s")->ns(profile) == 1.5e9);
  CHECK(SlowBound::parse("200us")->ns(profile) == Approx(200e3));
  CHECK(std::isinf(SlowBound::parse("p99.9")->ns(profile)));
  profile.interval.count = 1000;
  CHECK(SlowBound::parse("p99.9")->ns(profile) == 7e6);
  CHECK_FALSE(SlowBound::parse("fast"));
}

TEST_CASE("kept recordings: the oldest ones go when there is no more room") {
  const test::Temporary directory;
  const Workspace workspace(directory.path());
  const auto keep = [&](size_t bytes) {
    REQUIRE(make_directories(workspace.window()));
    REQUIRE(write_file_atomic(workspace.window() / "1-2.vpt", std::string(bytes, 'x')));
    REQUIRE(write_file_atomic(workspace.window() / "sites.json", "{}"));
    return *keep_recording(workspace, workspace.window(), 1000);
  };
  const fs::path first = keep(400);
  const fs::path second = keep(400);
  CHECK(kept_recordings(workspace) == std::vector<fs::path>{first, second});
  const fs::path third = keep(400);
  CHECK(kept_recordings(workspace) == std::vector<fs::path>{second, third});
  // The newest one stays, however large it is.
  const fs::path large = keep(4000);
  CHECK(kept_recordings(workspace) == std::vector<fs::path>{large});
  CHECK(recordings_of(workspace, 1, true) == std::vector<fs::path>{large});
  CHECK(recordings_of(workspace, 1, false).empty());
}
