#include "pipeline/exemplars.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "pipeline/recordings/slices.h"

namespace vprof::driver {

namespace {

constexpr size_t kSlowest = 3;
constexpr size_t kMostReasons = 3;
// What a page holds of single intervals. Each is read again from the recording, and walked.
constexpr size_t kMostTimelines = 400;
constexpr size_t kLeastTimelines = 12;
constexpr double kMostRecords = 8e6;    // on the paths of all of them
constexpr size_t kMostPieces = 60'000;  // of all of them together
constexpr size_t kMostPiecesOfOne = 400, kLeastPiecesOfOne = 100;
constexpr int kSteps = 20;  // of the distribution, from which one interval each is shown

/// The intervals to read, and why each is shown. An interval with several reasons is read once.
class Selection {
 public:
  explicit Selection(size_t most = kMostTimelines) : most_(most) {}

  void add(uint64_t id, double latency_ns, const std::string& why) {
    const analyzer::TimelineRequest request{id, static_cast<int64_t>(latency_ns)};
    const auto known = numbers_.find({request.id, request.latency_ns});
    if (known != numbers_.end()) {
      why_[known->second].push_back(why);
    } else if (wanted_.size() < most_) {
      numbers_[{request.id, request.latency_ns}] = wanted_.size();
      wanted_.push_back(request);
      why_.push_back({why});
    }
  }

  const std::vector<analyzer::TimelineRequest>& all() const { return wanted_; }

  std::string why(size_t i) const {
    const std::vector<std::string>& reasons = why_[i];
    const auto end = reasons.begin() + std::min(reasons.size(), kMostReasons);
    return fmt::format("{}{}", fmt::join(reasons.begin(), end, ", "),
                       end == reasons.end() ? "" : ", …");
  }

