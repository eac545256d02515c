#include "text/factors/factor_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "text/factors/factor_places.h"
#include "vprof/analyzer/marks.h"
#include "vprof/report/factor_words.h"
#include "vprof/report/json.h"
#include "vprof/support/text.h"

namespace vprof::report {
namespace {

using analyzer::Exemplar;
using analyzer::Factor;
using analyzer::FactorKind;
using analyzer::Node;
using analyzer::NodeKind;
using analyzer::Profile;

constexpr size_t kIndent = 5;
constexpr size_t kBarWidth = 20;
constexpr size_t kMostBlamed = 4;
constexpr double kLeastShown = 0.01;  // of shares, and of what a wait is blamed on

bool is_wait(const Node& node) {
  return node.kind == NodeKind::kWait || node.kind == NodeKind::kQueue ||
         node.kind == NodeKind::kParked;
}

// Widths of columns, as write_headline() has them.
constexpr size_t kShare = 17;
constexpr size_t kScore = 8;
constexpr size_t kKind = 10;

bool shows_share(const Factor& factor, const Profile& profile) {
  return analyzer::shows_share(factor, profile.ranking);
}

void write_columns(TextWriter& out) {
  out.line(pad("  rank", kIndent + kBarWidth + 1) + fmt::format("{:<{}}{:>{}}  {:<{}} {}",
                                                                "   share", kShare, "score", kScore,
                                                                "kind", kKind, "status"),
           Style::kFaint);
}

void write_headline(const Factor& factor, const Profile& profile, TextWriter& out) {
  const double value = shows_share(factor, profile) ? factor.share : factor.contribution;
  const std::array<double, 2>& ci95 = analyzer::shown_ci95(factor, profile.ranking);
  const double reach = (ci95[1] - ci95[0]) / 2;
  const std::string error =
      reach > 0 ? fmt::format("{} {:.1f}", out.plus_minus(), 100 * reach) : "";
  out.line(fmt::format("{}{:>3} {} {}{:>{}}  {} {}", factor.marked ? ">" : " ", factor.rank,
                       bar(value, kBarWidth, out.ascii()),
                       pad(fmt::format("{:>8} {}", percent(value), error), kShare),
                       score_in_words(factor.score), kScore, pad(word_for(factor.kind), kKind),
                       word_for(factor.status)),
           factor.marked ? Style::kMarked : Style::kPlain);
}

void write_name(const Factor& factor, TextWriter& out) {
  const std::string indent(kIndent, ' ');
  std::string name = factor.functions.front();
  if (factor.functions.size() > 1) {
    name += "  with  " + factor.functions[1];
  }
  name += blame_mark(factor);
  const std::string both = factor.definition.empty() ? name : name + "  " + factor.definition;
  if (columns(indent + both) <= out.width()) {
    return out.line(indent + both, Style::kHeading);
  }
  out.paragraph(name, kIndent, Style::kHeading);
  out.paragraph(factor.definition, kIndent);
}

/// `places_shown`: how many others than the largest place have a line.
void write_shares(const Factor& factor, const Profile& profile, size_t places_shown,
                  TextWriter& out) {
  const bool share = shows_share(factor, profile);
  const char* what = share                                    ? "contribution"
                     : factor.kind == FactorKind::kCovariance ? "share of both"
                                                              : "share";
  std::string text =
      fmt::format("{} {}, tail share {}", what, percent(share ? factor.contribution : factor.share),
                  factor.tail_share ? percent(*factor.tail_share) : "?");
  text +=
      fmt::format("; counts {} {} {:.0f}", percent(factor.weight), out.times(), factor.specificity);
  if (share && std::abs(factor.share - factor.weight) >= kLeastShown) {
    text += ", not explained below it";
  }
  if (!factor.significant) {
    text += "; may be chance";
  }
  // What the requests ask for is not the fault of the factor.
  if (std::abs(factor.work_share) >= kLeastShown) {
    text += fmt::format("; {} explained by work", percent(factor.work_share));
  }
  if (std::abs(factor.label_share) >= kLeastShown) {
    text += fmt::format("; {} explained by label", percent(factor.label_share));
  }
  const size_t others = analyzer::other_places(factor) - places_shown;
  if (others != 0 && places_shown != 0) {
    text += "; in " + plural(others, "more place", "more places");
  } else if (others != 0) {
    text += "; in " + plural(others, "other place", "other places");
  }
  const std::string calls = factor.kind == FactorKind::kVariance ? other_calls(factor) : "";
  if (!calls.empty()) {
    text += "; also at " + calls;
  }
  out.paragraph(text, kIndent);
}

/// For waits and queues: what other threads did meanwhile, as parts of the wait.
void write_blame(const Factor& factor, const Node& root, TextWriter& out) {
  std::map<std::string, double> shares;
  double all = 0;
  for (const Node* node : analyzer::nodes_of(factor, root)) {
    if (!is_wait(*node)) {
      return;
    }
    all += node->share;
    for (const Node& child : node->children) {
      if (child.kind != NodeKind::kBody) {
        shares[child.function] += child.share;
      }
    }
  }
  std::vector<std::pair<double, std::string>> ordered;
  for (const auto& [name, share] : shares) {
    if (all > 0 && share / all >= kLeastShown) {
      ordered.emplace_back(-share / all, name);
    }
  }
  std::sort(ordered.begin(), ordered.end());
  ordered.resize(std::min(ordered.size(), kMostBlamed));
  std::string text;
  for (const auto& [negative_share, name] : ordered) {
    text +=
        fmt::format("{} {} {}", text.empty() ? "waited for:" : ",", name, percent(-negative_share));
  }
  out.paragraph(text, kIndent);
}

std::string named(const Exemplar& one) {
  const std::string key = one.key == 0 ? "" : fmt::format("key {}, ", one.key);
  const std::string trace =
      one.trace.is_set() ? fmt::format(", trace {}", one.trace.trace_id()) : "";
  return fmt::format("#{} ({}{} of {}{})", one.id, key, human_time(one.ns),
                     human_time(one.latency_ns), trace);
}

void write_exemplars(const Factor& factor, TextWriter& out) {
  if (factor.worst.empty()) {
    return;
  }
  std::string text = "worst:";
  for (size_t i = 0; i < factor.worst.size(); ++i) {
    text += (i == 0 ? " " : ", ") + named(factor.worst[i]);
  }
  if (!factor.typical.empty()) {
    text += "; typical: " + named(factor.typical[factor.typical.size() / 2]);
  }
  out.paragraph(text, kIndent);
}

/// Functions that vary, but do not make the latency vary.
void write_evened_out(const Profile& profile, TextWriter& out) {
  std::vector<std::string> names;
  for (const Factor& factor : profile.factors) {
    if (shows_share(factor, profile) && std::abs(factor.share) < kLeastShown &&
        factor.contribution >= profile.threshold) {
      names.push_back(
          fmt::format("{} ({})", factor.functions.front(), percent(factor.contribution)));
    }
  }
  if (names.empty()) {
    return;
  }
  const size_t more = names.size() - std::min(names.size(), kMostBlamed);
  names.resize(names.size() - more);
  if (more != 0) {
    names.push_back(fmt::format("{} more", more));
  }
  out.blank_line();
  out.paragraph("Vary, but others make up for it: " + listed(names));
}

}  // namespace

std::string explained(const Profile& profile) {
  const auto marked = std::count_if(profile.factors.begin(), profile.factors.end(),
                                    [](const Factor& factor) { return factor.marked; });
  const std::string least = fmt::format("{:.3g} %", 100 * profile.threshold);
  if (marked == 0) {
    return fmt::format(
        "Nothing is marked: no factor makes up {} and is certain to be more than chance; what is "
        "there is noise, or spread over many places, and a longer run may tell",
        least);
  }
  const std::string text = fmt::format(
      "The {} {} of the variance{}; ",
      marked == 1 ? "marked factor holds" : fmt::format("{} marked factors hold", marked),
      percent(profile.marked_share), marked == 1 ? "" : " together");
  if (1 - profile.marked_share < profile.threshold) {
    return text + "little is left to explain";
  }
  if (profile.more_to_tell) {
    return text + fmt::format("further factors reach {}, too", least);
  }
  return text + fmt::format(
                    "the other {} is noise, or spread over many places: no further factor makes up "
                    "{} and is certain to be more than chance",
                    percent(1 - profile.marked_share), least);
}

void write_factors(const Profile& profile, TextWriter& out) {
  if (profile.factors.empty()) {
    out.line(profile.interval.variance_ns2 > 0 ? "  Nothing measured makes up 1 % or more."
                                               : "  Nothing: all intervals took the same time.");
    return;
  }
  write_columns(out);
  for (const Factor& factor : profile.factors) {
    if (std::abs(factor.weight) < kLeastShown) {
      continue;  // counts in the other ranking
    }
    write_headline(factor, profile, out);
    write_name(factor, out);
    const size_t others = write_places(factor, kIndent, out);
    write_shares(factor, profile, others, out);
    write_blame(factor, profile.tree, out);
    if (factor.marked) {
      write_exemplars(factor, out);
    }
  }
  out.blank_line();
  out.paragraph(explained(profile));
  write_evened_out(profile, out);
}

}  // namespace vprof::report
