// Random programs whose times are known: the analyzer's against those of the oracle.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "helpers.h"
#include "trace_writer.h"
#include "vprof/analyzer/analyzer.h"

namespace vprof::test {

/// Names the leaves `PATH/body` as reports do. A body that is all of its function is not shown.
/// @param wait how the names of waits begin: their bodies are the time until the thread runs again
inline std::map<std::string, int64_t> with_named_bodies(const std::map<std::string, int64_t>& times,
                                                        const std::string& wait) {
  std::map<std::string, int64_t> named;
  for (const auto& [path, ns] : times) {
    if (!path.ends_with("/body")) {
      named[path] += ns;
      continue;
    }
    const std::string whole = path.substr(0, path.size() - 5);
    const auto below = std::count_if(times.begin(), times.end(), [&](const auto& other) {
      return other.first.starts_with(whole + "/");
    });
    const std::string name = whole.substr(whole.rfind('/') + 1);
    const std::string body =
        name.starts_with(wait + "(") ? "wake-up" + name.substr(wait.size()) : "body(" + name + ")";
    named[below == 1 ? whole : whole + "/" + body] += ns;
  }
  return named;
}

/// Every leaf of the programs with these seeds. `kind` names nodes that most programs must have.
template <class Simulator>
void check_against_oracle(uint64_t first, uint64_t last, const std::string& kind) {
  uint64_t seen = 0;
  for (uint64_t seed = first; seed <= last; ++seed) {
    INFO("seed " << seed);
    const Simulator simulator(seed);
    const ScratchDir dir;
    const std::string sites = simulator.write(dir.path());
    const auto truth = simulator.truth();
    for (const uint64_t window : {uint64_t{1}, uint64_t{1} << 17}) {
      analyzer::Options options;
      options.window = window;
      const auto profile = analyzer::analyze(dir.path(), sites, options);
      REQUIRE(profile);
      REQUIRE(profile->interval.count == simulator.requests());
      CHECK(worst_violation(*profile) < 1e-9);
      const auto found = leaves(*profile);
      for (const auto& [path, ns] : truth) {
        INFO(path);
        CHECK(ns == (found.contains(path) ? found.at(path) : 0));
      }
      for (const auto& [path, ns] : found) {
        INFO(path << " " << ns);
        CHECK(truth.contains(path));
        seen += path.find("/" + kind + "(") != std::string::npos ? 1 : 0;
      }
    }
  }
  CHECK(seen > 4 * (last - first));
}

}  // namespace vprof::test
