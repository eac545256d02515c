#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "json/names.h"
#include "text/layout.h"
#include "vprof/report/report.h"

namespace vprof::report {
namespace {

using analyzer::Node;

class TreePage {
 public:
  TreePage(double least, const TextOptions& options)
      : least_(least),
        width_(static_cast<size_t>(std::max(options.width, 40))),
        color_(options.color) {}

  std::string run(const Node& root) {
    out_ = paint(fit(" contrib.    share      mean  node", width_), Style::kHeading, color_) + "\n";
    node(root, 0);
    return std::move(out_);
  }

 private:
  /// Deep trees move no further to the right than half of the page.
  size_t indent_of(size_t depth) const { return std::min(2 * depth, width_ / 2); }

  void node(const Node& of, size_t depth) {
    const std::string figures = fmt::format("{:>9} {:>8} {:>9}  ", percent(of.contribution),
                                            percent(of.share), human_time(of.mean_ns));
    std::string name = std::string(indent_of(depth), ' ') + of.function;
    if (of.kind == analyzer::NodeKind::kBlame) {
      name += " [blame]";
    }
    if (!of.site.empty()) {
      name += "  " + of.site;
    }
    out_ += figures + fit(name, width_ - std::min(width_, columns(figures))) + "\n";
    size_t folded = 0;
    for (const Node& child : of.children) {
      if (child.contribution < least_) {
        ++folded;
      } else {
        node(child, depth + 1);
      }
    }
    for (const analyzer::Covariance& pair : of.covariances) {
      covariance(of, pair, depth + 1, folded);
    }
    if (folded != 0) {
      const std::string text = fmt::format(
          "{}({} below {})", std::string(30 + indent_of(depth + 1), ' '), folded, percent(least_));
      out_ += paint(fit(text, width_), Style::kFaint, color_) + "\n";
    }
  }

  void covariance(const Node& parent, const analyzer::Covariance& pair, size_t depth,
                  size_t& folded) {
    if (std::abs(pair.contribution) < std::max(least_, 1e-3)) {
      if (pair.contribution != 0 && least_ > 0) {
        ++folded;
      }
      return;
    }
    const std::string figures =
        fmt::format("{:>9} {:>8} {:>9}  ", percent(pair.contribution), "", "");
    const std::string name =
        fmt::format("{}{} with {}", std::string(indent_of(depth), ' '),
                    parent.children[pair.a].function, parent.children[pair.b].function);
    out_ += figures + fit(name, width_ - std::min(width_, columns(figures))) + "\n";
  }

  const double least_;
  const size_t width_;
  const bool color_;
  std::string out_;
};

}  // namespace

std::string tree_text(const analyzer::Profile& profile, double min_contribution,
                      const TextOptions& options) {
  return TreePage(min_contribution, options).run(profile.tree);
}

}  // namespace vprof::report
