// What plots are made of: distributions, single intervals, latency over time. Comes out of a
// profile file, whose tree and factors are in Profile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

/// Intervals whose latency is at least `from_ns` and below `to_ns`; width at most 1/32 of it.
struct LatencyBin {
  uint64_t from_ns = 0, to_ns = 0;
  uint64_t count = 0;
};

struct LabelLatencies {
  std::string label;
  uint64_t count = 0;
  double mean_ns = 0, stddev_ns = 0;
  double p50_ns = 0, p95_ns = 0, p99_ns = 0;  ///< to 3 %: within a bin
  std::vector<LatencyBin> bins;
};

/// Intervals that began one after the other.
struct Period {
  int64_t run = 0;                 ///< begin of the recording, ns of CLOCK_REALTIME
  int64_t from_ns = 0, to_ns = 0;  ///< begin of the first and the last, since then
  uint64_t count = 0;
  double mean_ns = 0, stddev_ns = 0;
};

/// Time of a node of the variance tree in one interval.
struct NodeTime {
  uint32_t node = 0;  ///< number of the node in the tree, from the root in pre-order
  uint64_t ns = 0;
};

struct IntervalDetail {
  uint64_t id = 0;       ///< as the program named it
  int64_t run = 0;       ///< begin of the recording, ns of CLOCK_REALTIME
  int64_t begin_ns = 0;  ///< since then
  uint64_t latency_ns = 0;
  std::string label;
  std::vector<NodeTime> times;  ///< of nodes that had any, parents before their children
};

/// What Node does not say; by number of the node.
struct NodeFacts {
  std::string factor;      ///< nodes with the same one are one factor
  std::string definition;  ///< `file:line`
  int height = 0;
  bool expandable = false, expanded = false;
};

struct Details {
  std::string interval;
  uint64_t count = 0;
  int graph_height = 0;
  std::vector<LatencyBin> bins;
  std::vector<LabelLatencies> labels;   ///< most frequent first
  std::vector<Period> periods;          ///< in order of time
  std::vector<IntervalDetail> sampled;  ///< uniformly, in order of time; up to 2,000
  std::vector<IntervalDetail> worst;    ///< slowest first; up to 50
  std::vector<NodeFacts> nodes;
};

/// From the bytes of a profile file. Error: one line. Files of earlier versions have no labels'
/// bins and no intervals.
Result<Details> details_of(const std::string& profile);

}  // namespace vprof::analyzer
