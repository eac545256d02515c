#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "text/text_writer.h"
#include "vprof/support/text.h"

namespace vprof::report {
namespace {

using analyzer::Node;

constexpr size_t kFigures = 30;             // width of the columns before a name
constexpr double kLeastCovariance = 0.001;  // contribution of one that is worth a line

class TreeText {
 public:
  TreeText(double least, const TextOptions& options) : least_(least), out_(options) {}

  std::string run(const Node& root) {
    out_.line(" contrib.    share      mean  node", Style::kHeading);
    add(root, 0);
    return out_.take();
  }

 private:
  /// Bounded, so that names in deep trees keep half of the width.
  std::string indent(size_t depth) const {
    return std::string(std::min(2 * depth, out_.width() / 2), ' ');
  }

  void add(const Node& node, size_t depth) {
    out_.line(fmt::format("{:>9} {:>8} {:>9}  {}{}{}{}", percent(node.contribution),
                          percent(node.share), human_time(node.mean_ns), indent(depth),
                          node.function, node.kind == analyzer::NodeKind::kBlame ? " [blame]" : "",
                          node.location.empty() ? "" : "  " + node.location));
    size_t folded = 0;
    for (const Node& child : node.children) {
      if (child.contribution < least_) {
        ++folded;
      } else {
        add(child, depth + 1);
      }
    }
    for (const analyzer::Covariance& pair : node.covariances) {
      if (std::abs(pair.contribution) >= std::max(least_, kLeastCovariance)) {
        out_.line(fmt::format("{:>9} {:>8} {:>9}  {}{} with {}", percent(pair.contribution), "", "",
                              indent(depth + 1), node.children[pair.a].function,
                              node.children[pair.b].function));
      } else if (pair.contribution != 0 && least_ > 0) {
        ++folded;
      }
    }
    if (folded != 0) {
      out_.line(fmt::format("{}{}({} below {})", std::string(kFigures, ' '), indent(depth + 1),
                            folded, percent(least_)),
                Style::kFaint);
    }
  }

  const double least_;
  TextWriter out_;
};

}  // namespace

std::string tree_text(const analyzer::Profile& profile, const TextOptions& options,
                      double min_contribution) {
  return TreeText(min_contribution, options).run(profile.tree);
}

}  // namespace vprof::report
