// Numbers for the page, with fewer digits than the analysis has: a tree has up to 100,000 nodes.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace vprof::report {

/// Rounded to a multiple of `unit`.
inline nlohmann::json short_number(double value, double unit) {
  const double per_unit = std::round(1 / unit);
  const double rounded = std::round(value * per_unit) / per_unit;
  return rounded == std::floor(rounded) && std::abs(rounded) < 1e15
             ? nlohmann::json(static_cast<int64_t>(rounded))
             : nlohmann::json(rounded);
}

/// The value itself, or six significant digits of each fraction in it.
inline nlohmann::json short_numbers(const nlohmann::json& value) {
  if (value.is_array()) {
    nlohmann::json all = nlohmann::json::array();
    for (const nlohmann::json& one : value) {
      all.push_back(short_numbers(one));
    }
    return all;
  }
  if (!value.is_number_float()) {
    return value;
  }
  const double number = value.get<double>();
  if (number == 0 || !std::isfinite(number)) {
    return 0;
  }
  const double unit = std::pow(10, 5 - std::floor(std::log10(std::abs(number))));
  return std::round(number * unit) / unit;
}

}  // namespace vprof::report
