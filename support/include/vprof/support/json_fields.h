// Structs as JSON: each struct is described once. Writing and reading come from that description,
// and so does the JSON Schema (json_schema.h).
//
//   template <>
//   struct vprof::json::Object<LeadingFactor> {
//     static constexpr auto kFields = std::tuple{
//         required("factor", &LeadingFactor::factor, "name of the factor"),
//         optional("contribution", &LeadingFactor::contribution, "part of the variance")};
//   };
//   template <>
//   struct vprof::json::Words<Step> {
//     static constexpr std::array kWords = {"measure", "analyze"};  // in the order of the enum
//   };
//
//   nlohmann::json document = json::write(leading);
//   // Error: "factors/3/rank: must be a number"
//   Result<LeadingFactor> leading = json::read<LeadingFactor>(document);
//
// Members may be bool, integers, double, std::string, enums with Words, types with Text,
// std::vector, std::array, std::set, std::map from strings, std::optional (null if it has no
// value), nlohmann::json, and other described structs, also recursively.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "vprof/support/result.h"

namespace vprof::json {

using Json = nlohmann::json;

/// Description of a struct: specialise with a tuple `kFields`, and optionally `kName` (of the
/// definition in a schema; needed by structs that contain themselves), `kDescription`, and hooks
/// `static void written(const T&, Json&)`, `static void check(T&, const Json&)` and
/// `static void described(Json& schema)` for what fields cannot say. `check` throws ReadError.
template <class T>
struct Object;

/// Names of an enum's values, in the order of the enum, which counts from 0.
template <class T>
struct Words;

/// A type that JSON holds as a text: specialise with `static const std::string& write(const T&)`
/// and `static T read(const std::string&)`, which throws ReadError.
template <class T>
struct Text;

enum class Presence : uint8_t {
  kRequired,    ///< every file has it
  kOptional,    ///< always written; keeps its default where a file does not have it
  kNonDefault,  ///< like kOptional, but written only when it differs from its default
};

template <class T, class Member, Presence kFieldPresence>
struct Field {
  static constexpr Presence kPresence = kFieldPresence;
  const char* name;
  Member T::* member;
  const char* description;
};

/// A field that every file has.
template <class T, class Member>
constexpr Field<T, Member, Presence::kRequired> required(const char* name, Member T::* member,
                                                         const char* description = "") {
  return {name, member, description};
}

/// A field that keeps its default where a file does not have it. It is always written.
template <class T, class Member>
constexpr Field<T, Member, Presence::kOptional> optional(const char* name, Member T::* member,
                                                         const char* description = "") {
  return {name, member, description};
}

/// A field that a file has only where it differs from its default: keeps large files small.
template <class T, class Member>
constexpr Field<T, Member, Presence::kNonDefault> non_default(const char* name, Member T::* member,
                                                              const char* description = "") {
  return {name, member, description};
}

/// A field as required() and optional() make it, of an integer that JSON holds as a text of digits:
/// the numbers of JavaScript, and of most tools for JSON, do not hold 64 bits. Numbers are read as
/// well.
template <class T, class Member, Presence kFieldPresence>
struct DigitsField : Field<T, Member, kFieldPresence> {
  static constexpr bool kDigits = true;
};

template <class T, class Member, Presence kFieldPresence>
constexpr DigitsField<T, Member, kFieldPresence> digits(Field<T, Member, kFieldPresence> field) {
  return {field};
}

/// What is wrong with a document. Only thrown below read(), which turns it into an Error.
class ReadError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace internal {

template <class T>
concept Described = requires { Object<T>::kFields; };
template <class T>
concept Enumerated = std::is_enum_v<T> && requires { Words<T>::kWords; };
template <class T>
concept Textual = requires(const T& value) { Text<T>::write(value); };
template <class T>
concept Digits = requires { T::kDigits; };
template <class T>
concept WrittenHook = requires(const T& value, Json& json) { Object<T>::written(value, json); };
template <class T>
concept CheckHook = requires(T& value, const Json& json) { Object<T>::check(value, json); };

template <class T, template <class...> class Template>
inline constexpr bool kIs = false;
template <template <class...> class Template, class... Arguments>
inline constexpr bool kIs<Template<Arguments...>, Template> = true;
template <class T>
inline constexpr bool kIsArray = false;
template <class T, size_t N>
inline constexpr bool kIsArray<std::array<T, N>> = true;

/// Deeper documents would exhaust the stack; no analysis makes such.
inline constexpr int kDeepest = 10'000;

template <class T>
void write_to(Json& to, const T& value) {
  if constexpr (Described<T>) {
    to = Json::object();
    const auto write_field = [&](const auto& field) {
      if constexpr (std::remove_cvref_t<decltype(field)>::kPresence == Presence::kNonDefault) {
        static const T default_value{};
        if (value.*field.member == default_value.*field.member) {
          return;
        }
      }
      if constexpr (Digits<std::remove_cvref_t<decltype(field)>>) {
        to[field.name] = std::to_string(value.*field.member);
      } else {
        write_to(to[field.name], value.*field.member);
      }
    };
    std::apply([&](const auto&... field) { (write_field(field), ...); }, Object<T>::kFields);
    if constexpr (WrittenHook<T>) {
      Object<T>::written(value, to);
    }
  } else if constexpr (Enumerated<T>) {
    to = Words<T>::kWords.at(static_cast<size_t>(value));
  } else if constexpr (Textual<T>) {
    to = Text<T>::write(value);
  } else if constexpr (kIs<T, std::optional>) {
    if (value) {
      write_to(to, *value);
    }
  } else if constexpr (kIs<T, std::vector> || kIs<T, std::set> || kIsArray<T>) {
    to = Json::array();
    for (const auto& element : value) {
      write_to(to.emplace_back(), element);
    }
  } else if constexpr (kIs<T, std::map>) {
    to = Json::object();
    for (const auto& [name, element] : value) {
      write_to(to[name], element);
    }
  } else {
    to = value;
  }
}

/// Where a value is in the document, as a chain on the stack: text only when something is wrong.
struct Path {
  const Path* above = nullptr;
  std::string_view name = {};
  size_t index = 0;
  int depth = 0;

