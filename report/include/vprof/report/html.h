// The report as one HTML file that needs no network and no other file.
//
//   Profile + Details + timelines + source ──html_data()──▶ JSON ──html()──▶ report.html
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "vprof/analyzer/details.h"
#include "vprof/analyzer/timeline.h"
#include "vprof/report/annotate.h"
#include "vprof/report/report.h"

namespace vprof::report {

/// The timeline of an interval, and why the report shows it.
struct SelectedTimeline {
  std::string why;  ///< `slowest`, `near the median`
  analyzer::Timeline timeline;
};

/// A step of a piece's path: a function, a wait or the like below another step.
struct PlaceOnPath {
  uint32_t parent = 0;  ///< number of the step above
  std::string name;
  analyzer::NodeKind kind{};
};

/// The timelines of a page, each reduced to what the page holds as soon as it is added. They share
/// the places on their paths.
class PageTimelines {
 public:
  /// Beyond that many pieces, the shortest ones of a timeline are merged into the piece before on
  /// the same thread; its `cut` counts them.
  explicit PageTimelines(size_t most_pieces = 400) : most_pieces_(most_pieces) {}

  /// The page shows timelines by rising `order`. Of two with the same, the last one stays.
  void add(size_t order, const SelectedTimeline& shown);

  bool empty() const { return all_.empty(); }
  const std::map<size_t, nlohmann::json>& all() const { return all_; }
  /// By number. A step comes after the one above it; 0 stands above the interval.
  const std::vector<PlaceOnPath>& places() const { return places_; }

 private:
  uint32_t place_of(const analyzer::TimelinePiece& piece);

  size_t most_pieces_;
  std::map<size_t, nlohmann::json> all_;
  std::vector<PlaceOnPath> places_ = {PlaceOnPath{}};
  std::map<std::tuple<uint32_t, std::string, analyzer::NodeKind>, uint32_t> numbers_;
};

/// The source of a function, or the lines around a place.
struct SourceText {
  AnnotatedFunction function;     ///< of a place: without a key
  bool costed = false;            ///< a recording says what its calls cost
  size_t line = 0;                ///< the line to mark; 0: none
  std::vector<uint32_t> factors;  ///< indices into Profile::factors
};

struct HtmlReport {
  std::string title;  ///< the program's name
  analyzer::Profile profile;
  ReportContext context;
  std::optional<analyzer::Details> details;  ///< without them, no plots of single intervals
  PageTimelines timelines;
  std::vector<SourceText> sources;
  size_t sources_left_out = 0;     ///< functions of factors whose source is not in the page
  std::vector<std::string> notes;  ///< what could not be shown, and why
  analyzer::Specificity specificity = analyzer::Specificity::kQuadratic;
};

/// The data of the page. Bounded but for the size of the tree and the number of factors: up to 64
/// columns of times, 24 covariances per node, 24 places per factor, 400 pieces per timeline, 120
/// lines per function.
nlohmann::json html_data(const HtmlReport& page);

/// Whether this build has the page, which needs npm at build time.
bool has_html_page();

/// The whole file. Error: this build has no page.
Result<std::string> html(const HtmlReport& page);

/// JSON text that is safe inside <script>: no data can end the element.
std::string json_for_script(const nlohmann::json& document);

}  // namespace vprof::report
