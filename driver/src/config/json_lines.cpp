#include "config/json_lines.h"

#include <cstddef>

namespace vprof::driver {

namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  JsonLines scan() {
    value("", 0);
    return std::move(found_);
  }

 private:
  // Deeper texts than any configuration are cut off instead of overflowing the stack.
  static constexpr int kMaxDepth = 200;

  bool done() const { return at_ >= text_.size(); }
  char peek() const { return done() ? '\0' : text_[at_]; }

  char next() {
    if (done()) {
      return '\0';
    }
    if (text_[at_] == '\n') {
      ++line_;
    }
    return text_[at_++];
  }

  void skip_to(std::string_view end) {
    while (!done() && text_.substr(at_, end.size()) != end) {
      next();
    }
    for (size_t i = 0; i < end.size(); ++i) {
      next();
    }
  }

  void space() {
    while (!done()) {
      if (text_.substr(at_, 2) == "//") {
        skip_to("\n");
      } else if (text_.substr(at_, 2) == "/*") {
        at_ += 2;
        skip_to("*/");
      } else if (std::string_view(" \t\r\n").find(peek()) != std::string_view::npos) {
        next();
      } else {
        return;
      }
    }
  }

  std::string string() {
    std::string text;
    next();
    while (!done() && peek() != '"') {
      if (peek() == '\\') {
        text += next();
      }
      text += next();
    }
    next();
    return text;
  }

  void value(const std::string& path, int depth) {
    space();
    found_.line_of.emplace(path, line_);
    if (depth > kMaxDepth) {
      at_ = text_.size();
    }
    if (peek() == '{') {
      object(path, depth);
    } else if (peek() == '[') {
      array(path, depth);
    } else if (peek() == '"') {
      string();
    } else {
      while (!done() && std::string_view(",]} \t\r\n/").find(peek()) == std::string_view::npos) {
        next();
      }
    }
  }

  void object(const std::string& path, int depth) {
    next();
    for (space(); !done() && peek() != '}'; space()) {
      const int key_line = line_;
      const std::string key = path + "/" + (peek() == '"' ? string() : std::string());
      if (!found_.line_of.emplace(key, key_line).second && found_.duplicate.empty()) {
        found_.duplicate = key;
        found_.line_of[key] = key_line;
      }
      space();
      next();  // the colon
      value(key, depth + 1);
      space();
      if (peek() == ',') {
        next();
      }
    }
    next();
  }

  void array(const std::string& path, int depth) {
    next();
    space();
    for (size_t i = 0; !done() && peek() != ']'; ++i) {
      const size_t before = at_;
      value(path + "/" + std::to_string(i), depth + 1);
      if (at_ == before) {
        next();  // not JSON: go on all the same
      }
      space();
      if (peek() == ',') {
        next();
      }
      space();
    }
    next();
  }

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  JsonLines found_;
};

}  // namespace

JsonLines json_lines(std::string_view text) { return Scanner(text).scan(); }

}  // namespace vprof::driver
