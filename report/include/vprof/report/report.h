// A Profile and the search behind it, as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "vprof/analyzer/analyzer.h"

namespace vprof::report {

/// One of the first k factors.
struct LeadingFactor {
  std::string factor;
  double contribution = 0;  ///< its weight: what the ranking counts
  /// Its share; of a covariance, the contribution. Nothing in reports of earlier versions.
  std::optional<double> share = {};
  bool marked = false;  ///< it was certain to be more than chance
};

/// One iteration of the search.
struct Iteration {
  std::vector<std::string> expanded;  ///< functions first expanded in it
  uint64_t sites = 0;
  double build_s = 0;
  double run_s = 0;
  double mean_ns = 0;
  double variance_ns2 = 0;
  /// Ratios to the run with all sites off; 0: no such run.
  double mean_ratio = 0;
  double variance_ratio = 0;
  std::vector<std::string> selected;   ///< factors accepted after it
  std::vector<std::string> set_aside;  ///< factors set aside after it
  std::vector<LeadingFactor> leading;  ///< the first k factors
  uint64_t demoted = 0;                ///< call sites newly left out of its plan
};

/// A call site, or a function's own scope, that is not measured because that costs too much. Its
/// time then belongs to the body of the caller.
struct Demoted {
  std::string function;  ///< callee
  std::string key = {};  ///< of the callee, as in sites.json
  std::string position;  ///< `file:line:column`; of a scope: of the function's definition
  uint64_t calls = 0;    ///< in the last run that measured it; in one interval, see `heavy_in`
  /// What measuring it added: to the time that the program was busy, or to the latency of the
  /// intervals `heavy_in`. A fraction.
  double cost = 0;
  int since = 0;  ///< first iteration without it
  /// Which intervals made too many of these calls each; empty: it is called often in all, and
  /// varies little.
  std::string heavy_in = {};
  /// The function that the site is in, if it is left out because that is called often and not
  /// measured any more: `cost` is then that of the site's presence.
  std::string within = {};
};

/// Calls that the instrumenter could not measure, by reason.
struct Unwrapped {
  std::string reason;
  uint64_t count = 0;
};

/// Where, when and how a recording was made. Empty: not known.
struct Provenance {
  std::string date;           ///< when the workload began, ISO 8601, UTC
  std::string host;           ///< name of the machine
  std::string kernel;         ///< `Linux 6.1.0-18-amd64 x86_64`
  std::string processor;      ///< model
  unsigned processors = 0;    ///< number of them that are online
  std::string compiler;       ///< first line of `--version`; of several compilers, all of them
  std::string version;        ///< of the program: `git describe` in its source tree
  std::string commit;         ///< of the program
  std::string command;        ///< the workload
  std::string configuration;  ///< text of vprof.json
  std::string vprof;          ///< version of vprof
  bool operator==(const Provenance&) const = default;
};

struct ReportContext {
  std::vector<Iteration> iterations;
  std::vector<Unwrapped> unwrapped;
  std::vector<Demoted> demoted;
  double overhead_budget = 0;  ///< part by which measuring may raise the latency; 0: none
  Provenance provenance = {};
};

struct TextOptions {
  int width = 80;      ///< columns
  bool color = false;  ///< ANSI colours
  bool ascii = false;  ///< nothing but ASCII
};

/// The report: latency, ranked factors, caveats, overhead.
std::string text(const analyzer::Profile& profile, const ReportContext& context,
                 const TextOptions& options);

/// The variance tree as indented text. Nodes below `min_contribution` are only counted.
std::string tree_text(const analyzer::Profile& profile, const TextOptions& options,
                      double min_contribution = 0.01);

/// What each iteration expanded, found and decided, a paragraph each.
std::string history_text(const std::vector<Iteration>& iterations, const TextOptions& options);
/// The same for programs.
nlohmann::json history_answer(const std::vector<Iteration>& iterations);

/// report.json (vprof/report/json.h describes it).
nlohmann::json json(const analyzer::Profile& profile, const ReportContext& context);

/// The same as text, one value per line. The tree is on a single line: indented, deep ones would be
/// mostly spaces.
std::string json_text(const analyzer::Profile& profile, const ReportContext& context);

/// The reverse of json(), for reports made earlier. Error: one line that names the value at fault.
Result<std::pair<analyzer::Profile, ReportContext>> from_json(const nlohmann::json& document);

}  // namespace vprof::report
