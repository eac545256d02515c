// How often each site was passed, and how much measuring changed the latencies.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "trace/slots.h"
#include "trace/trace_file.h"
#include "trace/worker_pool.h"
#include "vprof/analyzer/overhead.h"

namespace vprof::analyzer {
namespace {

void count(const File& file, const Chunk& chunk, std::vector<uint64_t>& counts) {
  std::vector<vprof_slot> slots;
  read_slots(file, chunk.slots, slots);
  for (const vprof_slot& slot : slots) {
    uint32_t id = id_of(slot);
    if (id == VPROF_EV_LONG_FRAME) {
      id = static_cast<uint32_t>(payload_of(slot) & VPROF_ID_MASK);
    }
    if (slot.word1 == 0 || id >= VPROF_EV_FIRST) {
      continue;
    }
    if (id >= counts.size()) {
      counts.resize(id + 1, 0);
    }
    ++counts[id];
  }
}

/// Half the width of a 95 % interval, on a logarithmic scale.
double log_reach(const std::array<double, 2>& ci95) {
  return ci95[0] > 0 ? std::log(ci95[1] / ci95[0]) / 2 : 0;
}

double ratio(double a, double b) { return b > 0 ? a / b : 1.0; }

}  // namespace

Result<std::vector<uint64_t>> count_calls(const std::string& trace_dir, const Options& options) {
  auto files = VPROF_TRY(open_traces(trace_dir));
  std::vector<std::pair<const Chunk*, const TraceFile*>> chunks;
  for (const TraceFile& file : files) {
    for (const ThreadChunks& thread : file.threads) {
      for (const Chunk& chunk : thread.chunks) {
        chunks.emplace_back(&chunk, &file);
      }
    }
  }
  WorkerPool pool(options.threads);
  std::vector<std::vector<uint64_t>> parts(pool.size());
  pool.each(chunks.size(), [&](size_t i, unsigned worker) {
    count(*chunks[i].second->file, *chunks[i].first, parts[worker]);
  });
  std::vector<uint64_t> sum;
  for (const std::vector<uint64_t>& part : parts) {
    if (part.size() > sum.size()) {
      sum.resize(part.size(), 0);
    }
    for (size_t i = 0; i < part.size(); ++i) {
      sum[i] += part[i];
    }
  }
  return sum;
}

void compare_with_baseline(const IntervalSummary& run, const IntervalSummary& baseline,
                           Overhead& overhead) {
  if (baseline.count == 0 || baseline.mean_ns <= 0) {
    return;
  }
  overhead.baseline_mean_ns = baseline.mean_ns;
  overhead.mean_ratio = run.mean_ns / baseline.mean_ns;
  overhead.median_ratio = ratio(run.p50_ns, baseline.p50_ns);
  overhead.variance_ratio = ratio(run.variance_ns2, baseline.variance_ns2);
  // The runs are independent, so the squares of the errors of their logarithms add up.
  const double a = log_reach(run.mean_ci95);
  const double b = log_reach(baseline.mean_ci95);
  if (a <= 0 || b <= 0) {
    return;
  }
  const double reach = std::sqrt(a * a + b * b);
  overhead.mean_ratio_ci95 = {overhead.mean_ratio * std::exp(-reach),
                              overhead.mean_ratio * std::exp(reach)};
}

double sure_overhead(const Overhead& overhead) {
  if (overhead.baseline_mean_ns <= 0) {
    return 0;
  }
  // With too few intervals for a confidence interval, the median decides alone.
  return std::max(overhead.median_ratio, overhead.mean_ratio_ci95[0]) - 1;
}

bool surely_differs(const Overhead& overhead, double by) {
  if (overhead.baseline_mean_ns <= 0) {
    return false;
  }
  const bool less = overhead.median_ratio < 1 - by ||
                    (overhead.mean_ratio_ci95[1] > 0 && overhead.mean_ratio_ci95[1] < 1 - by);
  return less || sure_overhead(overhead) > by;
}

}  // namespace vprof::analyzer
