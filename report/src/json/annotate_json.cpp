#include "json/answer.h"
#include "vprof/report/annotate.h"
#include "vprof/report/json.h"

namespace vprof::report {
namespace {

struct Annotated {
  std::vector<AnnotatedFunction> functions;
};

}  // namespace
}  // namespace vprof::report

namespace vprof::json {

using report::AnnotatedFunction;

template <>
struct Object<analyzer::PlaceCost> {
  using T = analyzer::PlaceCost;
  static constexpr const char* kDescription = "time on critical paths, over all intervals";
  static constexpr auto kFields = std::tuple{
      required("count", &T::count, "intervals in which it had time"),
      required("mean_ns", &T::mean_ns, "of all intervals"),
      required("stddev_ns", &T::stddev_ns, "of all intervals"),
      required("share", &T::share, "Cov(time, latency) / Var(latency); adds up over calls"),
      required("blame_mean_ns", &T::blame_mean_ns,
               "the part of the mean in which other work waited for it")};
};

template <>
struct Object<analyzer::CallCost> {
  using T = analyzer::CallCost;
  static constexpr auto kFields =
      std::tuple{required("callee", &T::callee, "or `wait(...)`"),
                 required("key", &T::key, "of the callee in sites.json; empty: a wait"),
                 required("file", &T::file, "of the call"),
                 required("line", &T::line, "0: not known"),
                 required("column", &T::column, "of the call, in bytes from 1; 0: not known"),
                 required("calls", &T::calls, "per interval, by threads that worked for it"),
                 required("cost", &T::cost)};
};

template <>
struct Object<report::UnmeasuredCall> {
  using T = report::UnmeasuredCall;
  static constexpr auto kFields =
      std::tuple{required("callee", &T::callee), required("file", &T::file),
                 required("line", &T::line), required("reason", &T::reason)};
};

template <>
struct Object<analyzer::FunctionCosts> {
  using T = analyzer::FunctionCosts;
  static constexpr auto kFields = std::tuple{
      required("interval", &T::interval, "the kind of interval"),
      required("intervals", &T::intervals, "how many completed"),
      required("mean_ns", &T::mean_ns, "their mean latency"),
      required("calls", &T::calls, "of the function, per interval; 0: not counted"),
      required("whole", &T::whole, "the function with all that it calls"),
      required("own", &T::own, "without calls that are measured, and without waits"),
      required("sites", &T::sites, "by line; without a line: waits, and callees found by entry")};
};

template <>
struct Object<AnnotatedFunction> {
  using T = AnnotatedFunction;
  static constexpr auto kFields = std::tuple{
      required("name", &T::name),
      required("key", &T::key),
      required("file", &T::file, "relative to the source tree"),
      required("first", &T::first, "number of the first line"),
      required("lines", &T::lines, "as they were measured"),
      required("changed", &T::changed, "the source has been edited since"),
      required("outdated", &T::outdated,
               "vprof's copy has changed since, too: the lines are not what was measured"),
      required("recorded", &T::recorded,
               "the recording knows it; otherwise its time is in the functions that called it"),
      required("measured", &T::measured, "its calls are measured"),
      required("costs", &T::costs),
      required("unmeasured", &T::unmeasured, "calls that have no record of their own")};
};

template <>
struct Object<report::Annotated> {
  using T = report::Annotated;
  static constexpr const char* kDescription = "All functions of that name. Times are in ns.";
  static constexpr auto kFields = std::tuple{required("functions", &T::functions)};
};

}  // namespace vprof::json

namespace vprof::report {

nlohmann::json json(const std::vector<AnnotatedFunction>& functions) {
  return answer("annotate", Annotated{functions});
}

nlohmann::json annotate_schema() {
  return answer_schema<Annotated>("annotate", "vprof annotate --json");
}

}  // namespace vprof::report
