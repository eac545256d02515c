#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "json/names.h"
#include "text/layout.h"
#include "text/overhead_text.h"
#include "vprof/report/report.h"

namespace vprof::report {
namespace {

using analyzer::Factor;
using analyzer::FactorKind;
using analyzer::Node;
using analyzer::NodeKind;
using analyzer::Profile;

constexpr size_t kIndent = 5;
constexpr size_t kBarWidth = 20;
constexpr size_t kMaxLabels = 6;

/// The factors that the user asked for: the first k that contribute enough.
std::vector<bool> marked(const Profile& profile) {
  std::vector<bool> marks(profile.factors.size(), false);
  int left = profile.k;
  for (size_t i = 0; i < marks.size() && left > 0; ++i) {
    if (profile.factors[i].contribution < profile.threshold) {
      continue;
    }
    marks[i] = true;
    --left;
  }
  return marks;
}

/// All nodes at the end of a path of names; two calls of one function are two nodes with one path.
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

class Page {
 public:
  Page(const Profile& profile, const Story& story, const TextOptions& options)
      : profile_(profile), story_(story), color_(options.color) {
    width_ = static_cast<size_t>(std::max(options.width, 40));
  }

  std::string run() {
    summary();
    factors();
    unseen();
    overhead();
    footer();
    return std::move(out_);
  }

 private:
  void line(const std::string& text, Style style = Style::kPlain) {
    out_ += paint(fit(text, width_), style, color_) + "\n";
  }
  void paragraph(const std::string& text, size_t indent) { out_ += wrap(text, indent, width_); }
  void heading(const std::string& text) {
    out_ += "\n";
    line(text, Style::kHeading);
  }

  void summary() {
    const auto& interval = profile_.interval;
    std::string first = fmt::format("{}: {} completed", interval.name, human_count(interval.count));
    if (interval.incomplete != 0) {
      first += fmt::format(", {} incomplete", human_count(interval.incomplete));
    }
    line(first, Style::kHeading);
    std::vector<std::string> figures;
    const auto figure = [&](const char* name, double ns) {
      figures.push_back(fmt::format("{} {}", name, human_time(ns)));
    };
    figure("mean", interval.mean_ns);
    figure("stddev", interval.stddev_ns);
    figure("p50", interval.p50_ns);
    figure("p95", interval.p95_ns);
    figure("p99", interval.p99_ns);
    figure("p99.9", interval.p999_ns);
    figure("max", interval.max_ns);
    flow(figures, 2, "   ");
    labels();
    work();
  }

  /// Items side by side, as many as fit on a line; an item is never broken.
  void flow(const std::vector<std::string>& items, size_t indent, const std::string& between) {
    std::string row;
    for (const std::string& item : items) {
      if (!row.empty() && indent + columns(row) + columns(between) + columns(item) > width_) {
        line(std::string(indent, ' ') + row);
        row.clear();
      }
      row += (row.empty() ? "" : between) + item;
    }
    if (!row.empty()) {
      line(std::string(indent, ' ') + row);
    }
  }

  void labels() {
    const auto& interval = profile_.interval;
    if (interval.labels.size() < 2) {
      return;
    }
    std::string text;
    for (size_t i = 0; i < std::min(interval.labels.size(), kMaxLabels); ++i) {
      const auto& label = interval.labels[i];
      text += fmt::format("{}{} {} (mean {})", i == 0 ? "" : ", ",
                          label.label.empty() ? "(none)" : label.label, human_count(label.count),
                          human_time(label.mean_ns));
    }
    if (interval.labels.size() > kMaxLabels) {
      text += fmt::format(", {} more", interval.labels.size() - kMaxLabels);
    }
    paragraph(text + fmt::format("; {} of the variance is between labels",
                                 percent(interval.between_labels)),
              2);
  }

  void work() {
    const analyzer::WorkSummary& work = profile_.interval.work;
    if (work.declared == 0) {
      return;
    }
    paragraph(
        fmt::format("work: {:.4g} units on average, {} each; {} of the variance goes with the "
                    "amount of work",
                    work.mean, human_time(work.ns_per_unit), percent(work.explained)),
        2);
  }

