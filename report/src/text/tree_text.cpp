#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "text/text_writer.h"
#include "vprof/support/text.h"

namespace vprof::report {
namespace {

using analyzer::Node;

constexpr size_t kFigures = 30;             // width of the columns before a name
constexpr size_t kLeastName = 6;            // columns of a name
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
  /// Bounded, so that names in deep trees keep half of what the figures leave.
  std::string indent(size_t depth) const {
    return std::string(std::min(2 * depth, (out_.width() - kFigures) / 2), ' ');
  }

  /// The name, and the location behind it or, where there is no room, below it: a location is
  /// never cut.
  void write_node(const Node& node, size_t depth) {
    const std::string figures = fmt::format("{:>9} {:>8} {:>9}  ", percent(node.contribution),
                                            percent(node.share), human_time(node.mean_ns));
    const std::string before = figures + indent(depth);
    const std::string mark = node.kind == analyzer::NodeKind::kBlame ? " [blame]" : "";
    const std::string location = node.location.empty() ? "" : "  " + node.location;
    const std::string whole = before + node.function + mark + location;
    if (columns(whole) <= out_.width()) {
      return out_.line(whole);
    }
    const size_t used = columns(before + mark);
    const size_t room = std::max(out_.width() - std::min(out_.width(), used), kLeastName);
    out_.line(before + fit_name(node.function, room, out_.ascii()) + mark);
    const size_t own = columns(node.location);
    const size_t wanted = columns(before) + 2;
    const size_t possible = out_.width() > own ? out_.width() - own : 0;
    out_.paragraph(node.location, std::min(wanted, possible));
  }

  void write_pair(const analyzer::Covariance& pair, const Node& parent, size_t depth) {
    const std::string before =
        fmt::format("{:>9} {:>8} {:>9}  {}", percent(pair.contribution), "", "", indent(depth));
    const std::string& a = parent.children[pair.a].function;
    const std::string& b = parent.children[pair.b].function;
    const std::string whole = before + a + " with " + b;
    if (columns(whole) <= out_.width()) {
      return out_.line(whole);
    }
    const size_t room = out_.width() - columns(before);
    out_.line(before + fit_name(a, room, out_.ascii()));
    const std::string with = std::string(columns(before), ' ') + "with ";
    out_.line(with +
              fit_name(b,
                       std::max(out_.width() - std::min(out_.width(), columns(with)), kLeastName),
                       out_.ascii()));
  }

  void add(const Node& node, size_t depth) {
    write_node(node, depth);
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
        write_pair(pair, node, depth + 1);
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
