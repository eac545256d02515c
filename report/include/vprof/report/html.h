// The report as one HTML file that needs nothing else: no network, no other file.
//
//   Profile + Details + timelines + source ──html_data──▶ JSON ──into the page──▶ report.html
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "vprof/analyzer/details.h"
#include "vprof/analyzer/timeline.h"
#include "vprof/report/report.h"

namespace vprof::report {

/// An interval to be shown as it went.
struct ShownTimeline {
  std::string why;  ///< what it stands for: `slowest`, `median`
  analyzer::Timeline timeline;
};

/// Some lines of a source file.
struct SourceText {
  std::string title;  ///< the function
  std::string file;   ///< as users know it: relative to their source tree
  size_t first = 1;   ///< number of the first line
  size_t line = 0;    ///< the one that is meant; 0: none
  std::vector<std::string> lines;
  size_t more = 0;                ///< lines left out at the end
  std::vector<uint32_t> factors;  ///< indices into Profile::factors
};

struct HtmlInput {
  std::string title;  ///< of what program
  analyzer::Profile profile;
  Story story;
  std::optional<analyzer::Details> details;  ///< none: there are no plots of single intervals
  std::vector<ShownTimeline> timelines;
  std::vector<SourceText> sources;
  std::vector<std::string> notes;  ///< what could not be shown, and why
  analyzer::Specificity specificity = analyzer::Specificity::kQuadratic;
};

/// What the page is filled with. Bounded, whatever the program: up to 64 columns of times, 24 pairs
/// a node, 400 pieces a timeline.
nlohmann::json html_data(const HtmlInput& input);

/// Whether this build has the page: it is bundled by npm when the program is built.
bool has_html_page();

/// The whole file. Error: one line; this build has no page.
Result<std::string> html(const HtmlInput& input);

/// Text of JSON that may stand within <script>: nothing in it ends the element, whatever the data.
std::string json_for_script(const nlohmann::json& document);

}  // namespace vprof::report
