#include "json/answer.h"
#include "vprof/report/json.h"
#include "vprof/report/timeline.h"

namespace vprof::json {

using analyzer::Timeline;
using analyzer::TimelinePiece;

template <>
struct Object<TimelinePiece> {
  using T = TimelinePiece;
  static constexpr auto kFields = std::tuple{
      required("from_ns", &T::from_ns, "since the interval began"),
      required("to_ns", &T::to_ns),
      required("path", &T::path, "names from the interval down"),
      required("kinds", &T::kinds, "of these, as in the variance tree"),
      required("pid", &T::pid),
      required("thread", &T::thread, "number within the process; of blame: who was waited for"),
      required("thread_id", &T::tid, "the kernel's"),
      required("thread_name", &T::thread_name),
      required("inferred", &T::inferred,
               "below a wait of which it is not certain that this thread ended it")};
  static void written(const T& piece, Json& to) {
    to["monotonic_ns"] = std::to_string(piece.monotonic_ns);
  }
  static void described(Json& schema) {
    schema["properties"]["monotonic_ns"] = {
        {"type", "string"},
        {"description", "a number as text: when the piece began, of CLOCK_MONOTONIC"}};
    schema["required"].push_back("monotonic_ns");
  }
};

/// Ids may be above 2^53, which most programs cannot read as numbers.
template <>
struct Object<Timeline> {
  using T = Timeline;
  static constexpr const char* kDescription =
      "One interval piece by piece. Times are in ns; pieces follow one another without gaps.";
  static constexpr auto kFields = std::tuple{
      required("interval", &T::interval, "the kind of interval"),
      required("label", &T::label),
      required("latency_ns", &T::latency_ns),
      required("begin_ns", &T::begin_ns, "since the recording began"),
      required("others", &T::others, "intervals with the same key or trace, none slower"),
      non_default("trace", &T::trace),
      required("pieces", &T::pieces)};
  static void written(const T& timeline, Json& to) {
    to["id"] = std::to_string(timeline.id);
    to["key"] = timeline.key == 0 ? "" : std::to_string(timeline.key);
    to["begin_unix_ns"] = std::to_string(timeline.realtime_ns);
  }
  static void described(Json& schema) {
    Json& fields = schema["properties"];
    const Json text = {{"type", "string"}};
    fields["id"] = text;
    fields["id"]["description"] = "a number as text: of the interval, among all of the recording";
    fields["key"] = text;
    fields["key"]["description"] = "a number as text: given by the program; empty: none";
    fields["begin_unix_ns"] = text;
    fields["begin_unix_ns"]["description"] = "a number as text: when it began, of CLOCK_REALTIME";
    for (const char* name : {"id", "key", "begin_unix_ns"}) {
      schema["required"].push_back(name);
    }
  }
};

}  // namespace vprof::json

namespace vprof::report {

nlohmann::json json(const analyzer::Timeline& timeline) { return answer("timeline", timeline); }

nlohmann::json timeline_schema() {
  return answer_schema<analyzer::Timeline>("timeline", "vprof timeline --json");
}

}  // namespace vprof::report
