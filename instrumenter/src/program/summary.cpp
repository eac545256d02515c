#include "vprof/instrumenter/summary.h"

#include "vprof/support/files.h"
#include "vprof/support/json.h"
#include "vprof/support/json_fields.h"

namespace vprof::json {

using instrumenter::Summary;

template <>
struct Object<Summary::Functions> {
  using T = Summary::Functions;
  static constexpr auto kFields =
      std::tuple{required("measured", &T::measured), required("not_possible", &T::not_possible)};
};

template <>
struct Object<Summary::Calls> {
  using T = Summary::Calls;
  static constexpr auto kFields =
      std::tuple{required("measured", &T::measured), required("by_rule", &T::by_rule),
                 required("not_possible", &T::not_possible)};
};

template <>
struct Object<Summary::FailedUnit> {
  using T = Summary::FailedUnit;
  static constexpr auto kFields =
      std::tuple{required("file", &T::file), required("error", &T::error)};
};

template <>
struct Object<Summary> {
  using T = Summary;
  static constexpr auto kFields = std::tuple{required("files_changed", &T::files_changed),
                                             required("rewritten", &T::rewritten),
                                             required("units", &T::units),
                                             required("sites", &T::sites),
                                             required("functions", &T::functions),
                                             required("calls", &T::calls),
                                             required("units_failed", &T::units_failed),
                                             required("conflicts", &T::conflicts)};
};

}  // namespace vprof::json

namespace vprof::instrumenter {

Result<Summary> load_summary(const std::string& path) {
  const auto text = VPROF_TRY(read_file(path));
  auto summary = json::read<Summary>(parse_json(text));
  if (!summary) {
    return fail("{}: {}", path, summary.error().message);
  }
  return summary;
}

Result<void> save_summary(const Summary& summary, const std::string& path) {
  return write_file_atomic(path, json_text(json::write(summary)));
}

}  // namespace vprof::instrumenter
