// Reads the objects of a JSON file key by key and keeps the first error with its line.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/located_json.h"

namespace vprof::driver {

using Keys = std::vector<std::string>;

/// One file that is being read, shared by the readers of all its objects.
struct ReadState {
  std::string file;  ///< for messages
  LocatedJson json;
  std::string error;  ///< the first one; empty: none so far

  /// 1-based line of the value at a path; 0 if unknown.
  int line(const std::string& path) const;
  /// Keeps the error unless there is one already.
  void report(const std::string& path, const std::string& message);
};

/// One object of the file. After an error, reading goes on and yields defaults: the caller checks
/// for an error once, at the end.
class ObjectReader {
 public:
  /// Reports keys that are not in `keys`. `what` names the object in messages (`an interval`).
  ObjectReader(ReadState& state, const nlohmann::json& value, std::string path, std::string what,
               const Keys& keys);

  bool has(const std::string& key) const;
  /// Line of a key; 0 if the object does not have it.
  int line(const std::string& key) const;
  /// Line of the object itself.
  int line() const { return state_.line(path_); }

  /// Reports an error at a key, or at the object if it does not have the key.
  void report(const std::string& key, const std::string& message);
  /// Reports a missing key; `hint` says what to write.
  void require(const std::string& key, const std::string& hint);

  // The value of a key, or `otherwise` if the key is missing or its value has the wrong type.
  std::string string(const std::string& key, const std::string& otherwise = "");
  double number(const std::string& key, double otherwise, double least, double most);
  int integer(const std::string& key, int otherwise, int least, int most);
  bool flag(const std::string& key, bool otherwise);
  /// A list of strings; one string counts as a list of one.
  std::vector<std::string> strings(const std::string& key);
  /// An object whose keys are free and whose values are strings. `example` is for the message.
  std::map<std::string, std::string> string_map(const std::string& key, const std::string& example);

  /// The object at `key`, if there is one.
  std::optional<ObjectReader> object(const std::string& key, const Keys& keys);
  /// The objects at `key`: a list of them, or one. `what` names each of them in messages.
  std::vector<ObjectReader> objects(const std::string& key, const std::string& what,
                                    const Keys& keys);

 private:
  std::string path(const std::string& key) const { return path_ + "/" + key; }
  const nlohmann::json* find(const std::string& key) const;

  ReadState& state_;
  const nlohmann::json& value_;
  std::string path_;
  std::string what_;
};

}  // namespace vprof::driver
