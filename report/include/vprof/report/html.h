// The report as one HTML file that needs no network and no other file.
//
//   Profile + Details + timelines + source ──html_data()──▶ JSON ──html()──▶ report.html
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "vprof/analyzer/details.h"
#include "vprof/analyzer/timeline.h"
#include "vprof/report/report.h"

namespace vprof::report {

/// The timeline of an interval, and why the report shows it.
struct SelectedTimeline {
  std::string why;  ///< `slowest`, `near the median`
  analyzer::Timeline timeline;
};

/// An excerpt of a source file.
struct SourceText {
  std::string title;  ///< the function
  std::string file;   ///< relative to the user's source tree
  size_t first = 1;   ///< number of the first line shown
  size_t line = 0;    ///< the line to mark; 0: none
  std::vector<std::string> lines;
  size_t more = 0;                ///< lines omitted at the end
  std::vector<uint32_t> factors;  ///< indices into Profile::factors
};

struct HtmlReport {
  std::string title;  ///< the program's name
  analyzer::Profile profile;
  ReportContext context;
  std::optional<analyzer::Details> details;  ///< without them, no plots of single intervals
  std::vector<SelectedTimeline> timelines;
  std::vector<SourceText> sources;
  std::vector<std::string> notes;  ///< what could not be shown, and why
  analyzer::Specificity specificity = analyzer::Specificity::kQuadratic;
};

/// The data of the page. Bounded for any program: up to 64 columns of times, 24 covariances per
/// node, 400 pieces per timeline.
nlohmann::json html_data(const HtmlReport& page);

/// Whether this build has the page, which needs npm at build time.
bool has_html_page();

/// The whole file. Error: this build has no page.
Result<std::string> html(const HtmlReport& page);

/// JSON text that is safe inside <script>: no data can end the element.
std::string json_for_script(const nlohmann::json& document);

}  // namespace vprof::report
