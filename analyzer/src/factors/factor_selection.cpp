#include "factors/factor_selection.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "factors/factor_instances.h"
#include "factors/jackknife.h"
#include "statistics/significance.h"

namespace vprof::analyzer {
namespace {

// Pairs and functions that cannot reach this, however they vary together, are not tested.
constexpr double kLeastTested = 0.01;

class FactorRanking {
 public:
  FactorRanking(const VarianceTree& tree, const std::vector<PlaceExemplars>& exemplars,
                const Options& options)
      : tree_(tree),
        exemplars_(exemplars),
        options_(options),
        graph_height_(graph_height(tree)),
        factors_(collect_factors(tree, options)) {}

  std::vector<Factor> rank(const std::vector<Batch>& batches, const TailShares* tail) {
    const Jackknife jackknife(tree_, batches, tail);
    const bool testable = batches.size() > 1;
    const std::map<FactorKey, bool> significant = test(jackknife);
    std::vector<Factor> factors;
    double lowest_cause = std::numeric_limits<double>::infinity();
    for (auto& [key, collected] : factors_) {
      Factor& factor = collected.factor;
      const auto tested = significant.find(key);
      factor.significant = tested != significant.end() && tested->second;
      if (factor.functions.empty() || !large(collected)) {
        continue;
      }
      add_estimates(collected, jackknife);
      const bool pair = factor.kind == FactorKind::kCovariance;
      if (testable && pair && !factor.significant && options_.least_listed > 0) {
        continue;
      }
      add_exemplars(collected);
      finish(collected);
      if (is_certain_cause(collected)) {
        lowest_cause = std::min(lowest_cause, factor.score);
      }
      factors.push_back(std::move(factor));
    }
    if (options_.ranking == Ranking::kShare) {  // it is the share that is tested
      limit_scores(lowest_cause, factors);
    }
    number(factors);
    return factors;
  }

 private:
  bool large(const FactorInstances& collected) const {
    return std::abs(collected.by_share) >= options_.least_listed ||
           std::abs(collected.by_variance) >= options_.least_listed;
  }

  FactorEstimate estimate(const FactorInstances& collected, const Jackknife& jackknife,
                          std::optional<double> tail_share = {}) const {
    const Factor& factor = collected.factor;
    return factor.kind == FactorKind::kCovariance
               ? jackknife.of_pairs(collected.pairs, factor.contribution)
               : jackknife.of_places(collected.places, factor.contribution, factor.share,
                                     tail_share);
  }

  /// Which of the factors that could matter do not vary (together) by chance. What could matter
  /// must not depend on what is tested, or chance would choose what passes.
  std::map<FactorKey, bool> test(const Jackknife& jackknife) const {
    std::vector<const FactorKey*> keys;
    std::vector<double> p_values;
    for (const auto& [key, collected] : factors_) {
      if (collected.potential < kLeastTested) {
        continue;
      }
      keys.push_back(&key);
      p_values.push_back(collected.factor.functions.empty() ? 1 : estimate(collected, jackknife).p);
    }
    const std::vector<bool> rejected = holm(p_values);
    std::map<FactorKey, bool> significant;
    for (size_t i = 0; i < keys.size(); ++i) {
      significant[*keys[i]] = rejected[i];
    }
    return significant;
  }

  void add_estimates(FactorInstances& collected, const Jackknife& jackknife) const {
    Factor& factor = collected.factor;
    const FactorEstimate found = estimate(collected, jackknife, factor.tail_share);
    const bool pair = factor.kind == FactorKind::kCovariance;
    factor.ci95 = found.contribution.ci95;
    factor.variance_ns2 = found.variance_ns2.value;
    factor.error_ns2 = found.variance_ns2.error;
    factor.degrees = pair ? found.variance_ns2.degrees : found.covariance.degrees;
    factor.share_ci95 = {factor.share, factor.share};
    if (!pair) {
      factor.share_ci95 = found.share.ci95;
      factor.share_error_ns2 = found.covariance.error;
    }
    if (found.tail_share.degrees > 0) {
      factor.tail_share_ci95 = found.tail_share.ci95;
    }
    const std::array<double, 2>& tested = pair ? factor.ci95 : factor.share_ci95;
    factor.significant = factor.significant && (tested[0] > 0 || tested[1] < 0);
  }

