#include "json/answer.h"
#include "vprof/report/diff.h"
#include "vprof/report/json.h"

namespace vprof::json {

template <>
struct Object<analyzer::FigureChange> {
  using T = analyzer::FigureChange;
  static constexpr auto kFields =
      std::tuple{required("figure", &T::name), required("a", &T::a),
                 required("b", &T::b),         required("ratio", &T::ratio, "b / a"),
                 required("ci95", &T::ci95),   required("significant", &T::significant)};
};

template <>
struct Object<analyzer::FactorChange> {
  using T = analyzer::FactorChange;
  static constexpr auto kFields = std::tuple{required("kind", &T::kind),
                                             required("functions", &T::functions),
                                             required("a_ns2", &T::a),
                                             required("b_ns2", &T::b),
                                             required("change", &T::change),
                                             required("ci95", &T::ci95),
                                             required("significant", &T::significant),
                                             required("within", &T::within),
                                             required("depth", &T::depth)};
};

template <>
struct Object<analyzer::Diff> {
  using T = analyzer::Diff;
  static constexpr auto kFields =
      std::tuple{required("interval", &T::interval), required("count_a", &T::count_a),
                 required("count_b", &T::count_b),   required("figures", &T::figures),
                 required("factors", &T::factors),   required("notes", &T::notes)};
  static constexpr const char* kDescription =
      "Times are in ns, changes are parts of the variance of A.";
};

}  // namespace vprof::json

namespace vprof::report {

nlohmann::json json(const analyzer::Diff& diff) { return answer("diff", diff); }

nlohmann::json diff_schema() { return answer_schema<analyzer::Diff>("diff", "vprof diff --json"); }

}  // namespace vprof::report
