#include "text/factor_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "vprof/report/json.h"
#include "vprof/support/text.h"

namespace vprof::report {
namespace {

using analyzer::Exemplar;
using analyzer::Factor;
using analyzer::FactorKind;
using analyzer::Instance;
using analyzer::Node;
using analyzer::NodeKind;
using analyzer::Profile;

constexpr size_t kIndent = 5;
constexpr size_t kBarWidth = 20;
constexpr size_t kMostBlamed = 4;
constexpr double kLeastShown = 0.01;      // of shares, and of what a wait is blamed on
constexpr double kLeastInstance = 0.001;  // contribution of a place that is counted

/// The factors that the user asked for: the first k that reach the threshold.
std::vector<bool> marked(const Profile& profile) {
  std::vector<bool> marks(profile.factors.size(), false);
  int left = profile.k;
  for (size_t i = 0; i < marks.size() && left > 0; ++i) {
    if (profile.factors[i].weight < profile.threshold) {
      continue;
    }
    marks[i] = true;
    --left;
  }
  return marks;
}

/// All nodes at the end of a path of names. Two calls of one function are two nodes with one path.
void find_nodes(const Node& node, const std::vector<std::string>& path, size_t depth,
                std::vector<const Node*>& found) {
  if (node.function != path[depth]) {
    return;
  }
  if (depth + 1 == path.size()) {
    found.push_back(&node);
    return;
  }
  for (const Node& child : node.children) {
    find_nodes(child, path, depth + 1, found);
  }
}

bool is_wait(const Node& node) {
  return node.kind == NodeKind::kWait || node.kind == NodeKind::kQueue ||
         node.kind == NodeKind::kParked;
}

/// The nodes of the tree that a factor consists of, without those inside others of them.
std::vector<const Node*> nodes_of(const Factor& factor, const Node& root) {
  std::vector<const Node*> nodes;
  for (const Instance& instance : factor.instances) {
    std::vector<const Node*> found;
    if (!instance.path.empty() && !instance.nested) {
      find_nodes(root, instance.path, 0, found);
    }
    std::copy_if(found.begin(), found.end(), std::back_inserter(nodes), [&](const Node* node) {
      return !is_wait(*node) || node->location == instance.location;
    });
  }
  return nodes;
}

/// Whether the share of a factor comes first: what the ranking is about.
bool shows_share(const Factor& factor, const Profile& profile) {
  return profile.ranking == analyzer::Ranking::kShare && factor.kind == FactorKind::kVariance;
}

void write_headline(const Factor& factor, const Profile& profile, bool mark, TextWriter& out) {
  const bool share = shows_share(factor, profile);
  const double value = share ? factor.share : factor.contribution;
  const std::array<double, 2>& ci95 = share ? factor.share_ci95 : factor.ci95;
  const double reach = (ci95[1] - ci95[0]) / 2;
  const std::string error = reach > 0 ? fmt::format("± {:.1f}", 100 * reach) : "";
  out.line(fmt::format("{}{:>3} {} {:>8} {} {} {}", mark ? ">" : " ", factor.rank,
                       bar(value, kBarWidth), percent(value), pad(error, 7),
                       pad(word_for(factor.kind), 10), word_for(factor.status)),
           mark ? Style::kMarked : Style::kPlain);
}

void write_name(const Factor& factor, TextWriter& out) {
  const std::string indent(kIndent, ' ');
  std::string name = factor.functions.front();
  if (factor.functions.size() > 1) {
    name += "  with  " + factor.functions[1];
  }
  if (factor.definition.empty()) {
    return out.line(indent + name, Style::kHeading);
  }
  const std::string both = indent + name + "  " + factor.definition;
  if (columns(both) <= out.width()) {
    return out.line(both, Style::kHeading);
  }
  out.line(indent + name, Style::kHeading);
  out.line(indent + factor.definition);
}

void write_largest_place(const Factor& factor, TextWriter& out) {
  if (factor.instances.empty() || factor.instances.front().path.empty()) {
    return;
  }
  const Instance& largest = factor.instances.front();
  const bool pair = factor.kind == FactorKind::kCovariance;
  const std::string before = std::string(kIndent, ' ') + (pair ? "in " : "");
  const size_t room = out.width() - before.size();
  std::string place = fit_path(largest.path, room);
  if (!pair && !largest.location.empty() && largest.location != factor.definition &&
      columns(place + "  at " + largest.location) <= room) {
    place += "  at " + largest.location;
  }
  out.line(before + place, Style::kFaint);
}

/// Places besides the largest that count in the weight.
size_t other_places(const Factor& factor) {
  size_t count = 0;
  for (size_t i = 1; i < factor.instances.size(); ++i) {
    const Instance& instance = factor.instances[i];
    if (!instance.dominated && !instance.nested &&
        std::max(std::abs(instance.contribution), std::abs(instance.share)) >= kLeastInstance) {
      ++count;
    }
  }
  return count;
}

void write_shares(const Factor& factor, const Profile& profile, TextWriter& out) {
  const bool share = shows_share(factor, profile);
  const char* what = share                                    ? "contribution"
                     : factor.kind == FactorKind::kCovariance ? "share of both"
                                                              : "share";
  std::string text =
      fmt::format("{} {}, tail share {}", what, percent(share ? factor.contribution : factor.share),
                  factor.tail_share ? percent(*factor.tail_share) : "?");
  if (share && std::abs(factor.share - factor.weight) >= kLeastShown) {
    text += fmt::format("; {} not explained by a callee", percent(factor.weight));
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
  const size_t others = other_places(factor);
  if (others != 0) {
    text += "; in " + plural(others, "other place", "other places");
  }
  out.paragraph(text, kIndent);
}

/// For waits and queues: what other threads did meanwhile, as parts of the wait.
void write_blame(const Factor& factor, const Node& root, TextWriter& out) {
  std::map<std::string, double> shares;
  double all = 0;
  for (const Node* node : nodes_of(factor, root)) {
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

void write_factors(const Profile& profile, TextWriter& out) {
  if (profile.factors.empty()) {
    out.line(profile.interval.variance_ns2 > 0 ? "  Nothing measured makes up 1 % or more."
                                               : "  Nothing: all intervals took the same time.");
    return;
  }
  const std::vector<bool> marks = marked(profile);
  for (size_t i = 0; i < profile.factors.size(); ++i) {
    const Factor& factor = profile.factors[i];
    if (std::abs(factor.weight) < kLeastShown) {
      continue;  // counts in the other ranking
    }
    write_headline(factor, profile, marks[i], out);
    write_name(factor, out);
    write_largest_place(factor, out);
    write_shares(factor, profile, out);
    write_blame(factor, profile.tree, out);
    if (marks[i]) {
      write_exemplars(factor, out);
    }
  }
  write_evened_out(profile, out);
}

}  // namespace vprof::report
