#include "discovery/scan/source_tokens.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace vprof::driver {

namespace {

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool continues_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Macros of compilers and systems that vprof does not run on.
constexpr std::array<std::string_view, 19> kForeign = {
    "WIN32",       "_WIN32",      "__WIN32__",     "_WIN64",   "_MSC_VER",
    "__MINGW32__", "__CYGWIN__",  "__APPLE__",     "__MACH__", "__FreeBSD__",
    "__NetBSD__",  "__OpenBSD__", "__sun",         "__sun__",  "_AIX",
    "__hpux",      "__HAIKU__",   "__DragonFly__", "NETWARE"};

/// Of `defined(A) && x`: whether a part demands a foreign system. Does not look into `!(...)`.
bool demands_foreign(std::string_view condition) {
  condition = condition.substr(0, condition.find("!("));
  bool negated = false;
  for (size_t at = 0; at < condition.size();) {
    if (!begins_name(condition[at])) {
      negated = condition[at] == '!' || (negated && condition[at] != '&');
      ++at;
      continue;
    }
    size_t end = at;
    while (end < condition.size() && continues_name(condition[end])) {
      ++end;
    }
    const std::string_view name = condition.substr(at, end - at);
    if (!negated && std::find(kForeign.begin(), kForeign.end(), name) != kForeign.end()) {
      return true;
    }
    at = end;
  }
  return false;
}

/// Whether no build on this system has the branch after `#` and this: `if 0`, `ifdef _WIN32`.
bool holds_nowhere(std::string_view directive) {
  const size_t word = directive.find_first_not_of("abcdefghijklmnopqrstuvwxyz");
  if (word == std::string_view::npos || directive.substr(0, word) == "ifndef") {
    return false;
  }
  std::string_view condition = directive.substr(word);
  condition = condition.substr(0, std::min(condition.find("//"), condition.find("/*")));
  const size_t first = condition.find_first_not_of(" \t(");
  if (first != std::string_view::npos && condition[first] == '0') {
    return true;
  }
  while (true) {  // each alternative must be foreign
    const size_t end = condition.find("||");
    if (!demands_foreign(condition.substr(0, end))) {
      return false;
    }
    if (end == std::string_view::npos) {
      return true;
    }
    condition.remove_prefix(end + 2);
  }
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) {
      step();
    }
    return std::move(tokens_);
  }

 private:
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void advance() {
    if (text_[at_] == '\n') {
      ++line_;
      fresh_line_ = true;
    }
    ++at_;
  }

  void step() {
    const char c = peek();
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      return advance();
    }
    if (c == '/' && peek(1) == '/') {
      return skip_line();
    }
    if (c == '/' && peek(1) == '*') {
      return skip_comment();
    }
    if (c == '#' && fresh_line_) {
      return directive();
    }
    fresh_line_ = false;
    if (begins_name(c)) {
      return name();
    }
    if (c == '"' || c == '\'') {
      return literal(c);
    }
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      return number();
    }
    add(at_, 1, false);
    advance();
  }

  void add(size_t begin, size_t length, bool is_name) {
    if (skipping_ == 0) {
      tokens_.push_back({text_.substr(begin, length), line_, is_name});
    }
  }

  /// Skips to the end of the line, including lines that a backslash continues.
  void skip_line() {
    while (at_ < text_.size() && peek() != '\n') {
      if (peek() == '\\' && peek(1) == '\n') {
        advance();
      }
      if (at_ < text_.size()) {
        advance();
      }
    }
  }

  void skip_comment() {
    at_ += 2;
    while (at_ < text_.size() && !(peek() == '*' && peek(1) == '/')) {
      advance();
    }
    at_ = std::min(at_ + 2, text_.size());
  }

  void name() {
    const size_t begin = at_;
    while (continues_name(peek()) || (peek() == ':' && peek(1) == ':' && begins_name(peek(2)))) {
      at_ += peek() == ':' ? 2 : 1;
    }
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (peek() == '"' && word.back() == 'R') {
      return raw_string();
    }
    add(begin, word.size(), true);
  }

  void raw_string() {
    const size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) {
      return skip_line();
    }
    const std::string end = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const size_t close = std::min(text_.find(end, open), text_.size());
    add(at_, 1, false);
    while (at_ < std::min(close + end.size(), text_.size())) {
      advance();
    }
  }

  void literal(char quote) {
    add(at_, 1, false);
    ++at_;
    while (at_ < text_.size() && peek() != quote && peek() != '\n') {
      if (peek() == '\\') {
        ++at_;
      }
      if (at_ < text_.size()) {
        advance();
      }
    }
    if (peek() == quote) {
      ++at_;
    }
  }

  void number() {
    add(at_, 1, false);
    while (continues_name(peek()) || peek() == '.' || (peek() == '\'' && continues_name(peek(1)))) {
      ++at_;
    }
  }

  void directive() {
    size_t begin = at_ + 1;
    while (begin < text_.size() && (text_[begin] == ' ' || text_[begin] == '\t')) {
      ++begin;
    }
    skip_line();
    const std::string_view rest = text_.substr(begin, at_ - begin);
    const auto is = [&rest](std::string_view word) { return rest.substr(0, word.size()) == word; };
    if (is("if")) {
      const bool out = holds_nowhere(rest);
      branches_.push_back({.left_out = out, .taken = !out});
      skipping_ += out ? 1 : 0;
    } else if ((is("else") || is("elif")) && !branches_.empty()) {
      Branch& branch = branches_.back();
      const bool out = branch.taken || holds_nowhere(rest);
      skipping_ += static_cast<int>(out) - static_cast<int>(branch.left_out);
      branch = {.left_out = out, .taken = branch.taken || !out};
    } else if (is("endif") && !branches_.empty()) {
      skipping_ -= branches_.back().left_out ? 1 : 0;
      branches_.pop_back();
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  bool fresh_line_ = true;
  /// The current branch of an #if. The first branch counts that may hold on this system.
  struct Branch {
    bool left_out = false;
    bool taken = false;  ///< this branch or an earlier one
  };
  int skipping_ = 0;  // enclosing branches that are left out
  std::vector<Branch> branches_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text) { return Lexer(text).run(); }

}  // namespace vprof::driver
