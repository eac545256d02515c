#include "program/figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace lab {

namespace {

double to_ms(Nanoseconds time) { return static_cast<double>(time) / 1e6; }

// Of sorted values: the smallest that at least this part of them does not exceed.
double percentile(const std::vector<double>& sorted, double part) {
  const double rank = std::ceil(part * static_cast<double>(sorted.size()));
  return sorted[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

}  // namespace

std::string figures(const Settings& settings, Outcome outcome) {
  if (outcome.finished.empty()) {  // overloaded before the first one
    outcome.finished.emplace_back();
  }
  const size_t first = std::min<size_t>(settings.warm_up, outcome.finished.size() - 1);
  const Nanoseconds from = first == 0 ? 0 : outcome.finished[first - 1].end;
  const double seconds = to_ms(outcome.finished.back().end - from) / 1e3;
  std::vector<double> latencies;
  double sum = 0;
  for (size_t i = first; i < outcome.finished.size(); ++i) {
    latencies.push_back(to_ms(outcome.finished[i].end - outcome.finished[i].begin));
    sum += latencies.back();
  }
  std::ranges::sort(latencies);
  const double mean = sum / static_cast<double>(latencies.size());
  double squares = 0;
  for (const double latency : latencies) {
    squares += (latency - mean) * (latency - mean);
  }
  std::array<char, 512> line{};
  std::snprintf(line.data(), line.size(),
                "workload=%s policy=%s clients=%d rate=%g seed=%llu transactions=%zu "
                "throughput=%.3f mean=%.4f variance=%.4f p50=%.4f p95=%.4f p99=%.4f max=%.4f "
                "waits=%llu deadlocks=%llu overloaded=%d",
                settings.workload.c_str(), settings.policy.c_str(), settings.clients, settings.rate,
                static_cast<unsigned long long>(settings.seed), latencies.size(),
                static_cast<double>(latencies.size()) / seconds, mean,
                squares / static_cast<double>(latencies.size()), percentile(latencies, 0.5),
                percentile(latencies, 0.95), percentile(latencies, 0.99), latencies.back(),
                static_cast<unsigned long long>(outcome.waits),
                static_cast<unsigned long long>(outcome.deadlocks), outcome.overloaded ? 1 : 0);
  return line.data();
}

}  // namespace lab
