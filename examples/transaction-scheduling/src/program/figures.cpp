#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "program/outcome.h"

namespace smf {

namespace {

double to_ms(Nanoseconds time) { return static_cast<double>(time) / 1e6; }

// Of sorted values: the smallest that at least this part of them does not exceed.
double percentile(const std::vector<double>& sorted, double part) {
  const double rank = std::ceil(part * static_cast<double>(sorted.size()));
  return sorted[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

}  // namespace

std::string figures(const Settings& settings, const RunOutcome& outcome) {
  const auto warm_up = static_cast<Nanoseconds>(settings.warm_up * 1e9);
  std::vector<double> latencies;
  double sum = 0;
  for (const Committed& committed : outcome.committed) {
    if (committed.end >= warm_up) {
      latencies.push_back(to_ms(committed.end - committed.begin));
      sum += latencies.back();
    }
  }
  const auto count = static_cast<double>(latencies.size());
  const auto aborts = static_cast<double>(
      std::ranges::count_if(outcome.aborts, [warm_up](auto time) { return time >= warm_up; }));
  if (latencies.empty()) {
    latencies.push_back(0);
  }
  std::ranges::sort(latencies);
  const double mean = sum / std::max(count, 1.0);
  double squares = 0;
  for (const double latency : latencies) {
    squares += (latency - mean) * (latency - mean);
  }
  Nanoseconds oldest = 0;
  for (const Nanoseconds began : outcome.unfinished) {
    oldest = std::max(oldest, outcome.end - began);
  }
  std::array<char, 512> line{};
  std::snprintf(line.data(), line.size(),
                "workload=%s system=%s clients=%u workers=%u seed=%llu transactions=%.0f "
                "throughput=%.3f aborts=%.5f mean=%.4f variance=%.4f p50=%.4f p95=%.4f p99=%.4f "
                "max=%.4f oldest=%.0f serializable=%s",
                settings.workload.c_str(), std::string(settings.system->name).c_str(),
                settings.clients, settings.workers, static_cast<unsigned long long>(settings.seed),
                count,
                count * 1e9 / static_cast<double>(std::max<Nanoseconds>(outcome.end - warm_up, 1)),
                aborts / std::max(count, 1.0), mean, squares / std::max(count, 1.0),
                percentile(latencies, 0.5), percentile(latencies, 0.95),
                percentile(latencies, 0.99), latencies.back(), to_ms(oldest),
                !settings.check   ? "unchecked"
                : outcome.anomaly ? "no"
                                  : "yes");
  return line.data();
}

}  // namespace smf
