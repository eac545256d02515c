// What the workloads draw, and how they put a script together.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "workloads/workload.h"

namespace smf {

// From 0 to n - 1.
inline uint64_t uniform(Random& random, uint64_t n) {
  return std::uniform_int_distribution<uint64_t>(0, n - 1)(random);
}

inline bool chance(Random& random, double probability) {
  return std::uniform_real_distribution<double>(0, 1)(random) < probability;
}

// An index, with the weights in percent.
inline uint32_t weighted(Random& random, std::initializer_list<double> weights) {
  double dice = std::uniform_real_distribution<double>(0, 100)(random);
  uint32_t index = 0;
  for (const double weight : weights) {
    if (dice < weight) {
      return index;
    }
    dice -= weight;
    ++index;
  }
  return index - 1;
}

// TPC-C's non-uniform random numbers, clause 2.1.6, with C = 0; from 0 to n - 1.
inline uint64_t non_uniform(Random& random, uint64_t a, uint64_t n) {
  return (uniform(random, a + 1) | uniform(random, n)) % n;
}

// Rank k has a probability in proportion to 1 / (k + 1)^theta.
class Zipf {
 public:
  Zipf(size_t n, double theta) : sums_(n) {
    double sum = 0;
    for (size_t k = 0; k < n; ++k) {
      sum += std::pow(static_cast<double>(k + 1), -theta);
      sums_[k] = sum;
    }
  }

  uint64_t operator()(Random& random) const {
    const double dice = std::uniform_real_distribution<double>(0, sums_.back())(random);
    const auto found = std::ranges::lower_bound(sums_, dice);
    return static_cast<uint64_t>(std::min(found, sums_.end() - 1) - sums_.begin());
  }

 private:
  std::vector<double> sums_;
};

inline std::string row(std::string_view table, uint64_t key) {
  return std::string(table) + ' ' + std::to_string(key);
}

// Collects the operations of a script. An operation on a row that comes a second time is left out.
class ScriptBuilder {
 public:
  explicit ScriptBuilder(uint32_t type) { script_.type = type; }

  ScriptBuilder& hint(const std::string& key) {
    script_.hints.push_back({key});
    return *this;
  }
  ScriptBuilder& read(const std::string& key) {
    if (!has(key, Access::kRead)) {
      script_.operations.push_back({key, Access::kRead});
    }
    return *this;
  }
  ScriptBuilder& write(const std::string& key, int64_t amount = 1) {
    if (!has(key, Access::kWrite)) {
      script_.operations.push_back({key, Access::kWrite, false, amount});
    }
    return *this;
  }
  ScriptBuilder& update(const std::string& key, int64_t amount = 1) {
    if (!has(key, Access::kRead)) {
      script_.operations.push_back({key, Access::kRead, true});
    }
    return write(key, amount);
  }
  // All operations become hints, as of an application that knows them when it begins.
  ScriptBuilder& hint_all() {
    for (const ScriptOperation& operation : script_.operations) {
      script_.hints.push_back({operation.key, operation.access});
    }
    return *this;
  }
  Script done() { return std::move(script_); }

 private:
  bool has(const std::string& key, Access access) const {
    return std::ranges::any_of(script_.operations, [&](const ScriptOperation& operation) {
      return operation.key == key && operation.access == access;
    });
  }

  Script script_;
};

}  // namespace smf
