// A comparison as a test report, which servers for continuous integration show.
#include <fmt/format.h>

#include <algorithm>

#include "vprof/report/diff.h"

namespace vprof::report {
namespace {

/// Control characters have no form in XML 1.0.
std::string xml_text(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return safe;
}

std::string junit_case(const analyzer::Diff& diff, const Judged& judged) {
  const std::string head = fmt::format("    <testcase classname=\"vprof.{}\" name=\"{}\"",
                                       xml_text(diff.interval), xml_text(judged.condition.text));
  const std::string figures = xml_text(text(judged));
  if (!judged.verdict.holds) {
    return fmt::format("{}>\n      <system-out>{}</system-out>\n    </testcase>\n", head, figures);
  }
  return fmt::format("{}>\n      <failure message=\"{}\"/>\n    </testcase>\n", head, figures);
}

}  // namespace

std::string junit(const analyzer::Diff& diff, const std::vector<Judged>& judged) {
  const auto failures = std::count_if(judged.begin(), judged.end(),
                                      [](const Judged& one) { return one.verdict.holds; });
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"vprof diff\" "
      "tests=\"{}\" failures=\"{}\" errors=\"0\">\n",
      judged.size(), failures);
  for (const Judged& one : judged) {
    text += junit_case(diff, one);
  }
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace vprof::report
