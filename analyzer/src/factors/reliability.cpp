#include "factors/reliability.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace vprof::analyzer {
namespace {

constexpr uint64_t kEnough = 1000;  // intervals below which the ranking may not hold
// A change over time is told if it makes up this part of the variance, or changes the mean by this
// part, and is so many standard errors large.
constexpr double kPartOfVariance = 0.05;
constexpr double kPartOfMean = 0.2;
constexpr double kErrors = 4;
constexpr size_t kLeastBatches = 8;

/// A handful of intervals that decide the result.
void note_tail(const Account& account, const IntervalSummary& summary,
               std::vector<std::string>& notes) {
  double slowest = 0;
  uint64_t left = 5;
  const auto& buckets = account.latencies.buckets();
  for (auto bucket = buckets.rbegin(); bucket != buckets.rend() && left > 0; ++bucket) {
    const uint64_t taken = std::min(left, bucket->count);
    const double distance = static_cast<double>(bucket->greatest) - summary.mean_ns;
    slowest += static_cast<double>(taken) * distance * distance;
    left -= taken;
  }
  const double all = summary.variance_ns2 * static_cast<double>(summary.count);
  if (summary.count > 10 && all > 0 && slowest > all / 2) {
    notes.push_back(fmt::format(
        "the 5 slowest intervals carry {:.0f} % of the variance: a longer run may rank otherwise",
        100 * std::min(1.0, slowest / all)));
  }
}

/// Three digits, in a unit in which they are before the point as far as possible.
std::string time_text(double ns) {
  if (ns >= 999.5e6) {
    return fmt::format("{:.3g} s", ns / 1e9);
  }
  if (ns >= 999.5e3) {
    return fmt::format("{:.3g} ms", ns / 1e6);
  }
  return fmt::format("{:.3g} us", ns / 1e3);
}

/// Means of successive batches of one recording.
struct Course {
  std::vector<double> mean, n;
  std::vector<double> begin_s;  ///< of the batch, since the recording began
};

Course course_of(const Account& account) {
  Course course;
  for (const Batch& batch : account.batches) {
    if (batch.run != account.batches.front().run) {
      return {};  // each recording for itself
    }
    course.mean.push_back(static_cast<double>(batch.sums.node(0).x) /
                          static_cast<double>(batch.sums.n));
    course.n.push_back(static_cast<double>(batch.sums.n));
    course.begin_s.push_back(static_cast<double>(batch.sums.from) / 1e9);
  }
  return course;
}

struct Part {
  double n = 0, mean = 0, error = 0;  // error: standard error of the mean, from its batches
};

Part part_of(const Course& course, size_t from, size_t to) {
  Part part;
  for (size_t i = from; i < to; ++i) {
    part.n += course.n[i];
    part.mean += course.n[i] * course.mean[i];
  }
  part.mean /= part.n;
  double squares = 0;
  for (size_t i = from; i < to; ++i) {
    squares += (course.mean[i] - part.mean) * (course.mean[i] - part.mean);
  }
  const auto g = static_cast<double>(to - from);
  part.error = std::sqrt(squares / (g * (g - 1)));
  return part;
}

/// Where the course falls into two levels: the cut that leaves least variance within them.
size_t best_cut(const Course& course) {
  size_t best = 0;
  double most = 0;
  for (size_t cut = 2; cut + 2 <= course.mean.size(); ++cut) {
    const Part a = part_of(course, 0, cut);
    const Part b = part_of(course, cut, course.mean.size());
    const double between = a.n * b.n * (a.mean - b.mean) * (a.mean - b.mean);
    if (between > most) {
      most = between;
      best = cut;
    }
  }
  return best;
}

/// The variance of a ramp is not that of a steady state.
void note_drift(const Account& account, const IntervalSummary& summary,
                std::vector<std::string>& notes) {
  const Course course = course_of(account);
  if (course.mean.size() < kLeastBatches || summary.variance_ns2 <= 0) {
    return;
  }
  const size_t cut = best_cut(course);
  if (cut == 0) {
    return;
  }
  const Part early = part_of(course, 0, cut);
  const Part late = part_of(course, cut, course.mean.size());
  const double change = early.mean - late.mean;
  const double n = early.n + late.n;
  const double part = early.n * late.n / n / n * change * change / summary.variance_ns2;
  const bool large = part > kPartOfVariance || std::abs(change) > kPartOfMean * summary.mean_ns;
  if (!large || std::abs(change) < kErrors * std::hypot(early.error, late.error)) {
    return;
  }
  const std::string levels =
      fmt::format("mean {} before {:.3g} s, {} after; {:.0f} % of the variance",
                  time_text(early.mean), course.begin_s[cut], time_text(late.mean), 100 * part);
  if (cut * 2 <= course.mean.size()) {
    notes.push_back(fmt::format("warm-up: {}. --skip {:.3g}s leaves it out", levels,
                                std::ceil(course.begin_s[cut] * 1000) / 1000));
  } else {
    notes.push_back(fmt::format("drift: {}: not the variance of a steady state", levels));
  }
}

}  // namespace

void note_reliability(const Account& account, const IntervalSummary& summary,
                      std::vector<std::string>& notes) {
  if (summary.count < kEnough) {
    notes.push_back(fmt::format("only {} intervals: below {} the ranking may not hold",
                                summary.count, kEnough));
  }
  note_tail(account, summary, notes);
  note_drift(account, summary, notes);
}

}  // namespace vprof::analyzer
