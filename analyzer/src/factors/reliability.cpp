#include "factors/reliability.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "vprof/support/text.h"

namespace vprof::analyzer {
namespace {

constexpr uint64_t kEnough = 1000;  // with fewer intervals the ranking may not hold
constexpr uint64_t kSlowest = 5, kBesideSlowest = 10;
constexpr uint64_t kFewIncomplete = 10;
constexpr double kManyIncomplete = 0.01;  // of all intervals
// A change over time is reported if it makes up this fraction of the variance, or changes the mean
// by this fraction, and is this many standard errors large.
constexpr double kDriftOfVariance = 0.05;
constexpr double kDriftOfMean = 0.2;
constexpr double kDriftErrors = 4;
constexpr size_t kLeastBatches = 8;

/// What was taken out of intervals, or left out.
void note_losses(const Losses& losses, std::vector<std::string>& notes) {
  if (losses.set_up_intervals != 0) {
    notes.push_back(fmt::format("vprof's own set-up is taken out of {}: {:.3f} ms in all",
                                counted(losses.set_up_intervals, "interval"),
                                static_cast<double>(losses.set_up_ns) * 1e-6));
  }
  if (losses.given_up != 0) {
    notes.push_back(fmt::format(
        "{} intervals were given up: more than {} records lie between their begin and end",
        losses.given_up, kMaxHeldRecords));
  }
  if (losses.violations != 0) {
    notes.push_back(
        fmt::format("{} intervals do not add up to their latency: please report this defect",
                    losses.violations));
  }
}

/// Whether a handful of intervals decide the result.
void note_tail(const IntervalSummary& summary, std::vector<std::string>& notes) {
  if (summary.slowest_part > kMostInSlowest) {
    notes.push_back(fmt::format(
        "the {} slowest intervals carry {:.0f} % of the variance: a longer run may rank factors "
        "differently",
        kSlowest, 100 * summary.slowest_part));
  }
}

/// By batch of one recording, in order of time.
struct BatchMeans {
  std::vector<double> mean;     // latency, ns
  std::vector<double> n;        // intervals
  std::vector<double> begin_s;  // seconds since the recording began
};

BatchMeans batch_means(const IntervalSums& sums) {
  BatchMeans batches;
  for (const Batch& batch : sums.batches) {
    if (batch.run != sums.batches.front().run) {
      return {};  // several recordings have no common course
    }
    batches.mean.push_back(static_cast<double>(batch.sums.node(0).x) /
                           static_cast<double>(batch.sums.n));
    batches.n.push_back(static_cast<double>(batch.sums.n));
    batches.begin_s.push_back(static_cast<double>(batch.sums.first_begin) / 1e9);
  }
  return batches;
}

struct Phase {
  double n = 0;      // intervals
  double mean = 0;   // latency, ns
  double error = 0;  // standard error of the mean, from the means of the batches
};

Phase phase_of(const BatchMeans& batches, size_t from, size_t to) {
  Phase phase;
  for (size_t i = from; i < to; ++i) {
    phase.n += batches.n[i];
    phase.mean += batches.n[i] * batches.mean[i];
  }
  phase.mean /= phase.n;
  double squares = 0;
  for (size_t i = from; i < to; ++i) {
    squares += (batches.mean[i] - phase.mean) * (batches.mean[i] - phase.mean);
  }
  const auto g = static_cast<double>(to - from);
  phase.error = std::sqrt(squares / (g * (g - 1)));
  return phase;
}

/// The number of batches in the early one of two phases, cut so that the variance within the
/// phases is least. 0 if there is no such cut.
size_t best_cut(const BatchMeans& batches) {
  size_t best = 0;
  double most = 0;
  for (size_t cut = 2; cut + 2 <= batches.mean.size(); ++cut) {
    const Phase a = phase_of(batches, 0, cut);
    const Phase b = phase_of(batches, cut, batches.mean.size());
    const double between = a.n * b.n * (a.mean - b.mean) * (a.mean - b.mean);
    if (between > most) {
      most = between;
      best = cut;
    }
  }
  return best;
}

/// Whether the mean changes in the course of the recording: the variance of a ramp says nothing
/// about a steady state.
void note_drift(const IntervalSums& sums, const IntervalSummary& summary,
                std::vector<std::string>& notes) {
  const BatchMeans batches = batch_means(sums);
  if (batches.mean.size() < kLeastBatches || summary.variance_ns2 <= 0) {
    return;
  }
  const size_t cut = best_cut(batches);
  if (cut == 0) {
    return;
  }
  const Phase early = phase_of(batches, 0, cut);
  const Phase late = phase_of(batches, cut, batches.mean.size());
  const double change = early.mean - late.mean;
  const double n = early.n + late.n;
  const double fraction = early.n * late.n / n / n * change * change / summary.variance_ns2;
  const bool large =
      fraction > kDriftOfVariance || std::abs(change) > kDriftOfMean * summary.mean_ns;
  if (!large || std::abs(change) < kDriftErrors * std::hypot(early.error, late.error)) {
    return;
  }
  const std::string levels = fmt::format(
      "mean {} before {:.3g} s, {} after; {:.2g} % of the variance", human_time(early.mean),
      batches.begin_s[cut], human_time(late.mean), 100 * fraction);
  if (cut * 2 <= batches.mean.size()) {
    notes.push_back(fmt::format("warm-up: {}. --skip {:.3g}s leaves it out", levels,
                                std::ceil(batches.begin_s[cut] * 1000) / 1000));
  } else {
    notes.push_back(fmt::format("drift: {}; this is not the {} of a steady state", levels,
                                fraction > kDriftOfVariance ? "variance" : "mean"));
  }
}

/// Whether many intervals never ended: the slowest are often among these. Each slice of a recording
/// with pauses cuts some in two, so it says nothing there.
void note_incomplete(const IntervalSums& sums, const IntervalSummary& summary,
                     std::vector<std::string>& notes) {
  const bool pauses = std::any_of(sums.batches.begin(), sums.batches.end(),
                                  [](const Batch& one) { return one.slice != 0; });
  const auto incomplete = static_cast<double>(summary.incomplete);
  const double part = incomplete / (incomplete + static_cast<double>(summary.count));
  if (!pauses && summary.incomplete >= kFewIncomplete && part >= kManyIncomplete) {
    notes.push_back(fmt::format(
        "{} intervals ({:.1f} %) lack their begin or end, so nothing below says how long they took "
        "or why: they were left without it (`longjmp`, an early return that has no end), begun "
        "again with a key that was still in use, or in flight when the recording began or ended",
        summary.incomplete, 100 * part));
  }
}

}  // namespace

double slowest_part(const IntervalSums& sums, const IntervalSummary& summary) {
  double slowest = 0;
  uint64_t left = kSlowest;
  const auto& buckets = sums.latencies.buckets();
  for (auto bucket = buckets.rbegin(); bucket != buckets.rend() && left > 0; ++bucket) {
    const uint64_t taken = std::min(left, bucket->count);
    const double distance = static_cast<double>(bucket->greatest) - summary.mean_ns;
    slowest += static_cast<double>(taken) * distance * distance;
    left -= taken;
  }
  const double all = summary.variance_ns2 * static_cast<double>(summary.count);
  return summary.count > kBesideSlowest && all > 0 ? std::min(1.0, slowest / all) : 0;
}

std::vector<std::string> reliability_notes(const IntervalSums& sums,
                                           const IntervalSummary& summary) {
  std::vector<std::string> notes;
  note_losses(sums.losses, notes);
  if (summary.count < kEnough) {
    notes.push_back(fmt::format("only {} intervals: below {} the ranking may not hold",
                                summary.count, kEnough));
  }
  note_incomplete(sums, summary, notes);
  note_tail(summary, notes);
  note_drift(sums, summary, notes);
  return notes;
}

}  // namespace vprof::analyzer
