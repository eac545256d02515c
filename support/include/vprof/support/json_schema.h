// The JSON Schema of a struct, from its description (json_fields.h).
//
//   nlohmann::json schema = json::schema<LeadingFactor>();
#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "vprof/support/json_fields.h"

namespace vprof::json {

namespace internal {

template <class T>
concept NamedObject = requires { Object<T>::kName; };
template <class T>
concept DescribedInWords = requires { Object<T>::kDescription; };
template <class T>
concept SchemaHook = requires(Json& schema) { Object<T>::described(schema); };

template <class T>
Json schema_of(Json& definitions);

template <class T>
Json object_schema(Json& definitions) {
  Json schema = {{"type", "object"}};
  if constexpr (DescribedInWords<T>) {
    schema["description"] = Object<T>::kDescription;
  }
  const auto add = [&](const auto& field) {
    using Member = std::remove_cvref_t<decltype(std::declval<T>().*field.member)>;
    Json member = schema_of<Member>(definitions);
    if constexpr (Digits<std::remove_cvref_t<decltype(field)>>) {
      member = {{"type", {"string", "integer"}}, {"pattern", "^[0-9]+$"}, {"minimum", 0}};
    }
    if (field.description[0] != '\0') {
      member["description"] = field.description;
    }
    schema["properties"][field.name] = std::move(member);
    if constexpr (std::remove_cvref_t<decltype(field)>::kPresence == Presence::kRequired) {
      schema["required"].push_back(field.name);
    }
  };
  std::apply([&](const auto&... field) { (add(field), ...); }, Object<T>::kFields);
  if constexpr (SchemaHook<T>) {
    Object<T>::described(schema);
  }
  return schema;
}

template <class T>
Json schema_of(Json& definitions) {
  if constexpr (Described<T> && NamedObject<T>) {
    const std::string name = Object<T>::kName;
    if (!definitions.contains(name)) {
      definitions[name] = Json::object();  // ends the recursion of a struct that contains itself
      Json schema = object_schema<T>(definitions);
      definitions[name] = std::move(schema);
    }
    // draft-07 ignores what stands beside $ref, so a description goes around it.
    return {{"allOf", {{{"$ref", "#/definitions/" + name}}}}};
  } else if constexpr (Described<T>) {
    return object_schema<T>(definitions);
  } else if constexpr (Enumerated<T>) {
    Json words = Json::array();
    for (const auto& word : Words<T>::kWords) {
      words.push_back(word);
    }
    return {{"enum", std::move(words)}};
  } else if constexpr (kIs<T, std::optional>) {
    Json schema = schema_of<typename T::value_type>(definitions);
    if (schema.contains("type")) {
      schema["type"] = {schema["type"], "null"};
    }
    return schema;
  } else if constexpr (kIsArray<T>) {
    const size_t size = std::tuple_size_v<T>;
    return {{"type", "array"},
            {"items", schema_of<typename T::value_type>(definitions)},
            {"minItems", size},
            {"maxItems", size}};
  } else if constexpr (kIs<T, std::vector> || kIs<T, std::set>) {
    return {{"type", "array"}, {"items", schema_of<typename T::value_type>(definitions)}};
  } else if constexpr (kIs<T, std::map>) {
    return {{"type", "object"},
            {"additionalProperties", schema_of<typename T::mapped_type>(definitions)}};
  } else if constexpr (std::is_same_v<T, Json>) {
    return Json::object();
  } else if constexpr (std::is_same_v<T, std::string> || Textual<T>) {
    return {{"type", "string"}};
  } else if constexpr (std::is_same_v<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::is_integral_v<T>) {
    Json schema = {{"type", "integer"}};
    if constexpr (std::is_unsigned_v<T>) {
      schema["minimum"] = 0;
    }
    return schema;
  } else {
    return {{"type", "number"}};
  }
}

}  // namespace internal

/// JSON Schema (draft-07) of the struct, without `$schema`, `$id` and `title`.
template <class T>
Json schema() {
  Json definitions = Json::object();
  Json document = internal::object_schema<T>(definitions);
  if (!definitions.empty()) {
    document["definitions"] = std::move(definitions);
  }
  return document;
}

}  // namespace vprof::json
