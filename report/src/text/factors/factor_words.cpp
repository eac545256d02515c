#include "vprof/report/factor_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include "text/layout.h"
#include "vprof/report/json.h"

namespace vprof::report {
namespace {

constexpr double kLeastDifference = 0.01;  // of shares, that is worth words

bool is_name_of_wait(std::string_view name) {
  constexpr std::array<std::string_view, 4> kWaits = {"wait(", "polled(", "queue(", "parked("};
  return std::any_of(kWaits.begin(), kWaits.end(),
                     [&](std::string_view start) { return name.starts_with(start); });
}

/// The innermost wait around a place; empty: there is none, or the place is a part of it.
std::string wait_above(const analyzer::Factor& factor, const analyzer::Instance& place) {
  // The path of a pair leads to its parent.
  const size_t own = factor.kind == analyzer::FactorKind::kVariance ? 1 : 0;
  const std::string& name = factor.functions[0];
  if (place.path.size() <= own || name.starts_with("wake-up(") || name == analyzer::kUnknownWaker) {
    return "";
  }
  const auto first = place.path.rbegin() + static_cast<std::ptrdiff_t>(own);
  const auto found = std::find_if(first, place.path.rend(), is_name_of_wait);
  return found == place.path.rend() ? "" : *found;
}

}  // namespace

std::string wait_around(const analyzer::Factor& factor) {
  std::map<std::string, double> shares;  // by wait
  double all = 0;
  for (const analyzer::Instance& instance : factor.instances) {
    if (!instance.nested) {
      all += instance.share;
      shares[wait_above(factor, instance)] += instance.share;
    }
  }
  for (const auto& [wait, share] : shares) {
    if (share > all / 2) {
      return wait;
    }
  }
  return "";
}

std::string blame_mark(const analyzer::Factor& factor) {
  const std::string wait = wait_around(factor);
  return wait.empty() ? "" : " [blame of " + wait + "]";
}

std::string share_in_words(double share, double weight) {
  std::string text = percent(share) + " of the variance";
  if (std::abs(share - weight) >= kLeastDifference) {
    text += fmt::format(", {} not explained below it", percent(weight));
  }
  return text;
}

const char* name_of(analyzer::TimeKind kind) {
  return kind == analyzer::TimeKind::kIo ? "I/O" : word_for(kind);
}

std::string score_in_words(double score) {
  const double size = std::abs(score);
  return fmt::format("{:.{}f}", score, size < 0.995 ? 2 : size < 99.95 ? 1 : 0);
}

}  // namespace vprof::report
