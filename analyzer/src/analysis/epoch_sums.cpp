#include "vprof/analyzer/epoch_sums.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/profile_of.h"
#include "analysis/recording_sums.h"
#include "statistics/interval_sums_builder.h"
#include "trace/sites.h"

namespace vprof::analyzer {
namespace {

/// Each text once: of those that differ in their numbers only, the last one, which is about more.
std::vector<std::string> latest(const std::vector<std::string>& notes) {
  std::map<std::string, std::string> by_words;
  for (const std::string& note : notes) {
    std::string words = note;
    std::erase_if(words, [](char c) { return c >= '0' && c <= '9'; });
    std::string& kept = by_words[words];
    if (std::pair(kept.size(), kept) < std::pair(note.size(), note)) {
      kept = note;
    }
  }
  std::vector<std::string> result;
  result.reserve(by_words.size());
  for (auto& [words, note] : by_words) {
    result.push_back(std::move(note));
  }
  return result;
}

/// Numbers the batches from the last one, which is `after` the others, downwards.
void number_batches(uint64_t after, IntervalSums& sums) {
  uint64_t number = after + sums.batches.size();
  for (Batch& batch : sums.batches) {
    batch.order = UINT64_MAX - --number;
  }
}

/// Of two slices of one recording, or of what several slices add up to and the next one.
IntervalSums sum_of(IntervalSums earlier, IntervalSums later) {
  const int64_t run = earlier.batches.empty() ? 0 : earlier.batches.front().run;
  for (Batch& batch : later.batches) {
    batch.run = run == 0 ? batch.run : run;
  }
  number_batches(0, later);
  number_batches(later.batches.size(), earlier);
  const Overhead before = earlier.overhead;
  const Overhead last = later.overhead;
  uint64_t batches = earlier.batches.size() + later.batches.size();
  IntervalSumsBuilder builder;
  builder.add(earlier);
  builder.add(later);
  for (; batches > kMostBatches; batches = (batches + 1) / 2) {
    builder.halve_batches();
  }
  IntervalSums sum = builder.finish();
  sum.losses.notes = latest(sum.losses.notes);
  // Of the files, which are the same.
  sum.overhead.chunks = std::max(before.chunks, last.chunks);
  sum.overhead.stalls = std::max(before.stalls, last.stalls);
  sum.overhead.threads = std::max(before.threads, last.threads);
  sum.overhead.working_threads = std::max(before.working_threads, last.working_threads);
  sum.overhead.run_ns = before.run_ns + last.run_ns;
  sum.overhead.working_ns = before.working_ns + last.working_ns;
  sum.overhead.present_ns = before.present_ns + last.present_ns;
  return sum;
}

/// Threads note their processor time when they take a chunk, which is seldom. ns
constexpr int64_t kLongSlice = 1'000'000'000;

/// Of a short slice, that of a single thread says nothing.
void forget_thread(Overhead& overhead) {
  overhead.thread.clear();
  overhead.thread_records = 0;
  overhead.thread_ns = overhead.thread_passed_ns = 0;
}

/// By kind of interval.
using Kinds = std::vector<IntervalSums>;

Kinds sum_of(const Kinds& earlier, Kinds later) {
  for (size_t kind = 0; kind < earlier.size(); ++kind) {
    if (kind == later.size()) {
      later.push_back(earlier[kind]);
    } else {
      later[kind] = sum_of(earlier[kind], std::move(later[kind]));
    }
  }
  return later;
}

}  // namespace

struct EpochSums::State {
  std::string trace_dir;
  Sites sites;
  Kinds closed = {};
  Kinds open = {};
};

EpochSums::EpochSums(std::unique_ptr<State> state) : state_(std::move(state)) {}
EpochSums::EpochSums(EpochSums&&) noexcept = default;
EpochSums& EpochSums::operator=(EpochSums&&) noexcept = default;
EpochSums::~EpochSums() = default;

Result<EpochSums> EpochSums::begin(std::string trace_dir, const std::string& sites_json) {
  auto sites = VPROF_TRY(read_sites(sites_json));
  return EpochSums(std::make_unique<State>(State{std::move(trace_dir), std::move(sites)}));
}

Result<Slice> EpochSums::look(const Options& options) {
  state_->open = VPROF_TRY(sums_of_recording(state_->trace_dir, state_->sites, options));
  for (IntervalSums& sums : state_->open) {
    for (Batch& batch : sums.batches) {
      batch.slice = options.epoch.recorded_since;
    }
    if (options.epoch.from > options.epoch.until - kLongSlice) {
      forget_thread(sums.overhead);
    }
  }
  Slice slice;
  for (const IntervalSums& sums : state_->open) {
    const bool is_wanted = options.interval.empty() || sums.interval == options.interval;
    if (is_wanted && sums.count() >= slice.count) {
      slice = {.count = sums.count(),
               .incomplete = sums.incomplete,
               .p99_ns = sums.count() == 0 ? 0 : sums.latencies.quantile(0.99),
               .overhead = sums.overhead};
    }
  }
  return slice;
}

void EpochSums::close() {
  state_->closed = sum_of(state_->closed, std::exchange(state_->open, {}));
}

Result<Profile> EpochSums::profile(const Options& options) const {
  return profile_of_kinds(sum_of(state_->closed, state_->open), options);
}

Result<Profile> EpochSums::profile_of_slice(const Options& options) const {
  return profile_of_kinds(state_->open, options);
}

Result<Profile> EpochSums::profile_of_kinds(Kinds kinds, const Options& options) const {
  if (kinds.empty()) {
    return fail(ErrorKind::kNoInterval, "{}: nothing has been measured yet", state_->trace_dir);
  }
  return profile_of(VPROF_TRY(choose(std::move(kinds), state_->trace_dir, options.interval)),
                    options);
}

}  // namespace vprof::analyzer
