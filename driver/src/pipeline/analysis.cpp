#include "pipeline/analysis.h"

#include "process/commands.h"
#include "process/interrupt.h"
#include "process/progress.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

std::string names_of(const std::vector<Point>& points) {
  std::vector<std::string> names;
  names.reserve(points.size());
  for (const Point& point : points) {
    names.push_back(point.function);
  }
  return listed(names, "or");
}

/// Which functions of an interval were never called, as far as the configuration tells.
std::string why_not_completed(const Interval& interval) {
  if (!interval.function.empty()) {
    return fmt::format(
        "interval \"{}\": its function {} was never called, or never returned, "
        "during the workload",
        interval.name, interval.function);
  }
  return fmt::format(
      "interval \"{}\": {} (begin) or {} (end) was never called during the "
      "workload, or their keys do not match",
      interval.name, names_of(interval.begin), names_of(interval.end));
}

std::string why_no_interval(const Config& config) {
  if (config.intervals.empty()) {
    return "no interval: vprof_begin and vprof_end were not both called during the workload";
  }
  std::vector<std::string> reasons;
  reasons.reserve(config.intervals.size());
  for (const Interval& interval : config.intervals) {
    reasons.push_back(why_not_completed(interval));
  }
  return listed(reasons, "; and");
}

Result<analyzer::Profile> analyze_with_progress(const Session& session, const fs::path& trace,
                                                const std::string& step) {
  const Progress progress(step);
  const interrupt::DieAtOnce at_once;
  auto profile =
      analyzer::analyze(trace.string(), (trace / "sites.json").string(), session.config.factors);
  if (!profile && profile.error().kind == ErrorKind::kNoInterval) {
    return fail(ErrorKind::kNoInterval, "{}", no_interval_message(session.config));
  }
  return profile;
}

/// Whether a baseline was measured with the command that this recording is of.
bool is_comparable(const Baseline& baseline, const fs::path& trace) {
  const std::string command = read_file(trace / "command.txt").value_or("");
  if (baseline.count == 0 || command == baseline.command + "\n") {
    return true;
  }
  warn(
      fmt::format("not compared with the baseline, which is of another command ({}); `vprof record "
                  "--baseline -- COMMAND` measures one for this recording",
                  baseline.command.empty() ? "unknown" : baseline.command));
  return false;
}

}  // namespace

std::string no_interval_message(const Config& config) {
  const int line = config.intervals.empty() ? 0 : config.intervals[0].line;
  return fmt::format("{}: {}", config.location(line), why_no_interval(config));
}

Result<void> check_recording(const fs::path& trace) {
  std::error_code error;
  if (!fs::is_directory(trace, error)) {
    return fail("there is no recording {}; `vprof loop` or `vprof record` makes one", shown(trace));
  }
  if (!fs::exists(trace / "sites.json", error)) {
    return fail(
        "{} has no sites.json, which says what the numbers in a trace mean; copy it from where "
        "the program was built",
        shown(trace));
  }
  return {};
}

Result<analyzer::Profile> analyze_trace(const Session& session, const fs::path& trace) {
  auto profile = VPROF_TRY(analyze_with_progress(session, trace, "analyze"));
  if (is_comparable(session.state.baseline, trace)) {
    compare_with(session.state.baseline, profile);
  }
  return profile;
}

Result<analyzer::Profile> baseline_profile(const Session& session, const fs::path& trace) {
  // Not summarize_latency(): confidence intervals come from the batches of a whole analysis.
  return analyze_with_progress(session, trace, "analyze the baseline");
}

}  // namespace vprof::driver
