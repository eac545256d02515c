// What the workloads draw.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <vector>

#include "workloads/workload.h"

namespace lab {

// From 0 to n - 1.
inline uint64_t uniform(Random& random, uint64_t n) {
  return std::uniform_int_distribution<uint64_t>(0, n - 1)(random);
}

inline bool chance(Random& random, double probability) {
  return std::uniform_real_distribution<double>(0, 1)(random) < probability;
}

// An index, with the weights in percent.
inline int weighted(Random& random, std::initializer_list<double> weights) {
  double dice = std::uniform_real_distribution<double>(0, 100)(random);
  int index = 0;
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

// The time of a statement is memoryless, as the analysis in section 4.3.2 assumes; its mean is the
// given one.
inline double statement(Random& random, double mean = 1) {
  return std::exponential_distribution<double>(1 / mean)(random);
}

// A row: which table, which key.
constexpr ObjectId row(uint64_t table, uint64_t key) { return (table << 48) | key; }

// Collects the steps of a script.
class ScriptBuilder {
 public:
  ScriptBuilder(Random& random, int type) : random_(random) { script_.type = type; }

  ScriptBuilder& read(ObjectId object, double mean = 1) {
    script_.steps.push_back({object, Mode::kShared, statement(random_, mean)});
    return *this;
  }
  ScriptBuilder& write(ObjectId object, double mean = 1) {
    script_.steps.push_back({object, Mode::kExclusive, statement(random_, mean)});
    return *this;
  }
  Script done() { return std::move(script_); }

 private:
  Random& random_;
  Script script_;
};

}  // namespace lab