  void factors() {
    heading("Where the variance comes from");
    if (profile_.factors.empty()) {
      line(profile_.interval.variance_ns2 > 0 ? "  Nothing measured contributes 1 % or more."
                                              : "  None: all took the same time.");
      return;
    }
    const std::vector<bool> marks = marked(profile_);
    for (size_t i = 0; i < profile_.factors.size(); ++i) {
      factor(profile_.factors[i], marks[i]);
    }
  }

  void factor(const Factor& factor, bool mark) {
    const double reach = (factor.ci95[1] - factor.ci95[0]) / 2;
    const std::string error = reach > 0 ? fmt::format("± {:.1f}", 100 * reach) : "";
    const std::string head =
        fmt::format("{}{:>3} {} {:>8} {} {} {}", mark ? ">" : " ", factor.rank,
                    bar(factor.contribution, kBarWidth), percent(factor.contribution),
                    pad(error, 7), pad(name_of(factor.kind), 10), name_of(factor.status));
    line(head, mark ? Style::kMarked : Style::kPlain);
    name_lines(factor);
    if (!factor.instances.empty()) {
      instance_lines(factor);
    }
    std::string shares =
        fmt::format("share {}, of the tail {}", percent(factor.share), percent(factor.tail_share));
    const auto more = static_cast<uint64_t>(
        std::count_if(factor.instances.begin() + (factor.instances.empty() ? 0 : 1),
                      factor.instances.end(), [](const analyzer::Instance& i) {
                        return !i.dominated && std::abs(i.contribution) >= 0.001;
                      }));
    // What the request asked for is no fault of the factor.
    if (std::abs(factor.work_share) >= 0.01) {
      shares += fmt::format("; {} goes with the amount of work", percent(factor.work_share));
    }
    if (std::abs(factor.label_share) >= 0.01) {
      shares += fmt::format("; {} with the label", percent(factor.label_share));
    }
    if (more != 0) {
      shares += "; in " + plural(more, "other place", "other places");
    }
    paragraph(shares, kIndent);
    blamed(factor);
    if (mark) {
      exemplars(factor);
    }
  }

  void name_lines(const Factor& factor) {
    std::string name = factor.functions.front();
    if (factor.functions.size() > 1) {
      name += "  with  " + factor.functions[1];
    }
    const bool place = !factor.definition.empty();
    const std::string both = place ? fmt::format("{}  {}", name, factor.definition) : name;
    if (columns(both) + kIndent <= width_) {
      line(std::string(kIndent, ' ') + both, Style::kHeading);
      return;
    }
    line(std::string(kIndent, ' ') + name, Style::kHeading);
    if (place) {
      line(std::string(kIndent, ' ') + factor.definition);
    }
  }

  void instance_lines(const Factor& factor) {
    const analyzer::Instance& largest = factor.instances.front();
    if (largest.path.empty()) {
      return;
    }
    const bool pair = factor.kind == FactorKind::kCovariance;
    out_ += std::string(kIndent, ' ') + (pair ? "in " : "");
    const size_t room = width_ - kIndent - (pair ? 3 : 0);
    const std::string path = fit_path(largest.path, room);
    const std::string site =
        largest.site.empty() || largest.site == factor.definition ? "" : "  at " + largest.site;
    out_ += paint(path, Style::kFaint, color_);
    if (!pair && columns(path) + columns(site) <= room) {
      out_ += paint(site, Style::kFaint, color_);
    }
    out_ += "\n";
  }

