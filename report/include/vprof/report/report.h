// What people and programs read: a Profile and the story of the loop, as text or JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "vprof/analyzer/analyzer.h"

namespace vprof::report {

/// One turn of the loop, for "iterations" of report.json.
struct Iteration {
  std::vector<std::string> expanded;  ///< names of functions first expanded in this iteration
  uint64_t sites = 0;
  double build_s = 0;
  double run_s = 0;
  double mean_ns = 0;
  double variance_ns2 = 0;
};

/// What the instrumenter could not do, from sites.json.
struct Unwrapped {
  std::string reason;
  uint64_t count = 0;
};

struct Story {
  std::vector<Iteration> iterations;
  std::vector<Unwrapped> unwrapped;
};

struct TextOptions {
  int width = 80;      ///< columns
  bool color = false;  ///< ANSI colours
};

/// A page for a terminal: latency summary, ranked factors with bars and path, what was not seen.
std::string text(const analyzer::Profile& profile, const Story& story, const TextOptions& options);

/// The variance tree as indented text, nodes below `min_contribution` folded into a count.
std::string tree_text(const analyzer::Profile& profile, double min_contribution,
                      const TextOptions& options);

/// report.json, schema 1 (DESIGN §10). Fields are added, never renamed.
nlohmann::json json(const analyzer::Profile& profile, const Story& story);

/// The reverse of json(), so that `vprof report` can print a report made earlier. Error: one line.
analyzer::Result<std::pair<analyzer::Profile, Story>> from_json(const nlohmann::json& document);

}  // namespace vprof::report
