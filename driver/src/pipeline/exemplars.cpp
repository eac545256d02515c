#include "pipeline/exemplars.h"

#include <algorithm>

namespace vprof::driver {

namespace {

constexpr size_t kSlowest = 3;

/// The intervals to read, and why each is shown. An interval with several reasons is read once.
class Selection {
 public:
  void add(uint64_t id, double latency_ns, const std::string& why) {
    const analyzer::TimelineRequest request{id, static_cast<int64_t>(latency_ns)};
    for (size_t i = 0; i < wanted_.size(); ++i) {
      if (wanted_[i].id == request.id && wanted_[i].latency_ns == request.latency_ns) {
        why_[i] += ", " + why;
        return;
      }
    }
    wanted_.push_back(request);
    why_.push_back(why);
  }

  const std::vector<analyzer::TimelineRequest>& all() const { return wanted_; }

  std::string why(const analyzer::Timeline& timeline) const {
    for (size_t i = 0; i < wanted_.size(); ++i) {
      if (wanted_[i].id == timeline.id && wanted_[i].latency_ns == timeline.latency_ns) {
        return why_[i];
      }
    }
    return "";
  }

 private:
  std::vector<analyzer::TimelineRequest> wanted_;
  std::vector<std::string> why_;
};

void add_nearest(const analyzer::Details& details, double latency_ns, const std::string& why,
                 Selection& selection) {
  const auto distance = [&](const analyzer::IntervalDetail& one) {
    return std::abs(static_cast<double>(one.latency_ns) - latency_ns);
  };
  const auto nearest =
      std::min_element(details.sampled.begin(), details.sampled.end(),
                       [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  if (nearest == details.sampled.end()) {
    return;
  }
  selection.add(nearest->id, static_cast<double>(nearest->latency_ns), why);
}

Selection selection_of(const analyzer::Profile& profile, const analyzer::Details& details) {
  Selection selection;
  const char* const names[kSlowest] = {"slowest", "second slowest", "third slowest"};
  for (size_t i = 0; i < std::min(kSlowest, details.worst.size()); ++i) {
    selection.add(details.worst[i].id, static_cast<double>(details.worst[i].latency_ns), names[i]);
  }
  add_nearest(details, profile.interval.p99_ns, "near p99", selection);
  add_nearest(details, profile.interval.p95_ns, "near p95", selection);
  add_nearest(details, profile.interval.p50_ns, "near the median", selection);
  for (const analyzer::Factor& factor : profile.factors) {
    if (factor.rank > profile.k || factor.worst.empty()) {
      continue;
    }
    selection.add(factor.worst[0].id, factor.worst[0].latency_ns,
                  fmt::format("longest of factor {}", factor.rank));
  }
  return selection;
}

}  // namespace

Result<std::vector<report::SelectedTimeline>> exemplars(const analyzer::Profile& profile,
                                                        const analyzer::Details& details,
                                                        const fs::path& trace) {
  std::vector<report::SelectedTimeline> shown;
  std::error_code error;
  if (!fs::exists(trace / "sites.json", error)) {
    return shown;
  }
  analyzer::Options options;
  options.interval = profile.interval.name;
  const Selection selection = selection_of(profile, details);
  auto timelines = VPROF_TRY(analyzer::timelines_of(trace.string(), (trace / "sites.json").string(),
                                                    selection.all(), options));
  for (analyzer::Timeline& timeline : timelines) {
    std::string why = selection.why(timeline);
    shown.push_back({std::move(why), std::move(timeline)});
  }
  return shown;
}

}  // namespace vprof::driver