  /// Of waits and queues: whose work it was that was waited for, in parts of the wait.
  void blamed(const Factor& factor) {
    std::map<std::string, double> shares;
    double all = 0;
    for (const analyzer::Instance& instance : factor.instances) {
      std::vector<const Node*> nodes;
      if (!instance.path.empty()) {
        find_nodes(profile_.tree, instance.path, 0, nodes);
      }
      for (const Node* node : nodes) {
        if (node->kind != NodeKind::kWait && node->kind != NodeKind::kQueue) {
          return;
        }
        if (node->site != instance.site) {
          continue;
        }
        all += node->share;
        for (const Node& child : node->children) {
          if (child.kind != NodeKind::kBody) {
            shares[child.function] += child.share;
          }
        }
      }
    }
    std::vector<std::pair<double, std::string>> ordered;
    for (const auto& [name, share] : shares) {
      if (all > 0 && share / all >= 0.01) {
        ordered.emplace_back(-share / all, name);
      }
    }
    if (ordered.empty()) {
      return;
    }
    std::sort(ordered.begin(), ordered.end());
    std::string text = "waited for:";
    for (size_t i = 0; i < std::min<size_t>(ordered.size(), 4); ++i) {
      text +=
          fmt::format("{} {} {}", i == 0 ? "" : ",", ordered[i].second, percent(-ordered[i].first));
    }
    paragraph(text, kIndent);
  }

  /// Intervals to look at, by the ids that the program gave them.
  void exemplars(const Factor& factor) {
    if (factor.worst.empty()) {
      return;
    }
    std::string text = "worst:";
    for (size_t i = 0; i < factor.worst.size(); ++i) {
      text += fmt::format("{} #{} ({} of {})", i == 0 ? "" : ",", factor.worst[i].id,
                          human_time(factor.worst[i].ns), human_time(factor.worst[i].latency_ns));
    }
    if (!factor.typical.empty()) {
      const analyzer::Exemplar& one = factor.typical[factor.typical.size() / 2];
      text += fmt::format("; typical: #{} ({} of {})", one.id, human_time(one.ns),
                          human_time(one.latency_ns));
    }
    paragraph(text, kIndent);
  }

  void unseen() {
    const auto& losses = profile_.losses;
    std::vector<std::string> lines;
    const uint64_t waits =
        losses.exact_edges + losses.inferred_edges + losses.outside_waits + losses.unmatched_waits;
    if (losses.outside_waits != 0) {
      lines.push_back(
          fmt::format("{} of {} on the path: for disks, clocks, or peers that were not recorded",
                      human_count(losses.outside_waits), plural(waits, "wait", "waits")));
    }
    if (losses.unmatched_waits != 0) {
      lines.push_back(fmt::format("{} of {} on the path: nobody known who ended them",
                                  human_count(losses.unmatched_waits),
                                  plural(waits, "wait", "waits")));
    }
    if (losses.inferred_edges != 0) {
      lines.push_back(fmt::format("{} of {} on the path: who ended them is inferred from time",
                                  human_count(losses.inferred_edges),
                                  plural(waits, "wait", "waits")));
    }
    if (losses.dropped != 0) {
      lines.push_back(plural(losses.dropped, "record", "records") + " found no room");
    }
    if (losses.torn != 0) {
      lines.push_back(plural(losses.torn, "record", "records") +
                      " cut off by the end of the program");
    }
    if (losses.unreadable_bytes != 0) {
      lines.push_back(plural(losses.unreadable_bytes, "byte", "bytes") +
                      " of the trace are damaged");
    }
    for (const Unwrapped& entry : story_.unwrapped) {
      lines.push_back(
          fmt::format("{} not measured: {}", plural(entry.count, "call", "calls"), entry.reason));
    }
    lines.insert(lines.end(), losses.notes.begin(), losses.notes.end());
    if (lines.empty()) {
      return;
    }
    heading("What was not seen, and what to keep in mind");
    for (const std::string& text : lines) {
      std::string wrapped = wrap(text, 4, width_);
      wrapped[2] = '-';
      out_ += paint(wrapped, Style::kWarning, color_);
    }
  }

  void overhead() {
    out_ += "\n";
    for (const std::string& text : overhead_lines(profile_, story_)) {
      paragraph(text, 0);
    }
  }

  void footer() {
    const std::string text =
        "> look here first; share: what moves with the latency; body(f): the rest of f";
    out_ += paint(wrap(text, 0, width_), Style::kFaint, color_);
  }

  const Profile& profile_;
  const Story& story_;
  const bool color_;
  size_t width_ = 80;
  std::string out_;
};

}  // namespace

std::string text(const Profile& profile, const Story& story, const TextOptions& options) {
  return Page(profile, story, options).run();
}

}  // namespace vprof::report
