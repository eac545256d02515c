// What plots are made of: distributions, single intervals, latency over time. Read from a profile
// file; the tree and the factors are in Profile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

/// Number of intervals with a latency in [from_ns, to_ns). From 1024 ns on, a bin is at most 1/32
/// of from_ns wide.
struct LatencyBin {
  uint64_t from_ns = 0, to_ns = 0;
  uint64_t count = 0;
};

struct LabelLatencies {
  std::string label;
  uint64_t count = 0;
  double mean_ns = 0, stddev_ns = 0;
  /// Within the right bin, so to about 3 %.
  double p50_ns = 0, p95_ns = 0, p99_ns = 0;
  std::vector<LatencyBin> bins;
};

/// Intervals that began one after the other.
struct Period {
  /// When the recording began, ns of CLOCK_REALTIME.
  int64_t run = 0;
  /// When the first and the last interval began, since the recording began.
  int64_t from_ns = 0, to_ns = 0;
  uint64_t count = 0;
  double mean_ns = 0, stddev_ns = 0;
};

/// Time of a node of the variance tree in one interval.
struct NodeTime {
  /// Number of the node in the tree, in pre-order from the root, which is 0.
  uint32_t node = 0;
  uint64_t ns = 0;
};

struct IntervalDetail {
  /// As Exemplar; the id is 0 in profiles of earlier versions.
  uint64_t id = 0, key = 0;
  /// When the recording began, ns of CLOCK_REALTIME.
  int64_t run = 0;
  /// Since the recording began.
  int64_t begin_ns = 0;
  uint64_t latency_ns = 0;
  std::string label;
  /// Of the nodes with time in the interval; parents before their children.
  std::vector<NodeTime> times;
  TraceContext trace = {};
};

/// Facts about a node that Node does not have.
struct NodeFacts {
  /// Nodes with the same value are instances of one factor.
  std::string factor;
  /// `file:line`
  std::string definition;
  int height = 0;
  bool expandable = false, expanded = false;
};

struct Details {
  std::string interval;
  /// Completed intervals.
  uint64_t count = 0;
  /// Height of the call graph (equation 2.3).
  int graph_height = 0;
  std::vector<LatencyBin> bins;
  /// Most frequent first.
  std::vector<LabelLatencies> labels;
  /// In order of time.
  std::vector<Period> periods;
  /// A uniform sample of up to 2,000, in order of time.
  std::vector<IntervalDetail> sampled;
  /// Up to 50, slowest first.
  std::vector<IntervalDetail> worst;
  /// By number of the node.
  std::vector<NodeFacts> nodes;
};

/// Reads the bytes of a profile file. Error: one line; the bytes are damaged or of another version.
Result<Details> details_of(const std::string& profile);

}  // namespace vprof::analyzer
