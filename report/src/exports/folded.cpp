#include <algorithm>
#include <cmath>
#include <map>

#include "exports/formats.h"
#include "vprof/report/exports.h"
#include "vprof/support/output.h"

namespace vprof::report {
namespace {

constexpr double kNegligible = 0.0005;  // share of the variance

/// A name without the characters that separate names and stacks.
std::string frame_name(std::string name) {
  for (char& c : name) {
    if (c == ';') {
      c = ':';
    }
    if (static_cast<unsigned char>(c) < 0x20) {
      c = ' ';
    }
  }
  return name;
}

class Stacks {
 public:
  void add(const analyzer::Node& node, const std::string& above) {
    const std::string stack =
        above.empty() ? frame_name(node.function) : above + ";" + frame_name(node.function);
    for (const analyzer::Node& child : node.children) {
      add(child, stack);
    }
    if (node.children.empty()) {
      weights_[stack] += node.share;
    }
  }

  std::string text(double& left_out) const {
    std::string out;
    left_out = 0;
    for (const auto& [stack, share] : weights_) {
      const long long weight = std::llround(share * 1e6);
      if (weight > 0) {
        out += stack + " " + std::to_string(weight) + "\n";
      }
      if (share < 0) {
        left_out += share;
      }
    }
    return out;
  }

 private:
  std::map<std::string, double> weights_;  // call sites of one function share a stack
};

}  // namespace

std::string folded(const analyzer::Profile& profile, double& left_out) {
  Stacks stacks;
  stacks.add(profile.tree, "");
  return stacks.text(left_out);
}

Result<std::string> write_folded(ExportSource& source, const std::string& file) {
  const analyzer::Profile* const profile = VPROF_TRY(source.profile());
  double left_out = 0;
  const std::string text = folded(*profile, left_out);
  VPROF_TRY(write_output(file, text));
  std::string written = fmt::format("{} stacks, in millionths of the variance",
                                    std::count(text.begin(), text.end(), '\n'));
  if (left_out < -kNegligible) {
    written += fmt::format("; negative shares of {:.1f} % in total are left out", 100 * left_out);
  }
  return written;
}

}  // namespace vprof::report
