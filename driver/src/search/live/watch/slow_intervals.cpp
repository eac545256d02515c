#include "search/live/watch/slow_intervals.h"

#include <algorithm>
#include <ctime>

#include "pipeline/recordings/kept_recordings.h"
#include "process/commands.h"
#include "vprof/analyzer/details.h"

namespace vprof::driver {

namespace {

using analyzer::IntervalDetail;
using analyzer::Profile;

constexpr size_t kMostNamed = 3;  // of one window

/// The innermost place that takes at least half of the interval: `, mostly wait(fsync) in commit`.
std::string mostly(const Profile& profile, const IntervalDetail& interval) {
  struct Place {
    const analyzer::Node* node;
    std::string function;  // around it
  };
  std::vector<Place> places;
  const auto add = [&](const auto& again, const analyzer::Node& node,
                       const std::string& function) -> void {
    places.push_back({&node, function});
    const bool is_call = node.kind == analyzer::NodeKind::kFunction || !node.location.empty();
    for (const analyzer::Node& child : node.children) {
      again(again, child, is_call ? node.function : function);
    }
  };
  add(add, profile.tree, "");
  const Place* found = nullptr;
  for (const analyzer::NodeTime& time : interval.times) {  // parents before their children
    if (time.node < places.size() && 2 * time.ns >= interval.latency_ns) {
      found = &places[time.node];
    }
  }
  if (found == nullptr || found == &places.front()) {
    return "";
  }
  const bool is_call = found->node->kind == analyzer::NodeKind::kFunction;
  return ", mostly " + found->node->function + (is_call ? "" : " in " + found->function);
}

std::string clock_time(int64_t realtime_ns) {
  const std::time_t seconds = realtime_ns / 1'000'000'000;
  struct tm local{};
  char text[32] = "";
  if (::localtime_r(&seconds, &local) != nullptr) {
    std::strftime(text, sizeof text, "%F %T", &local);
  }
  return text;
}

}  // namespace

Result<void> SlowIntervals::look(const Profile& window, const Profile& so_far,
                                 const fs::path& sites_json) {
  const auto details = VPROF_TRY(analyzer::details_of(window.bytes));
  const double bound = bound_.ns(so_far);
  std::vector<const IntervalDetail*> slow;
  for (const IntervalDetail& one : details.worst) {
    if (static_cast<double>(one.latency_ns) >= bound) {
      slow.push_back(&one);
    }
  }
  count_ += slow.size();
  if (slow.empty()) {
    return {};
  }
  const fs::path copy = workspace_.window();
  VPROF_TRY(write_file_atomic(copy / "sites.json", VPROF_TRY(read_file(sites_json))));
  const fs::path kept = VPROF_TRY(keep_recording(workspace_, copy, keep_mb_ << 20));
  for (size_t i = 0; i < std::min(slow.size(), kMostNamed); ++i) {
    const IntervalDetail& one = *slow[i];
    say(fmt::format("{}  #{}  {:.1f} ms{}{}", clock_time(one.run + one.begin_ns), one.id,
                    static_cast<double>(one.latency_ns) / 1e6,
                    one.label.empty() ? "" : "  " + one.label, mostly(window, one)));
  }
  if (slow.size() > kMostNamed) {
    say(fmt::format("  and {} more in {}", slow.size() - kMostNamed, shown(kept)));
  }
  return {};
}

}  // namespace vprof::driver
