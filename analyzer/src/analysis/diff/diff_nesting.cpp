#include "analysis/diff/diff_nesting.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace vprof::analyzer {
namespace {

/// A change is within another one if at least this part of it is.
constexpr double kWithin = 0.9;

bool is_pair(const FactorChange& change) { return change.kind == FactorKind::kCovariance; }

/// How much of a factor lies within each function: by name, sums of |share| of the instances below
/// it, and how far up the function is in the largest of them.
struct Around {
  struct Part {
    double share = 0;
    size_t distance = 0;
  };
  std::map<std::string, Part> parts;
  double all = 0;

  void add(const Factor* factor) {
    if (factor == nullptr) {
      return;
    }
    for (const Instance& instance : factor->instances) {
      if (!instance.nested) {
        add(instance);
      }
    }
  }

  /// The distance of a function that contains the factor; 0: it does not.
  size_t distance_of(const std::string& function) const {
    const auto part = parts.find(function);
    const bool within = part != parts.end() && part->second.share >= kWithin * all;
    return within ? part->second.distance : 0;
  }

 private:
  void add(const Instance& instance) {
    const double share = std::abs(instance.share);
    all += share;
    std::map<std::string, size_t> above;  // the nearest one of each name
    for (size_t up = 1; up < instance.path.size(); ++up) {
      above.try_emplace(instance.path[instance.path.size() - 1 - up], up);
    }
    for (const auto& [name, up] : above) {
      Part& part = parts[name];
      // Instances come largest first.
      part.distance = part.distance == 0 ? up : part.distance;
      part.share += share;
    }
  }
};

/// The index of the innermost change that contains `of`; its own index: there is none.
size_t container_of(size_t of, const std::vector<NestedChange>& changes) {
  if (is_pair(changes[of].change)) {
    return of;
  }
  Around around;
  around.add(changes[of].a);
  around.add(changes[of].b);
  size_t best = of;
  size_t nearest = SIZE_MAX;
  for (size_t i = 0; i < changes.size(); ++i) {
    if (i == of || is_pair(changes[i].change)) {
      continue;
    }
    const size_t distance = around.distance_of(changes[i].change.functions[0]);
    if (distance != 0 && distance < nearest) {
      best = i;
      nearest = distance;
    }
  }
  return best;
}

class ChangeNesting {
 public:
  explicit ChangeNesting(std::vector<NestedChange> changes) : changes_(std::move(changes)) {
    std::stable_sort(changes_.begin(), changes_.end(),
                     [](const NestedChange& x, const NestedChange& y) {
                       const auto key = [](const FactorChange& one) {
                         return std::pair(is_pair(one), -std::abs(one.change));
                       };
                       return key(x.change) < key(y.change);
                     });
    for (size_t i = 0; i < changes_.size(); ++i) {
      containers_.push_back(container_of(i, changes_));
    }
    cut_circles();
  }

  std::vector<FactorChange> in_order() {
    for (size_t i = 0; i < changes_.size(); ++i) {
      if (containers_[i] == i) {
        put(i, 0);
      }
    }
    return std::move(result_);
  }

 private:
  /// Two functions that call each other may each be within the other: the larger change stays
  /// outside. It comes first.
  void cut_circles() {
    for (size_t i = 0; i < changes_.size(); ++i) {
      size_t at = containers_[i];
      for (size_t steps = 0; steps < changes_.size() && at != containers_[at]; ++steps) {
        at = containers_[at];
        if (at == i) {
          containers_[i] = i;
        }
      }
    }
  }

  /// Recursion is as deep as the nesting, which cut_circles() has bounded.
  void put(size_t index, int depth) {
    FactorChange& change = changes_[index].change;
    change.depth = depth;
    if (depth > 0) {
      change.within = changes_[containers_[index]].change.functions[0];
    }
    result_.push_back(change);
    for (size_t i = 0; i < changes_.size(); ++i) {
      if (containers_[i] == index && i != index) {
        put(i, depth + 1);
      }
    }
  }

  std::vector<NestedChange> changes_;
  std::vector<size_t> containers_;  // by index; a change without one is its own
  std::vector<FactorChange> result_;
};

}  // namespace

std::vector<FactorChange> nest(std::vector<NestedChange> changes) {
  return ChangeNesting(std::move(changes)).in_order();
}

}  // namespace vprof::analyzer
