#include "text/factors/factor_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "vprof/support/text.h"

namespace vprof::report {
namespace {

using analyzer::Factor;
using analyzer::FactorKind;
using analyzer::Instance;

constexpr double kLeastShare = 0.001;  // of a call that is named
constexpr size_t kMostCalls = 3;
constexpr size_t kLeastPathRoom = 24;  // in front of a location

}  // namespace

void write_largest_place(const Factor& factor, size_t indent, TextWriter& out) {
  if (factor.instances.empty() || factor.instances.front().path.empty()) {
    return;
  }
  const Instance& largest = factor.instances.front();
  const bool pair = factor.kind == FactorKind::kCovariance;
  const std::string before = std::string(indent, ' ') + (pair ? "in " : "");
  const bool has_call = !pair && !largest.location.empty() && largest.location != factor.definition;
  const std::string call = has_call ? "  at " + largest.location : "";
  const size_t used = before.size() + columns(call);
  if (out.width() >= used + kLeastPathRoom) {
    return out.line(before + fit_path(largest.path, out.width() - used, out.ascii()) + call,
                    Style::kFaint);
  }
  out.line(before + fit_path(largest.path, out.width() - before.size(), out.ascii()),
           Style::kFaint);
  out.paragraph("at " + largest.location, indent, Style::kFaint);
}

std::string other_calls(const Factor& factor) {
  std::vector<std::pair<double, std::string>> calls;
  for (size_t i = 1; i < factor.instances.size(); ++i) {
    const Instance& one = factor.instances[i];
    if (one.nested || one.dominated || one.location.empty() ||
        one.location == factor.instances[0].location) {
      continue;
    }
    const auto known = std::find_if(calls.begin(), calls.end(),
                                    [&](const auto& call) { return call.second == one.location; });
    if (known != calls.end()) {
      known->first += one.share;
    } else {
      calls.emplace_back(one.share, one.location);
    }
  }
  std::erase_if(calls, [](const auto& call) { return std::abs(call.first) < kLeastShare; });
  std::stable_sort(calls.begin(), calls.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> words;
  for (size_t i = 0; i < std::min(calls.size(), kMostCalls); ++i) {
    words.push_back(fmt::format("{} ({})", calls[i].second, percent(calls[i].first)));
  }
  if (calls.size() > kMostCalls) {
    words.push_back(fmt::format("{} more", calls.size() - kMostCalls));
  }
  return listed(words);
}

}  // namespace vprof::report
