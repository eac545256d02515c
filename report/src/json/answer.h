// The form that all answers for programs have: an object that names its JSON Schema and version.
#pragma once

#include <fmt/format.h>

#include <string>

#include "vprof/support/json_schema.h"

namespace vprof::report {

/// The version of all answers. Fields are added, never renamed.
inline constexpr int kAnswerVersion = 1;

/// A described struct as an answer. `name`: that of the verb; the schema is
/// schemas/NAME.schema.json.
template <class T>
nlohmann::json answer(const char* name, const T& value) {
  nlohmann::json document = json::write(value);
  document["$schema"] = fmt::format("{}.schema.json", name);
  document["schema"] = kAnswerVersion;
  return document;
}

template <class T>
nlohmann::json answer_schema(const char* name, const char* title) {
  nlohmann::json schema = json::schema<T>();
  schema["properties"]["$schema"] = {{"type", "string"},
                                     {"description", "the JSON Schema of this document"}};
  schema["properties"]["schema"] = {{"const", kAnswerVersion}, {"description", "version"}};
  schema["required"].push_back("schema");
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["$id"] = fmt::format("{}.schema.json", name);
  schema["title"] = title;
  return schema;
}

}  // namespace vprof::report
