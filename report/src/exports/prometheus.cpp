// Prometheus' text format, version 0.0.4: what the textfile collector of node_exporter reads.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "vprof/analyzer/overhead.h"
#include "vprof/report/exports.h"

namespace vprof::report {
namespace {

using analyzer::Factor;
using analyzer::Profile;

constexpr size_t kMostFactors = 20;
constexpr double kSecond = 1e9;  // ns

using Labels = std::vector<std::pair<const char*, std::string>>;

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '\n' ? "\\n" : (c == '\\' || c == '"' ? std::string("\\") + c : std::string(1, c));
  }
  return out;
}

/// All samples of one metric, below its HELP and TYPE.
class Metric {
 public:
  Metric(std::string& out, const char* name, const char* type, const char* help)
      : out_(out), name_(name) {
    out_ += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
  }
  void sample(const Labels& labels, double value, const char* suffix = "") {
    out_ += name_;
    out_ += suffix;
    for (size_t i = 0; i < labels.size(); ++i) {
      out_ += fmt::format("{}{}=\"{}\"", i == 0 ? "{" : ",", labels[i].first,
                          escaped(labels[i].second));
    }
    out_ += fmt::format("{} {}\n", labels.empty() ? "" : "}", value);
  }

 private:
  std::string& out_;
  const char* const name_;
};

/// Factors of one name and file are one series: their lines move with every build.
struct Series {
  Factor sum;
  double ns = 0;
};

/// Σx of a function over its outermost places, ns.
double time_of(const Profile& profile, const std::string& key, const std::string& name) {
  double mean = 0;
  const std::function<void(const analyzer::Node&)> add = [&](const analyzer::Node& node) {
    if (node.function == name && node.function_key == key) {
      mean += node.mean_ns;
      return;
    }
    for (const analyzer::Node& child : node.children) {
      add(child);
    }
  };
  for (const analyzer::Node& child : profile.tree.children) {
    add(child);
  }
  return mean * static_cast<double>(profile.interval.count);
}

std::vector<std::pair<Labels, Series>> series_of(const Profile& profile) {
  std::vector<std::pair<Labels, Series>> all;
  std::map<std::pair<std::string, std::string>, size_t> index;
  for (const Factor& factor : profile.factors) {
    if (factor.kind != analyzer::FactorKind::kVariance) {
      continue;
    }
    const std::string file = factor.definition.substr(0, factor.definition.rfind(':'));
    const auto [entry, is_new] = index.try_emplace({factor.functions[0], file}, all.size());
    const double ns = time_of(profile, factor.keys[0], factor.functions[0]);
    if (is_new) {
      if (all.size() < kMostFactors) {
        all.push_back({{{"interval", profile.interval.name},
                        {"function", factor.functions[0]},
                        {"file", file}},
                       {factor, ns}});
      }
    } else if (entry->second < all.size()) {
      Series& series = all[entry->second].second;
      Factor& sum = series.sum;
      series.ns += ns;
      sum.share += factor.share;
      sum.contribution += factor.contribution;
      for (size_t end = 0; end < 2; ++end) {
        sum.share_ci95.at(end) += factor.share_ci95.at(end);
      }
      sum.tail_share = sum.tail_share && factor.tail_share
                           ? std::optional(*sum.tail_share + *factor.tail_share)
                           : std::nullopt;
      sum.marked = sum.marked || factor.marked;
      sum.significant = sum.significant || factor.significant;
    }
  }
  return all;
}

void add_factors(std::string& out, const Profile& profile) {
  const auto all = series_of(profile);
  const auto add = [&](const char* name, const char* type, const char* help,
                       const std::function<std::optional<double>(const Series&)>& value) {
    Metric metric(out, name, type, help);
    for (const auto& [labels, series] : all) {
      if (const auto known = value(series)) {
        metric.sample(labels, *known);
      }
    }
  };
  add("vprof_factor_share_ratio", "gauge",
      "share of the variance, Cov(X, T) / Var(T); may be negative or above 1",
      [](const Series& one) { return one.sum.share; });
  add("vprof_factor_share_low_ratio", "gauge", "lower end of its 95 % confidence interval",
      [](const Series& one) { return one.sum.share_ci95[0]; });
  add("vprof_factor_share_high_ratio", "gauge", "upper end of its 95 % confidence interval",
      [](const Series& one) { return one.sum.share_ci95[1]; });
  add("vprof_factor_contribution_ratio", "gauge", "Var(X) / Var(T)",
      [](const Series& one) { return one.sum.contribution; });
  add("vprof_factor_tail_share_ratio", "gauge",
      "share of what the slowest 1 % have beyond the mean; absent if not known",
      [](const Series& one) { return one.sum.tail_share; });
  add("vprof_factor_time_seconds_total", "counter", "time of the function on critical paths",
      [](const Series& one) { return one.ns / kSecond; });
  add("vprof_factor_rank", "gauge", "rank in the report, from 1",
      [](const Series& one) { return one.sum.rank; });
  add("vprof_factor_marked", "gauge", "1: the report marks it, else 0",
      [](const Series& one) { return one.sum.marked ? 1 : 0; });
  add("vprof_factor_significant", "gauge", "0: its share may be chance",
      [](const Series& one) { return one.sum.significant ? 1 : 0; });
}

