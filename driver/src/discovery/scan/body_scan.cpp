#include "discovery/scan/body_scan.h"

#include <algorithm>

#include "vprof/support/text.h"

namespace vprof::driver {

bool is_keyword(std::string_view text) {
  static const std::set<std::string_view> words = {
      "if",     "for",      "while",    "switch",   "do",       "else",          "return",
      "sizeof", "catch",    "alignof",  "decltype", "noexcept", "__attribute__", "defined",
      "typeof", "alignas",  "requires", "throw",    "new",      "delete",        "static_assert",
      "case",   "_Alignof", "operator", "assert",   "void",     "int",           "char"};
  return words.contains(text);
}

std::vector<size_t> partners(const Tokens& tokens) {
  std::vector<size_t> partner(tokens.size(), kNoToken);
  std::vector<size_t> open;
  const auto opener = [](char close) { return close == ')' ? '(' : close == ']' ? '[' : '{'; };
  for (size_t i = 0; i < tokens.size(); ++i) {
    const char c = tokens[i].name ? 'x' : tokens[i].text[0];
    if (c == '(' || c == '[' || c == '{') {
      open.push_back(i);
    }
    if (c != ')' && c != ']' && c != '}') {
      continue;
    }
    // A bracket without a partner comes from a macro: drop it.
    while (!open.empty() && tokens[open.back()].text[0] != opener(c) && c == '}') {
      open.pop_back();
    }
    if (open.empty() || tokens[open.back()].text[0] != opener(c)) {
      continue;
    }
    partner[open.back()] = i;
    open.pop_back();
  }
  return partner;
}

namespace {

/// Collects the calls in the body of one function.
class Body {
 public:
  Body(const Tokens& tokens, const std::vector<size_t>& partner, ScannedSource& into,
       ScannedFunction& function)
      : tokens_(tokens), partner_(partner), into_(into), function_(function) {}

  void walk(size_t begin, size_t end, LoopKind loop) {
    for (size_t i = begin; i < end; ++i) {
      const Token& token = tokens_[i];
      if (!token.name) {
        continue;
      }
      const bool called = i + 1 < end && is(tokens_[i + 1], "(");
      if ((is(token, "for") || is(token, "while")) && called && partner_[i + 1] != kNoToken) {
        i = statement(i, end, loop);
      } else if (is(token, "do") && i + 1 < end && partner_[i + 1] != kNoToken) {
        walk(i + 2, partner_[i + 1], std::max(loop, LoopKind::kWhile));
        i = partner_[i + 1];
      } else if (called && !is_keyword(token.text)) {
        function_.calls.push_back({std::string(last_part(token.text)), loop});
        into_.annotated = into_.annotated || is(token, "vprof_begin");
        note_thread(i);
      } else if (is_whole_argument(i)) {
        into_.passed_on.insert(std::string(last_part(token.text)));
        function_.passes.insert(std::string(last_part(token.text)));
        if (is_stored_in_member(i)) {
          function_.leaves_to.insert(std::string(last_part(token.text)));
        }
      } else if (is(token, "case")) {
        ++function_.cases;
      }
    }
  }

 private:
  /// Collects the calls of the `for (...)` or `while (...)` at `at`. Returns the loop's last token.
  size_t statement(size_t at, size_t end, LoopKind outer) {
    const size_t open = at + 1;
    const size_t close = partner_[open];
    const LoopKind loop = std::max(outer, kind_of(at, open, close));
    walk(open + 1, close, loop);
    if (close + 1 < end && is(tokens_[close + 1], "{") && partner_[close + 1] != kNoToken) {
      walk(close + 2, partner_[close + 1], loop);
      return partner_[close + 1];
    }
    size_t last = close + 1;
    while (last < end && !is(tokens_[last], ";")) {
      const size_t partner = partner_[last];
      const bool block = is(tokens_[last], "{") && partner != kNoToken;
      last = partner == kNoToken ? last + 1 : partner + (block ? 0 : 1);
      if (block) {
        break;
      }
    }
    last = std::min(last, end);
    walk(close + 1, last, loop);
    return last;
  }

  LoopKind kind_of(size_t at, size_t open, size_t close) const {
    if (is(tokens_[at], "for")) {
      const bool endless = close == open + 3 && is(tokens_[open + 1], ";");
      return endless ? LoopKind::kEndless : LoopKind::kCounted;
    }
    const bool constant =
        close == open + 2 && (is(tokens_[open + 1], "true") || !tokens_[open + 1].name);
    return constant ? LoopKind::kEndless : LoopKind::kWhile;
  }

  /// Whether a name is all of an argument, or all of the right side of an assignment.
  bool is_whole_argument(size_t i) const {
    if (i == 0 || i + 1 >= tokens_.size()) {
      return false;
    }
    const std::string_view before = tokens_[i - 1].text;
    const std::string_view after = tokens_[i + 1].text;
    return (before == "," || before == "(" || before == "&" || before == "=") &&
           (after == "," || after == ")" || after == ";");
  }

  /// `object->member = name;`
  bool is_stored_in_member(size_t i) const {
    return i >= 3 && is(tokens_[i - 1], "=") && tokens_[i - 2].name &&
           (is(tokens_[i - 3], ">") || is(tokens_[i - 3], ".")) && is(tokens_[i + 1], ";");
  }

  /// Notes the arguments of the call at `i` if that makes a thread, or gives a task to a pool of
  /// threads, by its name.
  void note_thread(size_t i) {
    const std::string_view name = last_part(tokens_[i].text);
    const size_t close = partner_[i + 1];
    const auto has = [name](const char* word) { return name.find(word) != std::string_view::npos; };
    const bool pool = has("submit") || has("enqueue") || has("thread_pool") || has("threadpool");
    const bool thread = (has("thread") || has("thrd")) && !has("pool") && !has("submit");
    if ((!thread && !pool) || close == kNoToken) {
      return;
    }
    auto& noted = pool ? into_.pool_tasks : into_.thread_entries;
    for (size_t at = i + 2; at < close; ++at) {
      if (tokens_[at].name && is_whole_argument(at)) {
        noted.insert(std::string(last_part(tokens_[at].text)));
      }
    }
  }

  const Tokens& tokens_;
  const std::vector<size_t>& partner_;
  ScannedSource& into_;
  ScannedFunction& function_;
};

}  // namespace

void scan_body(const Tokens& tokens, const std::vector<size_t>& partner, size_t begin, size_t end,
               ScannedSource& into, ScannedFunction& function) {
  Body(tokens, partner, into, function).walk(begin, end, LoopKind::kNone);
}

}  // namespace vprof::driver
