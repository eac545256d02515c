#include "discovery/scan/source_tokens.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace vprof::driver {

namespace {

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool continues_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

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
    const std::string_view rest = text_.substr(begin, 16);
    const auto is = [&rest](std::string_view word) { return rest.substr(0, word.size()) == word; };
    if (is("if")) {
      branches_.push_back({.left_out = is("if 0"), .taken = !is("if 0")});
      skipping_ += branches_.back().left_out ? 1 : 0;
    } else if ((is("else") || is("elif")) && !branches_.empty()) {
      Branch& branch = branches_.back();
      if (branch.left_out != branch.taken) {
        skipping_ += branch.taken ? 1 : -1;
      }
      branch = {.left_out = branch.taken, .taken = true};
    } else if (is("endif") && !branches_.empty()) {
      skipping_ -= branches_.back().left_out ? 1 : 0;
      branches_.pop_back();
    }
    skip_line();
  }

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  bool fresh_line_ = true;
  /// The current branch of an #if. The first branch counts, unless it is `#if 0`.
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