void add_kinds(std::string& out, const Profile& profile) {
  Metric shares(out, "vprof_kind_share_ratio", "gauge",
                "share of the variance by kind of time; together they are 1");
  for (const analyzer::KindOfTime& kind : profile.kinds) {
    shares.sample({{"interval", profile.interval.name},
                   {"kind", analyzer::kTimeKinds.at(static_cast<size_t>(kind.kind))}},
                  kind.share);
  }
}

void add_latencies(std::string& out, const analyzer::IntervalSummary& interval) {
  const Labels own = {{"interval", interval.name}};
  const auto quantile = [](Labels labels, const char* text) {
    labels.emplace_back("quantile", text);
    return labels;
  };
  Metric latency(out, "vprof_interval_latency_seconds", "summary",
                 "latency of all completed intervals");
  latency.sample(quantile(own, "0.5"), interval.p50_ns / kSecond);
  latency.sample(quantile(own, "0.95"), interval.p95_ns / kSecond);
  latency.sample(quantile(own, "0.99"), interval.p99_ns / kSecond);
  latency.sample(quantile(own, "0.999"), interval.p999_ns / kSecond);
  const auto count = static_cast<double>(interval.count);
  latency.sample(own, interval.mean_ns * count / kSecond, "_sum");
  latency.sample(own, count, "_count");
  Metric(out, "vprof_interval_latency_stddev_seconds", "gauge", "standard deviation of the latency")
      .sample(own, interval.stddev_ns / kSecond);
  Metric labels(out, "vprof_label_latency_seconds", "summary", "latency by label, of at most 64");
  constexpr size_t kMostLabels = 64;
  for (size_t i = 0; i < std::min(kMostLabels, interval.labels.size()); ++i) {
    const analyzer::LabelSummary& label = interval.labels[i];
    Labels both = own;
    both.emplace_back("label", label.label);
    const auto n = static_cast<double>(label.count);
    labels.sample(quantile(both, "0.5"), label.p50_ns / kSecond);
    labels.sample(quantile(both, "0.95"), label.p95_ns / kSecond);
    labels.sample(quantile(both, "0.99"), label.p99_ns / kSecond);
    labels.sample(both, label.mean_ns * n / kSecond, "_sum");
    labels.sample(both, n, "_count");
  }
  Metric(out, "vprof_between_labels_ratio", "gauge", "part of the variance that is between labels")
      .sample(own, interval.between_labels);
}

void add_losses(std::string& out, const Profile& profile, std::optional<double> counted_part) {
  const auto number = [](uint64_t count) { return static_cast<double>(count); };
  const analyzer::Losses& losses = profile.losses;
  Metric(out, "vprof_intervals_lost_total", "counter", "intervals that are in no other figure")
      .sample({{"interval", profile.interval.name}, {"reason", "incomplete"}},
              number(profile.interval.incomplete));
  Metric(out, "vprof_records_total", "counter", "records that the program made")
      .sample({}, number(profile.overhead.records));
  Metric lost(out, "vprof_records_lost_total", "counter",
              "records lost for lack of room, or cut off by the end of the program");
  lost.sample({{"reason", "dropped"}}, number(losses.dropped));
  lost.sample({{"reason", "torn"}}, number(losses.torn));
  Metric(out, "vprof_unreadable_bytes_total", "counter", "bytes of damaged parts of the recording")
      .sample({}, number(losses.unreadable_bytes));
  Metric waits(out, "vprof_waits_total", "counter",
               "waits on critical paths, by how certain it is what ended them");
  waits.sample({{"waker", "exact"}}, number(losses.exact_edges));
  waits.sample({{"waker", "inferred"}}, number(losses.inferred_edges));
  waits.sample({{"waker", "unknown"}}, number(losses.unknown_waits));
  waits.sample({{"waker", "outside"}}, number(losses.outside_waits));
  Metric(out, "vprof_overhead_ratio", "gauge",
         "what recording adds to the processor time of the program")
      .sample({}, analyzer::measuring_cost(profile.overhead) * profile.overhead.recorded_part);
  Metric(out, "vprof_recorded_ratio", "gauge",
         "part of the time that was recorded: the intervals of the rest are in no figure")
      .sample({}, counted_part.value_or(profile.overhead.recorded_part));
}

}  // namespace

std::string prometheus(const Profile& profile, const MetricsContext& context) {
  std::string out;
  Metric(out, "vprof_build_info", "gauge", "always 1; the versions are labels")
      .sample({{"version", context.vprof},
               {"program", context.program},
               {"program_version", context.version}},
              1);
  Metric(out, "vprof_recording_start_timestamp_seconds", "gauge",
         "when the recording began, Unix time")
      .sample({}, context.start_s);
  add_latencies(out, profile.interval);
  add_losses(out, profile, context.counted_part);
  add_kinds(out, profile);
  add_factors(out, profile);
  if (context.slow_intervals) {
    Metric(out, "vprof_slow_intervals_total", "counter", "intervals slower than --slower-than")
        .sample({{"interval", profile.interval.name}},
                static_cast<double>(*context.slow_intervals));
  }
  if (context.own_processor_s) {
    Metric(out, "vprof_own_processor_seconds_total", "counter",
           "processor time of vprof itself, beside the program")
        .sample({}, *context.own_processor_s);
  }
  return out;
}

}  // namespace vprof::report
