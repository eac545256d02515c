#include "config/config_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

using nlohmann::json;

/// A JSON type in the words of docs/configuration.md.
std::string type_of(const json& value) {
  switch (value.type()) {
    case json::value_t::string:
      return "a string";
    case json::value_t::boolean:
      return "true or false";
    case json::value_t::array:
      return "a list";
    case json::value_t::object:
      return "an object {...}";
    case json::value_t::null:
      return "null";
    default:
      return "a number";
  }
}

std::string must_be(const std::string& key, const std::string& wanted, const json& value) {
  return fmt::format("\"{}\" must be {}, not {}", key, wanted, type_of(value));
}

}  // namespace

int ReadState::line(const std::string& path) const {
  const auto found = json.lines.find(path);
  return found == json.lines.end() ? 0 : found->second;
}

void ReadState::report(const std::string& path, const std::string& message) {
  if (!error.empty()) {
    return;
  }
  const int at = line(path);
  error =
      at > 0 ? fmt::format("{}:{}: {}", file, at, message) : fmt::format("{}: {}", file, message);
}

ObjectReader::ObjectReader(ReadState& state, const json& value, std::string path, std::string what,
                           const Keys& keys)
    : state_(state), value_(value), path_(std::move(path)), what_(std::move(what)) {
  if (!value_.is_object()) {
    state_.report(path_,
                  fmt::format("{} must be an object {{...}}, not {}", what_, type_of(value_)));
    return;
  }
  for (const auto& [key, unused] : value_.items()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) {
      continue;
    }
    const std::string near = nearest(key, keys);
    const std::string hint = near.empty() ? fmt::format("{} may have {}", what_, listed(keys))
                                          : fmt::format("did you mean \"{}\"?", near);
    report(key, fmt::format("key \"{}\" is unknown; {}", key, hint));
  }
}

const json* ObjectReader::find(const std::string& key) const {
  if (!value_.is_object()) {
    return nullptr;
  }
  const auto found = value_.find(key);
  return found == value_.end() ? nullptr : &*found;
}

bool ObjectReader::has(const std::string& key) const { return find(key) != nullptr; }

int ObjectReader::line(const std::string& key) const { return state_.line(path(key)); }

void ObjectReader::report(const std::string& key, const std::string& message) {
  state_.report(has(key) ? path(key) : path_, message);
}

void ObjectReader::require(const std::string& key, const std::string& hint) {
  if (!has(key)) {
    report(key, fmt::format("key \"{}\" is missing from {}; {}", key, what_, hint));
  }
}

std::string ObjectReader::string(const std::string& key, const std::string& otherwise) {
  const json* value = find(key);
  if (value == nullptr) {
    return otherwise;
  }
  if (!value->is_string()) {
    report(key, must_be(key, "a string", *value));
    return otherwise;
  }
  return value->get<std::string>();
}

double ObjectReader::number(const std::string& key, double otherwise, double least, double most) {
  const json* value = find(key);
  if (value == nullptr) {
    return otherwise;
  }
  if (!value->is_number()) {
    report(key, must_be(key, "a number", *value));
    return otherwise;
  }
  const double number = value->get<double>();
  if (number < least || number > most) {
    report(key, fmt::format("\"{}\" must be between {} and {}, not {}", key, least, most, number));
    return otherwise;
  }
  return number;
}

int ObjectReader::integer(const std::string& key, int otherwise, int least, int most) {
  const json* value = find(key);
  if (value != nullptr && value->is_number_float()) {
    report(key, fmt::format("\"{}\" must be a whole number", key));
    return otherwise;
  }
  return static_cast<int>(number(key, otherwise, least, most));
}

bool ObjectReader::flag(const std::string& key, bool otherwise) {
  const json* value = find(key);
  if (value == nullptr) {
    return otherwise;
  }
  if (!value->is_boolean()) {
    report(key, fmt::format("\"{}\" must be true or false", key));
    return otherwise;
  }
  return value->get<bool>();
}

std::vector<std::string> ObjectReader::strings(const std::string& key) {
  const json* value = find(key);
  if (value == nullptr) {
    return {};
  }
  if (value->is_string()) {
    return {value->get<std::string>()};
  }
  constexpr const char* kWanted = "a list of strings";
  if (!value->is_array()) {
    report(key, must_be(key, kWanted, *value));
    return {};
  }
  std::vector<std::string> list;
  for (size_t i = 0; i < value->size(); ++i) {
    const json& element = (*value)[i];
    if (element.is_string()) {
      list.push_back(element.get<std::string>());
    } else {
      state_.report(fmt::format("{}/{}", path(key), i), must_be(key, kWanted, element));
    }
  }
  return list;
}

std::map<std::string, std::string> ObjectReader::string_map(const std::string& key,
                                                            const std::string& example) {
  const json* value = find(key);
  if (value == nullptr) {
    return {};
  }
  if (!value->is_object()) {
    report(key, fmt::format("\"{}\" must be an object {}", key, example));
    return {};
  }
  std::map<std::string, std::string> map;
  for (const auto& [name, element] : value->items()) {
    if (element.is_string()) {
      map[name] = element.get<std::string>();
    } else {
      state_.report(path(key) + "/" + name,
                    fmt::format("\"{}\" in \"{}\" must be a string", name, key));
    }
  }
  return map;
}

std::optional<ObjectReader> ObjectReader::object(const std::string& key, const Keys& keys) {
  const json* value = find(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  return ObjectReader(state_, *value, path(key), fmt::format("\"{}\"", key), keys);
}

std::vector<ObjectReader> ObjectReader::objects(const std::string& key, const std::string& what,
                                                const Keys& keys) {
  const json* value = find(key);
  if (value == nullptr) {
    return {};
  }
  if (value->is_object()) {
    return {ObjectReader(state_, *value, path(key), what, keys)};
  }
  if (!value->is_array()) {
    report(key, must_be(key, "an object {...} or a list of them", *value));
    return {};
  }
  std::vector<ObjectReader> readers;
  for (size_t i = 0; i < value->size(); ++i) {
    readers.emplace_back(state_, (*value)[i], fmt::format("{}/{}", path(key), i), what, keys);
  }
  return readers;
}

}  // namespace vprof::driver
