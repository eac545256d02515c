// What people and programs read: a Profile and the story of the loop, as text or JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "vprof/analyzer/analyzer.h"

namespace vprof::report {

/// A factor that stood at the top.
struct Leading {
  std::string factor;
  double contribution = 0;
};

/// One turn of the loop, for "iterations" of report.json.
struct Iteration {
  std::vector<std::string> expanded;  ///< names of functions first expanded in this iteration
  uint64_t sites = 0;
  double build_s = 0;
  double run_s = 0;
  double mean_ns = 0;
  double variance_ns2 = 0;
  /// Beside the run with all sites off; 0: there was none.
  double mean_ratio = 0;
  double variance_ratio = 0;
  std::vector<std::string> selected;   ///< names of factors accepted after this iteration
  std::vector<std::string> set_aside;  ///< ... and of those set aside
  std::vector<Leading> leading;        ///< the first k factors
  uint64_t demoted = 0;                ///< call sites left out of this iteration's plan at first
};

/// A call site that is left in the body of its function, as it is called often and varies little.
struct Demoted {
  std::string function;  ///< callee
  std::string site;      ///< `file:line:column`
  uint64_t calls = 0;    ///< in the last run that measured it
  double cost = 0;       ///< of measuring it there, as a part of the median latency at most
  int since = 0;         ///< first iteration without it
};

/// What the instrumenter could not do, from sites.json.
struct Unwrapped {
  std::string reason;
  uint64_t count = 0;
};

struct Story {
  std::vector<Iteration> iterations;
  std::vector<Unwrapped> unwrapped;
  std::vector<Demoted> demoted;
  double overhead_budget = 0;  ///< part by which measuring may raise the mean; 0: none was set
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

/// What each iteration expanded and found, and what was decided: a paragraph each.
std::string history_text(const std::vector<Iteration>& iterations, const TextOptions& options);
/// The same as "iterations" of report.json.
nlohmann::json history_json(const std::vector<Iteration>& iterations);

/// report.json, schema 1 (DESIGN §10). Fields are added, never renamed.
nlohmann::json json(const analyzer::Profile& profile, const Story& story);

/// The same as it is written: a line for each value, but the tree, which would be indented as deep
/// as programs call, on one line.
std::string json_text(const analyzer::Profile& profile, const Story& story);

/// The reverse of json(), so that `vprof report` can print a report made earlier. Error: one line.
Result<std::pair<analyzer::Profile, Story>> from_json(const nlohmann::json& document);

}  // namespace vprof::report
