// Hand-written recordings and their analysis.
#pragma once

#include <catch2/catch.hpp>
#include <map>

#include "helpers.h"
#include "trace_writer.h"

namespace vprof::test {

using Leaves = std::map<std::string, int64_t>;

/// Processes and their sites. Every profile is checked for conservation.
struct Case {
  ScratchDir dir;
  SitesWriter sites;
  std::vector<ProcessWriter> processes{ProcessWriter()};
  uint32_t f = sites.function("f", 3), g = sites.function("g", 2), h = sites.function("h", 1);
  uint32_t f_entry = sites.function_site(f), g_entry = sites.function_site(g),
           h_entry = sites.function_site(h);
  uint32_t g_in_f = sites.call_site(f, g), h_in_f = sites.call_site(f, h),
           f_in_g = sites.call_site(g, f);

  ThreadWriter& thread(uint32_t serial, size_t process = 0) {
    return processes[process].thread(serial);
  }

  analyzer::Profile profile(analyzer::Options options = {}) {
    for (const auto& process : processes) {
      process.write(dir.path());
    }
    auto result = analyzer::analyze(dir.path(), sites.write(dir.path()), options);
    INFO((result ? "" : result.error().message));
    REQUIRE(result);
    CHECK(worst_violation(*result) < 1e-9);
    int64_t sum = 0;
    for (const auto& [path, ns] : leaves(*result)) {
      sum += ns;
    }
    CHECK(sum ==
          std::llround(result->interval.mean_ns * static_cast<double>(result->interval.count)));
    return *result;
  }
};

}  // namespace vprof::test