  Path below(std::string_view field) const { return {this, field, 0, depth + 1}; }
  Path below(size_t element) const { return {this, {}, element, depth + 1}; }

  std::string text() const {
    if (above == nullptr) {
      return "";
    }
    const std::string last = name.empty() ? std::to_string(index) : std::string(name);
    const std::string first = above->text();
    return first.empty() ? last : first + "/" + last;
  }
};

inline void demand(bool holds, const Path& path, const char* wanted) {
  if (!holds) {
    throw ReadError((path.above == nullptr ? "document" : path.text()) + ": must be " + wanted);
  }
}

template <class T>
void read_digits(T& to, const Json& from, const Path& path) {
  if (from.is_number_unsigned()) {
    to = from.get<T>();
    return;
  }
  demand(from.is_string(), path, "a text of digits");
  const auto& text = from.get_ref<const std::string&>();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  demand(error == std::errc() && end == text.data() + text.size(), path, "a text of digits");
}

template <class T>
void read_to(T& to, const Json& from, const Path& path) {
  if (path.depth > kDeepest) {
    throw ReadError("document: too deep");
  }
  if constexpr (Described<T>) {
    demand(from.is_object(), path, "an object");
    const auto read_field = [&](const auto& field) {
      const auto found = from.find(field.name);
      if (found != from.end()) {
        if constexpr (Digits<std::remove_cvref_t<decltype(field)>>) {
          return read_digits(to.*field.member, *found, path.below(field.name));
        } else {
          return read_to(to.*field.member, *found, path.below(field.name));
        }
      }
      if constexpr (std::remove_cvref_t<decltype(field)>::kPresence == Presence::kRequired) {
        throw ReadError(path.below(field.name).text() + ": is missing");
      }
    };
    std::apply([&](const auto&... field) { (read_field(field), ...); }, Object<T>::kFields);
    if constexpr (CheckHook<T>) {
      Object<T>::check(to, from);
    }
  } else if constexpr (Enumerated<T>) {
    demand(from.is_string(), path, "a word");
    const auto& word = from.get_ref<const std::string&>();
    for (size_t i = 0; i < Words<T>::kWords.size(); ++i) {
      if (word == Words<T>::kWords[i]) {
        // There is one word per value. NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange)
        to = static_cast<T>(i);
        return;
      }
    }
    throw ReadError(path.text() + ": unknown word '" + word + "'");
  } else if constexpr (Textual<T>) {
    demand(from.is_string(), path, "a text");
    to = Text<T>::read(from.get_ref<const std::string&>());
  } else if constexpr (kIs<T, std::optional>) {
    if (from.is_null()) {
      return to.reset();
    }
    read_to(to.emplace(), from, path);
  } else if constexpr (kIs<T, std::vector>) {
    demand(from.is_array(), path, "a list");
    to.clear();
    to.reserve(from.size());
    for (size_t i = 0; i < from.size(); ++i) {
      typename T::value_type element{};
      read_to(element, from[i], path.below(i));
      to.push_back(std::move(element));
    }
  } else if constexpr (kIs<T, std::set>) {
    demand(from.is_array(), path, "a list");
    to.clear();
    for (size_t i = 0; i < from.size(); ++i) {
      typename T::value_type element{};
      read_to(element, from[i], path.below(i));
      to.insert(std::move(element));
    }
  } else if constexpr (kIsArray<T>) {
    demand(from.is_array() && from.size() == to.size(), path, "a list of the right length");
    for (size_t i = 0; i < to.size(); ++i) {
      read_to(to[i], from[i], path.below(i));
    }
  } else if constexpr (kIs<T, std::map>) {
    demand(from.is_object(), path, "an object");
    to.clear();
    for (const auto& [name, element] : from.items()) {
      read_to(to[name], element, path.below(name));
    }
  } else if constexpr (std::is_same_v<T, Json>) {
    to = from;
  } else if constexpr (std::is_same_v<T, std::string>) {
    demand(from.is_string(), path, "a text");
    to = from.get<std::string>();
  } else if constexpr (std::is_same_v<T, bool>) {
    demand(from.is_boolean(), path, "true or false");
    to = from.get<bool>();
  } else {
    static_assert(std::is_arithmetic_v<T>, "a member of this type has no form in JSON");
    demand(from.is_number(), path, "a number");
    to = from.get<T>();
  }
}

}  // namespace internal

/// The struct as a JSON object, with every field.
template <class T>
Json write(const T& value) {
  Json document;
  internal::write_to(document, value);
  return document;
}

/// The struct from a JSON object. Unknown fields are ignored, so that older programs read newer
/// files. Error: one line that begins with the path of the value at fault.
template <class T>
Result<T> read(const Json& document) {
  try {
    T value{};
    internal::read_to(value, document, internal::Path{});
    return value;
  } catch (const std::exception& error) {
    return fail("{}", error.what());
  }
}

}  // namespace vprof::json
