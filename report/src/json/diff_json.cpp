#include "json/answer.h"
#include "vprof/report/diff.h"
#include "vprof/report/json.h"

namespace vprof::report {
namespace {

/// A condition of --fail-if, and what came of it.
struct AnsweredCondition {
  std::string condition;
  bool holds = false;
  double value = 0;
  std::array<double, 2> ci95{};
  std::string remark;
};

}  // namespace
}  // namespace vprof::report

namespace vprof::json {

template <>
struct Object<report::AnsweredCondition> {
  using T = report::AnsweredCondition;
  static constexpr auto kFields = std::tuple{
      required("condition", &T::condition), required("holds", &T::holds),
      required("value", &T::value), required("ci95", &T::ci95), required("remark", &T::remark)};
};

template <>
struct Object<analyzer::FigureChange> {
  using T = analyzer::FigureChange;
  static constexpr auto kFields =
      std::tuple{required("figure", &T::name), required("a", &T::a),
                 required("b", &T::b),         required("ratio", &T::ratio, "b / a"),
                 required("ci95", &T::ci95),   required("significant", &T::significant)};
};

template <>
struct Object<analyzer::LabelChange> {
  using T = analyzer::LabelChange;
  static constexpr auto kFields =
      std::tuple{required("label", &T::label), required("count_a", &T::count_a),
                 required("count_b", &T::count_b), required("figures", &T::figures)};
};

template <>
struct Object<analyzer::KindChange> {
  using T = analyzer::KindChange;
  static constexpr auto kFields =
      std::tuple{required("kind", &T::kind),           required("mean_a_ns", &T::mean_a_ns),
                 required("mean_b_ns", &T::mean_b_ns), required("change", &T::change),
                 required("ci95", &T::ci95),           required("significant", &T::significant)};
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
      std::tuple{required("interval", &T::interval),
                 required("count_a", &T::count_a),
                 required("count_b", &T::count_b),
                 required("figures", &T::figures),
                 required("labels", &T::labels),
                 required("kinds", &T::kinds, "kinds of time; their changes add up"),
                 required("factors", &T::factors),
                 required("notes", &T::notes)};
  static constexpr const char* kDescription =
      "Times are in ns, changes are parts of the variance of A.";
};

}  // namespace vprof::json

namespace vprof::report {

nlohmann::json json(const analyzer::Diff& diff, const std::vector<Judged>& judged) {
  nlohmann::json document = answer("diff", diff);
  document["conditions"] = nlohmann::json::array();
  for (const Judged& one : judged) {
    document["conditions"].push_back(json::write(AnsweredCondition{.condition = one.condition.text,
                                                                   .holds = one.verdict.holds,
                                                                   .value = one.verdict.value,
                                                                   .ci95 = one.verdict.ci95,
                                                                   .remark = one.verdict.remark}));
  }
  return document;
}

nlohmann::json diff_schema() {
  nlohmann::json schema = answer_schema<analyzer::Diff>("diff", "vprof diff --json");
  schema["properties"]["conditions"] = {{"type", "array"},
                                        {"description", "those of --fail-if"},
                                        {"items", json::schema<AnsweredCondition>()}};
  schema["required"].push_back("conditions");
  return schema;
}

}  // namespace vprof::report
