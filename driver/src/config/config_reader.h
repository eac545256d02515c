// Reading of a JSON object key by key, where the first error is kept with its line.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/json_lines.h"

namespace vprof::driver {

/// State shared by all objects of one file.
struct ReadState {
  std::string file;  ///< for messages
  JsonLines lines;
  std::string error;  ///< the first one; empty: none so far

  /// 1-based line of a path, 0 if unknown.
  int line(const std::string& path) const;
  /// Keeps the error unless there is one already.
  void report(const std::string& path, const std::string& message);
};

/// One object of the file. Reading after an error yields defaults, so that callers need not check
/// each step.
class ObjectReader {
 public:
  /// Reports keys that are not in `keys`. `what` names the object in messages (`an interval`).
  ObjectReader(ReadState& state, const nlohmann::json& value, std::string path, std::string what,
               const std::vector<std::string>& keys);

  bool has(const std::string& key) const;
  int line(const std::string& key) const;
  std::string path(const std::string& key) const { return path_ + "/" + key; }
  void report(const std::string& key, const std::string& message);
  void require(const std::string& key, const std::string& hint);

  std::string text(const std::string& key, const std::string& otherwise = "");
  double number(const std::string& key, double otherwise, double least, double most);
  int integer(const std::string& key, int otherwise, int least, int most);
  bool flag(const std::string& key, bool otherwise);
  std::vector<std::string> texts(const std::string& key);

  /// The objects below `key`, which may be one object or a list of them; each with its path.
  std::vector<std::pair<std::string, nlohmann::json>> objects(const std::string& key);
  const nlohmann::json* raw(const std::string& key) const;

 private:
  ReadState& state_;
  const nlohmann::json& value_;
  std::string path_;
  std::string what_;
};

}  // namespace vprof::driver