  /// From the instance with the largest variance; of a covariance, from the first node of a pair.
  void add_exemplars(FactorInstances& collected) const {
    const auto larger = [&](uint32_t a, uint32_t b) {
      return tree_.nodes[a].variance_ns2 < tree_.nodes[b].variance_ns2;
    };
    uint32_t node = 0;
    if (!collected.pairs.empty()) {
      node = tree_.pairs[collected.pairs.front()].a;
    } else if (!collected.nodes.empty()) {
      node = *std::max_element(collected.nodes.begin(), collected.nodes.end(), larger);
    }
    const uint32_t place = tree_.nodes[node].place;
    if (node == 0 || place >= exemplars_.size()) {
      return;
    }
    const auto shown = [](const PlaceExemplar& exemplar) {
      return Exemplar{static_cast<uint64_t>(exemplar.id), exemplar.key,
                      static_cast<double>(exemplar.ns), static_cast<double>(exemplar.latency),
                      exemplar.trace};
    };
    for (const PlaceExemplar& exemplar : exemplars_[place].worst) {
      collected.factor.worst.push_back(shown(exemplar));
    }
    std::vector<PlaceExemplar> sorted;
    for (const auto& [hash, exemplar] : exemplars_[place].sampled) {
      sorted.push_back(exemplar);
    }
    std::sort(sorted.begin(), sorted.end());
    const size_t middle = sorted.size() / 2;
    for (size_t i = middle == 0 ? 0 : middle - 1; i < std::min(middle + 2, sorted.size()); ++i) {
      collected.factor.typical.push_back(shown(sorted[i]));
    }
  }

  void finish(FactorInstances& collected) const {
    Factor& factor = collected.factor;
    factor.specificity = specificity(graph_height_, factor.height, options_.specificity);
    factor.weight = collected.weight(options_.ranking);
    factor.score = factor.specificity * factor.weight;
    const double by_variance = collected.by_variance;
    factor.variance_score = factor.specificity * by_variance;
    // A mark for number(): there is no rank yet.
    factor.variance_rank = std::abs(by_variance) >= options_.least_listed ? 1 : 0;
  }

  /// Whether a factor is certain, large, and not made of measured functions, as those around all
  /// others are, which are always certain.
  bool is_certain_cause(const FactorInstances& collected) const {
    const Factor& factor = collected.factor;
    return factor.significant && factor.kind == FactorKind::kVariance &&
           factor.weight >= options_.threshold &&
           std::ranges::none_of(collected.nodes, [&](uint32_t node) {
             return tree_.nodes[node].kind == NodeKind::kFunction &&
                    !tree_.nodes[node].children.empty();
           });
  }

  /// What may be chance must not rank above a certain cause: a report that begins with it would be
  /// wrong as often as chance is.
  static void limit_scores(double lowest_cause, std::vector<Factor>& factors) {
    for (Factor& factor : factors) {
      if (!factor.significant) {
        factor.score = std::min(factor.score, lowest_cause);
      }
    }
  }

  /// Sorts the factors and numbers them under both rankings.
  static void number(std::vector<Factor>& factors) {
    const auto by_name = [](const Factor& a, const Factor& b) {
      return std::tie(a.functions, a.keys, a.kind) < std::tie(b.functions, b.keys, b.kind);
    };
    std::sort(factors.begin(), factors.end(), [&](const Factor& a, const Factor& b) {
      return a.variance_score != b.variance_score ? a.variance_score > b.variance_score
                                                  : by_name(a, b);
    });
    int rank = 0;
    for (Factor& factor : factors) {
      factor.variance_rank = factor.variance_rank != 0 ? ++rank : 0;
    }
    std::sort(factors.begin(), factors.end(), [&](const Factor& a, const Factor& b) {
      const auto x = std::tie(a.score, a.significant, a.weight);
      const auto y = std::tie(b.score, b.significant, b.weight);
      return x != y ? x > y : by_name(a, b);
    });
    for (size_t i = 0; i < factors.size(); ++i) {
      factors[i].rank = static_cast<int>(i + 1);
    }
  }

  const VarianceTree& tree_;
  const std::vector<PlaceExemplars>& exemplars_;
  const Options& options_;
  const int graph_height_;
  std::map<FactorKey, FactorInstances> factors_;
};

}  // namespace

int graph_height(const VarianceTree& tree) {
  int height = tree.nodes[0].height;
  for (size_t i = 1; i < tree.nodes.size(); ++i) {
    height = std::max(height, tree.nodes[i].height + 1);
  }
  return height;
}

double specificity(int graph_height, int height, Specificity rule) {
  const double distance = std::max(graph_height - height, 0);
  double result = 1;
  for (int i = 0; i < rule_of(rule).power; ++i) {
    result *= distance;
  }
  return result;
}

std::vector<Factor> rank_factors(const VarianceTree& tree, const std::vector<Batch>& batches,
                                 const std::vector<PlaceExemplars>& exemplars,
                                 const Options& options, const TailShares* tail) {
  return FactorRanking(tree, exemplars, options).rank(batches, tail);
}

}  // namespace vprof::analyzer
