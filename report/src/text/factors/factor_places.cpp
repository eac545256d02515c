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
constexpr double kLargeShare = 0.05;  // of a place that has a line
constexpr size_t kMostPlaces = 3;
constexpr size_t kPathLines = 3;  // of the largest place of a marked factor
constexpr size_t kLeastPathRoom = 24;

/// Whether it has a line beside the largest place. What has calls is named by them.
bool is_large_place(const Factor& factor, const Instance& one) {
  return factor.kind == FactorKind::kVariance && !one.nested && !one.dominated &&
         one.location.empty() && one.share >= kLargeShare;
}

/// The call that is measured there, or that waits there, to be written behind the path.
std::string call_at(const Factor& factor, const Instance& place) {
  if (!place.call.empty()) {
    return "  at " + place.call;
  }
  const bool has_call = factor.kind == FactorKind::kVariance && !place.location.empty() &&
                        place.location != factor.definition;
  return has_call ? "  at " + place.location : "";
}

size_t lines_when_wrapped(const std::string& text, size_t indent, size_t width) {
  const std::string wrapped = wrap(text.substr(indent), indent, width);
  return static_cast<size_t>(std::count(wrapped.begin(), wrapped.end(), '\n'));
}

/// The index in its path of what tells a place from those that are most like it.
size_t difference(const Instance& place, const std::vector<const Instance*>& shown) {
  size_t most = 0;
  for (const Instance* one : shown) {
    const auto differ =
        std::mismatch(place.path.begin(), place.path.end(), one->path.begin(), one->path.end())
            .first;
    if (differ != place.path.end()) {
      most = std::max(most, static_cast<size_t>(differ - place.path.begin()));
    }
  }
  return most;
}

/// `before` begins with `indent` spaces. What leads to a place tells it from others, and causes may
/// be in its middle, so a marked factor has several lines for it.
void write_largest_place(const Factor& factor, const std::string& before, size_t indent,
                         size_t kept, TextWriter& out) {
  const Instance& largest = factor.instances.front();
  const std::string call = call_at(factor, largest);
  const size_t lines = factor.marked ? kPathLines : 1;
  std::string text;
  size_t room = lines * out.width() + 1;
  do {  // lines end before a name that does not fit, so not all of their columns are used
    text = before + fit_path(largest.path, --room, out.ascii(), kept) + call;
  } while (room > kLeastPathRoom && lines_when_wrapped(text, indent, out.width()) > lines);
  if (columns(text) <= out.width()) {
    return out.line(text, Style::kFaint);
  }
  out.paragraph(text.substr(indent), indent, Style::kFaint);
}

}  // namespace

size_t write_places(const Factor& factor, size_t indent, TextWriter& out) {
  if (factor.instances.empty() || factor.instances.front().path.empty()) {
    return 0;
  }
  std::vector<const Instance*> shown = {factor.instances.data()};
  for (size_t i = 1; i < factor.instances.size() && shown.size() <= kMostPlaces; ++i) {
    if (is_large_place(factor, factor.instances[i])) {
      shown.push_back(&factor.instances[i]);
    }
  }
  const std::string margin(indent, ' ');
  const auto part_in = [&](const Instance& one) { return margin + percent(one.share) + " in "; };
  const Instance& largest = *shown.front();
  write_largest_place(factor,
                      factor.kind == FactorKind::kCovariance ? margin + "in "
                      : shown.size() == 1                    ? margin
                                                             : part_in(largest),
                      indent, difference(largest, shown), out);
  for (size_t i = 1; i < shown.size(); ++i) {
    const std::string before = part_in(*shown[i]);
    const std::string call = call_at(factor, *shown[i]);
    const size_t taken = columns(before + call);
    const size_t room = std::max(out.width(), taken + kLeastPathRoom) - taken;
    std::string line = before;
    line += fit_path(shown[i]->path, room, out.ascii(), difference(*shown[i], shown));
    out.line(line + call, Style::kFaint);
  }
  return shown.size() - 1;
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
