#include "statistics/significance.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace vprof::analyzer {
namespace {

constexpr int kMostTerms = 300;
constexpr double kPrecise = 1e-14;
constexpr double kTiny = 1e-300;

/// The continued fraction of the incomplete beta function, by the method of Lentz (Abramowitz and
/// Stegun 26.5.8). Converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  const auto nonzero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / nonzero(1 - (a + b) * x / (a + 1));
  double result = d;
  for (int i = 1; i < kMostTerms; ++i) {
    const double m = i;
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonzero(1 + even * d);
    c = nonzero(1 + even / c);
    result *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonzero(1 + odd * d);
    c = nonzero(1 + odd / c);
    result *= d * c;
    if (std::abs(d * c - 1) < kPrecise) {
      break;
    }
  }
  return result;
}

/// The regularised incomplete beta function I_x(a, b).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0 || x >= 1) {
    return x <= 0 ? 0 : 1;
  }
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) {
    return front * beta_fraction(a, b, x) / a;
  }
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace

double t_two_sided(double t, double degrees) {
  if (!(degrees > 0)) {
    return 1;
  }
  return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

namespace {

/// By bisection.
double find_quantile(double p, double degrees) {
  double low = 0;
  double high = 1;
  while (t_two_sided(high, degrees) > p && high < 1e12) {
    high *= 2;
  }
  for (int i = 0; i < 100 && high - low > 1e-12 * high; ++i) {
    const double middle = (low + high) / 2;
    (t_two_sided(middle, degrees) > p ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

/// A report asks for few different quantiles, thousands of times.
double t_quantile(double p, double degrees) {
  thread_local std::map<std::pair<double, double>, double> known;
  const auto [entry, is_new] = known.try_emplace({p, degrees});
  if (is_new) {
    entry->second = find_quantile(p, degrees);
  }
  return entry->second;
}

double p_of_zero(double value, double error, double degrees) {
  if (!(degrees > 0) || value == 0) {
    return 1;
  }
  return error > 0 ? t_two_sided(value / error, degrees) : 0;
}

std::vector<bool> holm(const std::vector<double>& p_values, double level) {
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return p_values[a] < p_values[b]; });
  std::vector<bool> rejected(p_values.size(), false);
  for (size_t i = 0; i < order.size(); ++i) {
    const auto left = static_cast<double>(order.size() - i);
    if (p_values[order[i]] * left > level) {
      break;
    }
    rejected[order[i]] = true;
  }
  return rejected;
}

}  // namespace vprof::analyzer