 private:
  size_t most_;
  std::map<std::pair<uint64_t, int64_t>, size_t> numbers_;
  std::vector<analyzer::TimelineRequest> wanted_;
  std::vector<std::vector<std::string>> why_;
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

void add_notable(const analyzer::Profile& profile, const analyzer::Details& details,
                 Selection& selection) {
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
}

/// All that a page names, as far as there is room: first those of the factors, by rank.
void add_named(const analyzer::Profile& profile, Selection& selection) {
  for (const analyzer::Factor& factor : profile.factors) {
    for (const analyzer::Exemplar& one : factor.worst) {
      selection.add(one.id, one.latency_ns, fmt::format("long of factor {}", factor.rank));
    }
    for (const analyzer::Exemplar& one : factor.typical) {
      selection.add(one.id, one.latency_ns, fmt::format("typical of factor {}", factor.rank));
    }
  }
}

/// The slowest ones, and one of each step of the distribution, so that every part of it has one.
void add_distribution(const analyzer::Details& details, Selection& selection) {
  for (const analyzer::IntervalDetail& one : details.worst) {
    selection.add(one.id, static_cast<double>(one.latency_ns), "among the slowest");
  }
  std::vector<const analyzer::IntervalDetail*> sorted;
  sorted.reserve(details.sampled.size());
  for (const analyzer::IntervalDetail& one : details.sampled) {
    sorted.push_back(&one);
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return std::tie(a->latency_ns, a->id) < std::tie(b->latency_ns, b->id);
  });
  for (size_t i = 0; !sorted.empty() && i <= kSteps; ++i) {
    const analyzer::IntervalDetail& one = *sorted[i * (sorted.size() - 1) / kSteps];
    selection.add(one.id, static_cast<double>(one.latency_ns),
                  fmt::format("near p{}", i * 100 / kSteps));
  }
}

/// How many timelines a page has room and time for: less where an interval has many records.
size_t most_timelines(const analyzer::Profile& profile) {
  const double intervals = std::max<double>(1, static_cast<double>(profile.interval.count));
  const double records = std::max(1.0, static_cast<double>(profile.overhead.records) / intervals);
  const auto most = static_cast<size_t>(std::min(kMostRecords / records, 1e6));
  return std::clamp(most, kLeastTimelines, kMostTimelines);
}

bool is_kept(const fs::path& trace) {
  std::error_code error;
  return fs::exists(trace / "sites.json", error);
}

/// Their ids are times: what lies further away need not be read.
analyzer::Epoch epoch_around(const std::vector<analyzer::TimelineRequest>& requests) {
  constexpr int64_t kMargin = 2'000'000'000;  // ns, at least
  analyzer::Epoch epoch{.from = INT64_MAX, .to = INT64_MIN};
  for (const analyzer::TimelineRequest& one : requests) {
    const auto time = static_cast<int64_t>(one.id);
    const int64_t reach = kMargin + one.latency_ns;
    epoch.from = std::min(epoch.from, time - reach);
    epoch.to = std::max(epoch.to, time + reach);
  }
  epoch.until = epoch.to;
  return epoch;
}

/// The parts of a recording that hold a selection.
struct SelectedParts {
  std::vector<analyzer::TimelinePart> all;
  std::vector<std::vector<size_t>> numbers;  // in the selection, of what is wanted of each
};

/// The recording of a live run holds all of its epochs, of which the intervals are from the last,
/// and each slice of that stands for itself.
SelectedParts parts_of(const fs::path& trace, const Selection& selection) {
  std::error_code error;
  const bool is_live = fs::exists(trace / "frontier", error);
  std::map<int64_t, size_t> by_begin;  // of the slice
  SelectedParts parts;
  for (size_t i = 0; i < selection.all().size(); ++i) {
    const analyzer::TimelineRequest& one = selection.all()[i];
    const auto slice = is_live ? slice_of(trace, one.id) : std::nullopt;
    const auto [at, is_new] = by_begin.emplace(slice ? slice->from : INT64_MIN, parts.all.size());
    if (is_new) {
      parts.all.push_back({.epoch = slice.value_or(analyzer::Epoch()), .wanted = {}});
      parts.numbers.emplace_back();
    }
    parts.all[at->second].wanted.push_back(one);
    parts.numbers[at->second].push_back(i);
  }
  if (const auto none = by_begin.find(INT64_MIN); is_live && none != by_begin.end()) {
    analyzer::TimelinePart& part = parts.all[none->second];
    part.epoch = epoch_around(part.wanted);
  }
  return parts;
}

Result<void> visit(const analyzer::Profile& profile, const fs::path& trace,
                   const Selection& selection,
                   const std::function<void(size_t, report::SelectedTimeline)>& take) {
  analyzer::Options options;
  options.interval = profile.interval.name;
  const SelectedParts parts = parts_of(trace, selection);
  return analyzer::visit_timelines(trace.string(), (trace / "sites.json").string(), parts.all,
                                   options,
                                   [&](size_t part, size_t i, analyzer::Timeline timeline) {
                                     const size_t number = parts.numbers[part][i];
                                     take(number, {selection.why(number), std::move(timeline)});
                                   });
}

}  // namespace

Result<std::vector<report::SelectedTimeline>> exemplars(const analyzer::Profile& profile,
                                                        const analyzer::Details& details,
                                                        const fs::path& trace) {
  std::vector<report::SelectedTimeline> shown;
  if (!is_kept(trace)) {
    return shown;
  }
  Selection selection;
  add_notable(profile, details, selection);
  std::map<size_t, report::SelectedTimeline> found;
  VPROF_TRY(visit(profile, trace, selection,
                  [&](size_t i, report::SelectedTimeline one) { found[i] = std::move(one); }));
  for (auto& [order, one] : found) {
    shown.push_back(std::move(one));
  }
  return shown;
}

Result<report::PageTimelines> page_timelines(const analyzer::Profile& profile,
                                             const analyzer::Details& details,
                                             const std::vector<fs::path>& recordings) {
  if (recordings.empty()) {
    return report::PageTimelines();
  }
  Selection selection(most_timelines(profile));
  add_notable(profile, details, selection);
  add_named(profile, selection);
  add_distribution(details, selection);
  const size_t fair = kMostPieces / std::max<size_t>(1, selection.all().size());
  report::PageTimelines shown(std::clamp(fair, kLeastPiecesOfOne, kMostPiecesOfOne));
  std::set<size_t> found;
  for (const fs::path& recording : recordings) {
    if (found.size() == selection.all().size()) {
      break;  // the flight recorder may have kept hundreds
    }
    VPROF_TRY(
        visit(profile, recording, selection, [&](size_t i, const report::SelectedTimeline& one) {
          if (found.insert(i).second) {
            shown.add(i, one);
          }
        }));
  }
  return shown;
}

}  // namespace vprof::driver
