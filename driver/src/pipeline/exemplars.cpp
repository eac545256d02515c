#include "pipeline/exemplars.h"

#include <algorithm>

namespace vprof::driver {

namespace {

constexpr size_t kSlowest = 3;

/// What is looked for, and what it stands for.
class Wishes {
 public:
  void add(uint64_t id, double latency_ns, const std::string& why) {
    const analyzer::TimelineWish wish{id, static_cast<int64_t>(latency_ns)};
    for (size_t i = 0; i < wishes_.size(); ++i) {
      if (wishes_[i].id == wish.id && wishes_[i].latency_ns == wish.latency_ns) {
        why_[i] += ", " + why;
        return;
      }
    }
    wishes_.push_back(wish);
    why_.push_back(why);
  }

  const std::vector<analyzer::TimelineWish>& all() const { return wishes_; }

  std::string why(const analyzer::Timeline& timeline) const {
    for (size_t i = 0; i < wishes_.size(); ++i) {
      if (wishes_[i].id == timeline.id && wishes_[i].latency_ns == timeline.latency_ns) {
        return why_[i];
      }
    }
    return "";
  }

 private:
  std::vector<analyzer::TimelineWish> wishes_;
  std::vector<std::string> why_;
};

void add_nearest(const analyzer::Details& details, double latency_ns, const std::string& why,
                 Wishes& wishes) {
  const auto distance = [&](const analyzer::IntervalDetail& one) {
    return std::abs(static_cast<double>(one.latency_ns) - latency_ns);
  };
  const auto nearest =
      std::min_element(details.sampled.begin(), details.sampled.end(),
                       [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  if (nearest == details.sampled.end()) {
    return;
  }
  wishes.add(nearest->id, static_cast<double>(nearest->latency_ns), why);
}

Wishes wishes_of(const analyzer::Profile& profile, const analyzer::Details& details) {
  Wishes wishes;
  const char* const names[kSlowest] = {"slowest", "second slowest", "third slowest"};
  for (size_t i = 0; i < std::min(kSlowest, details.worst.size()); ++i) {
    wishes.add(details.worst[i].id, static_cast<double>(details.worst[i].latency_ns), names[i]);
  }
  add_nearest(details, profile.interval.p99_ns, "near p99", wishes);
  add_nearest(details, profile.interval.p95_ns, "near p95", wishes);
  add_nearest(details, profile.interval.p50_ns, "near the median", wishes);
  for (const analyzer::Factor& factor : profile.factors) {
    if (factor.rank > profile.k || factor.worst.empty()) {
      continue;
    }
    wishes.add(factor.worst[0].id, factor.worst[0].latency_ns,
               fmt::format("longest of factor {}", factor.rank));
  }
  return wishes;
}

}  // namespace

Result<std::vector<report::ShownTimeline>> exemplars(const analyzer::Profile& profile,
                                                     const analyzer::Details& details,
                                                     const fs::path& trace) {
  std::vector<report::ShownTimeline> shown;
  std::error_code error;
  if (!fs::exists(trace / "sites.json", error)) {
    return shown;
  }
  analyzer::Options options;
  options.interval = profile.interval.name;
  const Wishes wishes = wishes_of(profile, details);
  auto timelines = VPROF_TRY(analyzer::timelines_of(trace.string(), (trace / "sites.json").string(),
                                                    wishes.all(), options));
  for (analyzer::Timeline& timeline : timelines) {
    std::string why = wishes.why(timeline);
    shown.push_back({std::move(why), std::move(timeline)});
  }
  return shown;
}

}  // namespace vprof::driver
