#include "pipeline/analysis.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "process/interrupt.h"
#include "process/progress.h"
#include "vprof/support/json.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

using nlohmann::json;

std::vector<std::string> names_of(const std::vector<Point>& points) {
  std::vector<std::string> names;
  names.reserve(points.size());
  for (const Point& point : points) {
    names.push_back(point.function);
  }
  return names;
}

/// Which functions never did what an interval needs, as far as the configuration tells.
std::string why_no_interval(const Config& config) {
  std::vector<std::string> reasons;
  for (const Interval& interval : config.intervals) {
    if (!interval.function.empty()) {
      reasons.push_back(
          fmt::format("interval \"{}\": its function {} was never called, or never returned, "
                      "during the workload",
                      interval.name, interval.function));
    } else {
      reasons.push_back(
          fmt::format("interval \"{}\": {} (begin) or {} (end) was never called during the "
                      "workload, or their keys "
                      "do not agree",
                      interval.name, listed(names_of(interval.begin), "or"),
                      listed(names_of(interval.end), "or")));
    }
  }
  if (reasons.empty()) {
    return "no interval: vprof_begin and vprof_end were not both called during the workload";
  }
  return listed(reasons, "; and");
}

/// Says why, where no interval was completed.
Error explained(const Session& session, const Error& error) {
  if (error.kind != ErrorKind::kNoInterval) {
    return error;
  }
  return {error.kind, no_interval_message(session.config)};
}

/// A profile that was read back from a report has no sums: those of its iteration are on disk.
Result<void> write_profile(const Session& session, const fs::path& own, const std::string& sums) {
  if (!sums.empty()) {
    VPROF_TRY(write_file_atomic(own, sums));
  }
  const auto kept = VPROF_TRY(read_file(own));
  return write_file_atomic(session.workspace.profile(), kept);
}

bool holds(const std::vector<Decided>& all, const analyzer::Factor& factor) {
  const std::string id = factor_id(factor);
  return std::any_of(all.begin(), all.end(), [&id](const Decided& one) { return one.id == id; });
}

Result<analyzer::Profile> whole_analysis(const Session& session, const fs::path& trace,
                                         const std::string& what) {
  const Progress progress(what);
  const interrupt::DieAtOnce at_once;
  auto profile =
      analyzer::analyze(trace.string(), (trace / "sites.json").string(), session.config.factors);
  if (!profile) {
    return tl::unexpected(explained(session, profile.error()));
  }
  return std::move(*profile);
}

}  // namespace

std::string no_interval_message(const Config& config) {
  return fmt::format("{}: {}",
                     config.location(config.intervals.empty() ? 0 : config.intervals[0].line),
                     why_no_interval(config));
}

report::TextOptions text_options() {
  report::TextOptions options;
  const char* no_color = std::getenv("NO_COLOR");
  const char* columns = std::getenv("COLUMNS");
  const bool terminal = ::isatty(STDOUT_FILENO) != 0;
  options.color = terminal && (no_color == nullptr || *no_color == '\0');
  struct winsize size{};
  int width = 0;
  if (columns != nullptr) {
    width = static_cast<int>(std::strtol(columns, nullptr, 10));
  }
  if (width == 0 && terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
    width = size.ws_col;
  }
  if (width > 0) {
    options.width = std::clamp(width, 40, 200);
  }
  return options;
}

report::Story story_of(const Session& session, const fs::path& sites_json) {
  const State& state = session.state;
  report::Story story{.iterations = state.history,
                      .unwrapped = {},
                      .demoted = state.demoted,
                      .overhead_budget = session.config.overhead_budget};
  const auto sites = read_json(sites_json);
  if (!sites) {
    return story;
  }
  std::map<std::string, uint64_t> counts;
  for (const json& one : sites->value("unwrapped", json::array())) {
    ++counts[one.value("by_rule", false)
                 ? "cheap, trivial or implicit (`vprof instrument --dry-run`)"
                 : one.value("reason", "unknown")];
  }
  for (const auto& [reason, count] : counts) {
    story.unwrapped.push_back({.reason = reason, .count = count});
  }
  return story;
}

Result<analyzer::Profile> analyze_trace(const Session& session, const fs::path& trace) {
  auto profile = whole_analysis(session, trace, "analyze");
  if (profile) {
    analyzer::compare_with_baseline(profile->interval, session.state.baseline, profile->overhead);
  }
  return profile;
}

// Not only a summary: confidence intervals come from the batches of a whole analysis.
Result<analyzer::IntervalSummary> baseline_summary(const Session& session, const fs::path& trace) {
  auto profile = VPROF_TRY(whole_analysis(session, trace, "analyze the baseline"));
  return profile.interval;
}

std::string factor_id(const analyzer::Factor& factor) {
  std::string id;
  for (size_t i = 0; i < factor.functions.size(); ++i) {
    const bool key = i < factor.keys.size() && !factor.keys[i].empty();
    // body(f) and wait(l) may carry the key of a function without being it.
    const bool is_function = key && factor.keys[i].rfind(factor.functions[i] + "@", 0) == 0;
    id += (id.empty() ? "" : " + ") + (is_function ? factor.keys[i] : factor.functions[i]);
  }
  return id;
}

std::string factor_name(const analyzer::Factor& factor) { return listed(factor.functions); }

void overlay_decisions(analyzer::Profile& profile, const State& state) {
  for (analyzer::Factor& factor : profile.factors) {
    if (holds(state.selected, factor)) {
      factor.status = analyzer::FactorStatus::kSelected;
    }
    if (holds(state.set_aside, factor)) {
      factor.status = analyzer::FactorStatus::kSetAside;
    }
  }
}

Result<void> write_report(const Session& session, analyzer::Profile profile) {
  overlay_decisions(profile, session.state);
  const report::Story story = story_of(session, session.workspace.sites());
  const std::string text = report::json_text(profile, story) + "\n";
  const fs::path directory = session.workspace.iteration(session.state.iteration);
  VPROF_TRY(write_profile(session, directory / "profile.vprof", profile.sums));
  const fs::path own = directory / "report.json";
  VPROF_TRY(write_file_atomic(own, text));
  return write_file_atomic(session.workspace.report(), text);
}

Result<std::pair<analyzer::Profile, report::Story>> read_report(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) {
    return fail("there is no report {}; `vprof loop` makes one", shown(file));
  }
  auto document = VPROF_TRY(read_json(file));
  auto parsed = report::from_json(document);
  if (!parsed) {
    return fail("{}: {}", shown(file), parsed.error().message);
  }
  return *parsed;
}

}  // namespace vprof::driver
