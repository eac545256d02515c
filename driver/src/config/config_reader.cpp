#include "config/config_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "vprof/support/json.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

/// A JSON type in words a user of the file knows.
std::string type_of(const nlohmann::json& value) {
  if (value.is_string()) {
    return "a text";
  }
  if (value.is_boolean()) {
    return "true or false";
  }
  if (value.is_number()) {
    return "a number";
  }
  if (value.is_array()) {
    return "a list";
  }
  if (value.is_object()) {
    return "an object {...}";
  }
  return "null";
}

std::string must_be(const std::string& key, const std::string& wanted,
                    const nlohmann::json& value) {
  return fmt::format("\"{}\" must be {}, not {}", key, wanted, type_of(value));
}

}  // namespace

int ReadState::line(const std::string& path) const {
  const auto found = lines.line_of.find(path);
  return found == lines.line_of.end() ? 0 : found->second;
}

void ReadState::report(const std::string& path, const std::string& message) {
  if (!error.empty()) {
    return;
  }
  const int at = line(path);
  error =
      at > 0 ? fmt::format("{}:{}: {}", file, at, message) : fmt::format("{}: {}", file, message);
}

ObjectReader::ObjectReader(ReadState& state, const nlohmann::json& value, std::string path,
                           std::string what, const std::vector<std::string>& keys)
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
    const std::string hint = near.empty() ? fmt::format("{} may hold {}", what_, listed(keys))
                                          : fmt::format("did you mean \"{}\"?", near);
    state_.report(path_ + "/" + key, fmt::format("key \"{}\" is unknown; {}", key, hint));
  }
}

bool ObjectReader::has(const std::string& key) const {
  return value_.is_object() && value_.contains(key);
}

int ObjectReader::line(const std::string& key) const { return state_.line(path(key)); }

void ObjectReader::report(const std::string& key, const std::string& message) {
  state_.report(has(key) ? path(key) : path_, message);
}

void ObjectReader::require(const std::string& key, const std::string& hint) {
  if (has(key)) {
    return;
  }
  state_.report(path_, fmt::format("key \"{}\" is missing from {}; {}", key, what_, hint));
}

const nlohmann::json* ObjectReader::raw(const std::string& key) const {
  return has(key) ? &value_.at(key) : nullptr;
}

std::string ObjectReader::text(const std::string& key, const std::string& otherwise) {
  const nlohmann::json* value = raw(key);
  if (value == nullptr) {
    return otherwise;
  }
  if (value->is_string()) {
    return value->get<std::string>();
  }
  report(key, must_be(key, "a text", *value));
  return otherwise;
}

double ObjectReader::number(const std::string& key, double otherwise, double least, double most) {
  const nlohmann::json* value = raw(key);
  if (value == nullptr) {
    return otherwise;
  }
  if (!value->is_number()) {
    report(key, must_be(key, "a number", *value));
    return otherwise;
  }
  const double number = value->get<double>();
  if (number >= least && number <= most) {
    return number;
  }
  report(key, fmt::format("\"{}\" must be between {} and {}, not {}", key, least, most, number));
  return otherwise;
}

int ObjectReader::integer(const std::string& key, int otherwise, int least, int most) {
  const nlohmann::json* value = raw(key);
  if (value != nullptr && value->is_number_float()) {
    report(key, fmt::format("\"{}\" must be a whole number", key));
    return otherwise;
  }
  return static_cast<int>(number(key, otherwise, least, most));
}

bool ObjectReader::flag(const std::string& key, bool otherwise) {
  if (!has(key)) {
    return otherwise;
  }
  if (value_[key].is_boolean()) {
    return value_[key].get<bool>();
  }
  report(key, fmt::format("\"{}\" must be true or false", key));
  return otherwise;
}

std::vector<std::string> ObjectReader::texts(const std::string& key) {
  const nlohmann::json* value = raw(key);
  if (value == nullptr) {
    return {};
  }
  if (value->is_string()) {
    return {value->get<std::string>()};
  }
  std::vector<std::string> list;
  if (!value->is_array()) {
    report(key, must_be(key, "a list of texts", *value));
  }
  for (size_t i = 0; value->is_array() && i < value->size(); ++i) {
    if ((*value)[i].is_string()) {
      list.push_back((*value)[i].get<std::string>());
    } else {
      state_.report(fmt::format("{}/{}", path(key), i),
                    must_be(key, "a list of texts", (*value)[i]));
    }
  }
  return list;
}

std::vector<std::pair<std::string, nlohmann::json>> ObjectReader::objects(const std::string& key) {
  const nlohmann::json* value = raw(key);
  if (value == nullptr) {
    return {};
  }
  if (value->is_object()) {
    return {{path(key), *value}};
  }
  std::vector<std::pair<std::string, nlohmann::json>> list;
  if (!value->is_array()) {
    report(key, must_be(key, "an object {...} or a list of them", *value));
  }
  for (size_t i = 0; value->is_array() && i < value->size(); ++i) {
    list.emplace_back(fmt::format("{}/{}", path(key), i), (*value)[i]);
  }
  return list;
}

}  // namespace vprof::driver
