// Trees as text and as numbers, to compare them.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "vprof/analyzer/analyzer.h"

namespace vprof::test {

/// Tests with very many cases use every n-th under sanitizers, which are slow. Without them, they
/// use all.
#ifdef __SANITIZE_THREAD__
inline constexpr int kEvery = 8;  // a few cases show the races
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr int kEvery = 3;
#else
inline constexpr int kEvery = 1;
#endif
#else
inline constexpr int kEvery = 1;
#endif

/// Total ns of all leaves, by path: `request/f/wait(sem_wait)/g`.
inline void collect(const analyzer::Node& node, uint64_t n, const std::string& prefix,
                    std::map<std::string, int64_t>& into) {
  const std::string path = prefix.empty() ? node.function : prefix + "/" + node.function;
  if (node.children.empty()) {
    into[path] += std::llround(node.mean_ns * static_cast<double>(n));
  }
  for (const analyzer::Node& child : node.children) {
    collect(child, n, path, into);
  }
}

inline std::map<std::string, int64_t> leaves(const analyzer::Profile& profile) {
  std::map<std::string, int64_t> result;
  collect(profile.tree, profile.interval.count, "", result);
  return result;
}

/// Largest relative violation of conservation: the means and shares of the children, and their Var
/// + 2 Cov, add up to those of the node.
inline double worst_violation(const analyzer::Node& node, double scale) {
  double worst = 0;
  if (!node.children.empty()) {
    double mean = 0;
    double variance = 0;
    double share = 0;
    double work_share = 0;
    double label_share = 0;
    for (const analyzer::Node& child : node.children) {
      mean += child.mean_ns;
      variance += child.variance_ns2;
      share += child.share;
      work_share += child.work_share;
      label_share += child.label_share;
      worst = std::max(worst, worst_violation(child, scale));
    }
    for (const analyzer::Covariance& pair : node.covariances) {
      variance += 2 * pair.covariance_ns2;
    }
    worst = std::max(worst, std::abs(mean - node.mean_ns) / std::max(node.mean_ns, 1.0));
    worst = std::max(worst, std::abs(variance - node.variance_ns2) / std::max(scale, 1.0));
    worst = std::max({worst, std::abs(share - node.share), std::abs(work_share - node.work_share),
                      std::abs(label_share - node.label_share)});
  }
  return worst;
}

/// The means and shares of the kinds of time add up to those of the interval.
inline double worst_violation(const std::vector<analyzer::KindOfTime>& kinds,
                              const analyzer::Node& root) {
  double mean = 0;
  double share = 0;
  for (const analyzer::KindOfTime& kind : kinds) {
    mean += kind.mean_ns;
    share += kind.share;
  }
  return std::max(std::abs(mean - root.mean_ns) / std::max(root.mean_ns, 1.0),
                  std::abs(share - root.share));
}

inline double worst_violation(const analyzer::Profile& profile) {
  return std::max(worst_violation(profile.tree, profile.tree.variance_ns2),
                  worst_violation(profile.kinds, profile.tree));
}

inline const analyzer::Factor* find_factor(const analyzer::Profile& profile,
                                           const std::string& name) {
  for (const analyzer::Factor& factor : profile.factors) {
    if (factor.functions.size() == 1 && factor.functions[0] == name) {
      return &factor;
    }
  }
  return nullptr;
}

}  // namespace vprof::test
