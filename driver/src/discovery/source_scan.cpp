#include "discovery/source_scan.h"

#include <algorithm>

#include "discovery/source_tokens.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

using Tokens = std::vector<Token>;

constexpr size_t kNone = SIZE_MAX;  // no token

bool is(const Token& token, std::string_view text) { return token.text == text; }

bool is_keyword(std::string_view text) {
  static const std::set<std::string_view> words = {
      "if",     "for",      "while",    "switch",   "do",       "else",          "return",
      "sizeof", "catch",    "alignof",  "decltype", "noexcept", "__attribute__", "defined",
      "typeof", "alignas",  "requires", "throw",    "new",      "delete",        "static_assert",
      "case",   "_Alignof", "operator", "assert",   "void",     "int",           "char"};
  return words.contains(text);
}

/// For each opening bracket, the index of its closing bracket; kNone for all other tokens.
std::vector<size_t> partners(const Tokens& tokens) {
  std::vector<size_t> partner(tokens.size(), kNone);
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
      if ((is(token, "for") || is(token, "while")) && called && partner_[i + 1] != kNone) {
        i = statement(i, end, loop);
      } else if (is(token, "do") && i + 1 < end && partner_[i + 1] != kNone) {
        walk(i + 2, partner_[i + 1], std::max(loop, LoopKind::kWhile));
        i = partner_[i + 1];
      } else if (called && !is_keyword(token.text)) {
        function_.calls.push_back({std::string(last_part(token.text)), loop});
        into_.annotated = into_.annotated || is(token, "vprof_begin");
        note_thread(i);
      } else if (is_whole_argument(i)) {
        into_.passed_on.insert(std::string(last_part(token.text)));
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
    if (close + 1 < end && is(tokens_[close + 1], "{") && partner_[close + 1] != kNone) {
      walk(close + 2, partner_[close + 1], loop);
      return partner_[close + 1];
    }
    size_t last = close + 1;
    while (last < end && !is(tokens_[last], ";")) {
      const size_t partner = partner_[last];
      const bool block = is(tokens_[last], "{") && partner != kNone;
      last = partner == kNone ? last + 1 : partner + (block ? 0 : 1);
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

  /// Notes the arguments of the call at `i` if that makes a thread, by its name.
  void note_thread(size_t i) {
    const std::string_view name = last_part(tokens_[i].text);
    const size_t close = partner_[i + 1];
    const auto has = [name](const char* word) { return name.find(word) != std::string_view::npos; };
    // What is given to a pool is a task.
    if ((!has("thread") && !has("thrd")) || has("pool") || has("submit") || close == kNone) {
      return;
    }
    for (size_t at = i + 2; at < close; ++at) {
      if (tokens_[at].name && is_whole_argument(at)) {
        into_.thread_entries.insert(std::string(last_part(tokens_[at].text)));
      }
    }
  }

  const Tokens& tokens_;
  const std::vector<size_t>& partner_;
  ScannedSource& into_;
  ScannedFunction& function_;
};

/// The type in the tokens of a declaration without its name; `none` if there is none.
ScannedType type_of(const Tokens& tokens, size_t begin, size_t end) {
  static const std::set<std::string_view> qualifiers = {
      "const",    "struct",   "class",   "union",    "static",   "inline",   "extern",
      "unsigned", "volatile", "virtual", "register", "restrict", "explicit", "enum"};
  ScannedType type;
  for (size_t i = begin; i < end; ++i) {
    if (tokens[i].name && !qualifiers.contains(tokens[i].text)) {
      type.name = last_part(tokens[i].text);
    }
    type.pointer = type.pointer || is(tokens[i], "*") || is(tokens[i], "&");
  }
  return type;
}

/// The types of the parameters between two brackets. The last name of each is its own, unless it
/// is the only one.
std::vector<ScannedType> types_of_parameters(const Tokens& tokens, size_t open, size_t close) {
  std::vector<ScannedType> types;
  int depth = 0;
  for (size_t begin = open + 1, i = begin; i <= close; ++i) {
    depth += is(tokens[i], "(") || is(tokens[i], "<") ? 1 : 0;
    depth -= (is(tokens[i], ")") && i != close) || is(tokens[i], ">") ? 1 : 0;
    if (i != close && (depth != 0 || !is(tokens[i], ","))) {
      continue;
    }
    size_t end = i;
    if (end > begin + 1 && tokens[end - 1].name) {
      --end;
    }
    if (end > begin) {
      types.push_back(type_of(tokens, begin, end));
    }
    begin = i + 1;
  }
  return types;
}

/// Finds the functions of one file, in namespaces and classes.
class File {
 public:
  File(std::string_view text, std::string file, ScannedSource& into)
      : tokens_(tokens_of(text)),
        partner_(partners(tokens_)),
        file_(std::move(file)),
        into_(into) {}

  void run() { scope(0, tokens_.size(), ""); }

 private:
  void scope(size_t begin, size_t end, const std::string& prefix) {
    size_t head = begin;
    for (size_t i = begin; i < end; ++i) {
      if (is(tokens_[i], ";") || is(tokens_[i], "}")) {
        head = i + 1;
      }
      if (is(tokens_[i], ":") && i > begin && is_access(tokens_[i - 1])) {
        head = i + 1;
      }
      if (is(tokens_[i], "(") && partner_[i] != kNone) {
        i = partner_[i];
      }
      if (!is(tokens_[i], "{") || partner_[i] == kNone) {
        continue;
      }
      block(head, i, prefix);
      i = partner_[i];
      head = i + 1;
    }
  }

  static bool is_access(const Token& token) {
    return is(token, "public") || is(token, "private") || is(token, "protected");
  }

  /// Handles the block that opens at `open`; its declaration begins at `head`.
  void block(size_t head, size_t open, const std::string& prefix) {
    const size_t name = function_name(head, open);
    if (name != kNone) {
      ScannedFunction function{
          .name = prefix + std::string(tokens_[name].text),
          .file = file_,
          .line = tokens_[name].line,
          .calls = {},
          .returns = type_of(tokens_, head, name),
          .parameters = types_of_parameters(tokens_, name + 1, partner_[name + 1]),
          .leaves_to = {}};
      Body(tokens_, partner_, into_, function).walk(open + 1, partner_[open], LoopKind::kNone);
      into_.functions.push_back(std::move(function));
      return;
    }
    for (size_t i = head; i < open; ++i) {
      const bool names = is(tokens_[i], "namespace") || is(tokens_[i], "class") ||
                         is(tokens_[i], "struct") || is(tokens_[i], "union");
      if (!names && !is(tokens_[i], "extern")) {
        continue;
      }
      const bool named = names && i + 1 < open && tokens_[i + 1].name;
      return scope(open + 1, partner_[open],
                   named ? prefix + std::string(tokens_[i + 1].text) + "::" : prefix);
    }
    // The initialiser of a table: calls to the functions in it are not visible.
    for (size_t i = open + 1; i < partner_[open]; ++i) {
      if (tokens_[i].name) {
        into_.passed_on.insert(std::string(last_part(tokens_[i].text)));
        into_.in_tables.insert(std::string(last_part(tokens_[i].text)));
      }
    }
  }

  /// The token of the name in `type name(parameters) const {`; kNone if this is not a function.
  size_t function_name(size_t head, size_t open) const {
    for (size_t i = head; i + 1 < open; ++i) {
      if (is(tokens_[i], "=")) {
        return kNone;
      }
      if (!is(tokens_[i + 1], "(")) {
        continue;
      }
      if (!tokens_[i].name || partner_[i + 1] == kNone || partner_[i + 1] > open) {
        return kNone;
      }
      if (!is_keyword(tokens_[i].text) && !is_attribute(i)) {
        return i;
      }
      i = partner_[i + 1];
    }
    return kNone;
  }

  /// Whether this is the macro in `ATTRIBUTE(x) type name(...)` or `RETURNS(type) name(...)`.
  bool is_attribute(size_t i) const {
    static const std::set<std::string_view> behind = {"const",    "noexcept", "override",
                                                      "final",    "volatile", "throw",
                                                      "requires", "try",      "mutable"};
    const size_t close = partner_[i + 1];
    return close + 2 < tokens_.size() && tokens_[close + 1].name &&
           (tokens_[close + 2].name || is(tokens_[close + 2], "(")) &&
           !behind.contains(tokens_[close + 1].text);
  }

  const Tokens tokens_;
  const std::vector<size_t> partner_;
  const std::string file_;
  ScannedSource& into_;
};

bool is_source(const fs::path& path) {
  static const std::set<std::string> endings = {".c", ".cc", ".cpp", ".cxx", ".C",
                                                ".h", ".hh", ".hpp", ".hxx"};
  // `shell.c.in` becomes shell.c during the build.
  const fs::path name = path.extension() == ".in" ? path.stem() : path;
  return endings.contains(name.extension().string());
}

}  // namespace

void scan_text(std::string_view text, const std::string& file, ScannedSource& into) {
  ++into.files;
  File(text, file, into).run();
}

bool may_mean(std::string_view name, const ScannedFunction& function) {
  const auto ends_with = [](std::string_view whole, std::string_view part) {
    return whole == part || (whole.size() > part.size() + 2 && whole.ends_with(part) &&
                             whole[whole.size() - part.size() - 1] == ':');
  };
  name = name.substr(0, name.find('@'));
  if (ends_with(function.name, name)) {
    return true;
  }
  const size_t scope = name.find("::");
  return scope != std::string_view::npos && name.find("::", scope + 2) != std::string_view::npos &&
         ends_with(function.name, name.substr(scope + 2));
}

bool is_auxiliary(const std::string& file) {
  static const std::set<std::string_view> words = {
      "test",       "tests",   "testing", "unittest", "unittests", "bench",      "benchmark",
      "benchmarks", "example", "contrib", "vendor",   "examples",  "thirdparty", "doc",
      "docs",       "deps",    "winnt",   "win32",    "windows",   "netware",    "os2",
      "fuzz",       "fuzzing", "fuzzer",  "tools",    "sample",    "samples"};
  if (file.find("third_party") != std::string::npos ||
      file.find("third-party") != std::string::npos) {
    return true;
  }
  const std::string_view rest = file;
  for (size_t begin = 0; begin < rest.size();) {
    const size_t end = std::min(rest.find_first_of("/_-.", begin), rest.size());
    if (words.contains(rest.substr(begin, end - begin))) {
      return true;
    }
    begin = end + 1;
  }
  return false;
}

ScannedSource scan_tree(const fs::path& root) {
  std::vector<fs::path> files;
  std::error_code error;
  using Iterator = fs::recursive_directory_iterator;
  for (Iterator it(root, fs::directory_options::skip_permission_denied, error), end;
       !error && it != end; it.increment(error)) {
    const fs::path& path = it->path();
    const bool hidden = path.filename().string().starts_with(".");
    if (it->is_directory(error) && (hidden || is_build_tree(path))) {
      it.disable_recursion_pending();
    }
    if (it->is_regular_file(error) && is_source(path)) {
      files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  ScannedSource source;
  for (const fs::path& file : files) {
    const auto text = read_file(file);
    if (text) {
      scan_text(*text, file.lexically_relative(root).string(), source);
    }
  }
  return source;
}

}  // namespace vprof::driver
