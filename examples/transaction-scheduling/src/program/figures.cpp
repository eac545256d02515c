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
  const std::vector<Committed>& all = outcome.committed;
  const size_t first = std::min<size_t>(settings.warm_up, all.size() - 1);
  const Nanoseconds from = first == 0 ? 0 : all[first - 1].end;
  const double seconds = to_ms(all.back().end - from) / 1e3;
  std::vector<double> latencies;
  double sum = 0;
  uint64_t aborts = 0;
  for (size_t i = first; i < all.size(); ++i) {
    latencies.push_back(to_ms(all[i].end - all[i].begin));
    sum += latencies.back();
    aborts += all[i].aborts;
  }
  std::ranges::sort(latencies);
  const auto count = static_cast<double>(latencies.size());
  const double mean = sum / count;
  double squares = 0;
  for (const double latency : latencies) {
    squares += (latency - mean) * (latency - mean);
  }
  std::array<char, 512> line{};
  std::snprintf(line.data(), line.size(),
                "workload=%s system=%s clients=%u seed=%llu transactions=%zu throughput=%.3f "
                "aborts=%.5f mean=%.4f variance=%.4f p50=%.4f p95=%.4f p99=%.4f max=%.4f "
                "serializable=%s",
                settings.workload.c_str(), std::string(settings.system->name).c_str(),
                settings.clients, static_cast<unsigned long long>(settings.seed), latencies.size(),
                count / seconds, static_cast<double>(aborts) / count, mean, squares / count,
                percentile(latencies, 0.5), percentile(latencies, 0.95),
                percentile(latencies, 0.99), latencies.back(),
                !settings.check    ? "unchecked"
                : outcome.anomaly ? "no"
                                   : "yes");
  return line.data();
}

}  // namespace smf
