#include "discovery/scan/source_scan.h"

#include <algorithm>

#include "discovery/scan/body_scan.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

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

  void run() {
    const fs::path path = file_;
    const std::string ending =
        path.extension() == ".in" ? path.stem().extension() : path.extension();
    header_ = ending.starts_with(".h");
    const bool in_include =
        std::any_of(path.begin(), path.end(), [](const auto& part) { return part == "include"; });
    const bool shown = header_ && in_include;
    scope(0, tokens_.size(), {.prefix = "", .exported = shown, .shown = shown});
  }

 private:
  struct Scope {
    std::string prefix;
    bool exported = false;  ///< whether what it declares in public is for the users of a library
    bool shown = false;     ///< whether that holds at the current place
  };

  void scope(size_t begin, size_t end, Scope in) {
    size_t head = begin;
    for (size_t i = begin; i < end; ++i) {
      if (is(tokens_[i], ";")) {
        declaration(head, i, in);
      }
      if (is(tokens_[i], ";") || is(tokens_[i], "}")) {
        head = i + 1;
      }
      if (is(tokens_[i], ":") && i > begin && is_access(tokens_[i - 1])) {
        in.shown = in.exported && is(tokens_[i - 1], "public");
        head = i + 1;
      }
      if (is(tokens_[i], "(") && partner_[i] != kNoToken) {
        i = partner_[i];
      }
      if (!is(tokens_[i], "{") || partner_[i] == kNoToken) {
        continue;
      }
      block(head, i, in);
      i = partner_[i];
      head = i + 1;
    }
  }

  static bool is_access(const Token& token) {
    return is(token, "public") || is(token, "private") || is(token, "protected");
  }

  /// Whether a macro like `LIB_API` is among the tokens.
  bool is_exported(size_t begin, size_t end) const {
    return std::any_of(tokens_.begin() + static_cast<ptrdiff_t>(begin),
                       tokens_.begin() + static_cast<ptrdiff_t>(end), [](const Token& token) {
                         const std::string_view name = token.text;
                         return name.ends_with("_API") || name.ends_with("_EXPORT") ||
                                name.ends_with("_EXTERN") || name.ends_with("_PUBLIC");
                       });
  }

  /// Notes what a public header declares in the tokens before a semicolon.
  void declaration(size_t head, size_t end, const Scope& in) {
    if (!header_ || end < head + 2 || is(tokens_[head], "typedef") || is(tokens_[head], "friend")) {
      return;
    }
    const size_t name = function_name(head, end);
    if (name != kNoToken && name > head && (in.shown || is_exported(head, name))) {
      into_.interface.emplace(short_name(in.prefix + std::string(tokens_[name].text)), file_);
    }
  }

  /// Handles the block that opens at `open`; its declaration begins at `head`.
  void block(size_t head, size_t open, const Scope& in) {
    const size_t name = function_name(head, open);
    if (name != kNoToken) {
      ScannedFunction function{
          .name = in.prefix + std::string(tokens_[name].text),
          .file = file_,
          .line = tokens_[name].line,
          .calls = {},
          .returns = type_of(tokens_, head, name),
          .parameters = types_of_parameters(tokens_, name + 1, partner_[name + 1]),
          .leaves_to = {},
          .passes = {}};
      scan_body(tokens_, partner_, open + 1, partner_[open], into_, function);
      into_.functions.push_back(std::move(function));
      return;
    }
    int angles = 0;  // `template <class T>` names no class
    for (size_t i = head; i < open && !is(tokens_[open - 1], "="); ++i) {
      angles += is(tokens_[i], "<") ? 1 : is(tokens_[i], ">") ? -1 : 0;
      const bool type =
          is(tokens_[i], "class") || is(tokens_[i], "struct") || is(tokens_[i], "union");
      if (is(tokens_[i], "extern")) {
        // In a header that C++ may include as well as C: for the users of a library.
        return scope(open + 1, partner_[open], {in.prefix, header_, header_});
      }
      if (is(tokens_[i], "namespace")) {
        return scope(open + 1, partner_[open], named_space(i, in));
      }
      if (angles == 0 && type) {
        return scope(open + 1, partner_[open], named_type(i, open, in));
      }
    }
    initialiser(head, open);
  }

  Scope named_space(size_t at, const Scope& in) const {
    Scope inner = in;
    inner.prefix += tokens_[at + 1].name ? std::string(tokens_[at + 1].text) + "::" : "";
    return inner;
  }

  /// The scope of the class in the tokens from `class` on. Notes its bases.
  Scope named_type(size_t at, size_t open, const Scope& in) {
    const bool exported = header_ && (in.shown || is_exported(at, open));
    Scope inner{in.prefix, exported, exported && !is(tokens_[at], "class")};
    std::string name;
    int angles = 0;
    size_t i = at + 1;
    for (; i < open && !is(tokens_[i], ":"); ++i) {
      angles += is(tokens_[i], "<") ? 1 : is(tokens_[i], ">") ? -1 : 0;
      if (tokens_[i].name && angles == 0 && !is(tokens_[i], "final")) {
        name = tokens_[i].text;
      }
    }
    for (; i < open && !name.empty(); ++i) {
      if (tokens_[i].name && !is_access(tokens_[i]) && !is(tokens_[i], "virtual")) {
        into_.bases[std::string(last_part(name))].insert(std::string(last_part(tokens_[i].text)));
      }
    }
    inner.prefix += name.empty() ? "" : name + "::";
    return inner;
  }

  /// Calls to the functions in an initialiser are not visible.
  void initialiser(size_t head, size_t open) {
    const auto begin = tokens_.begin() + static_cast<ptrdiff_t>(head);
    const auto end = tokens_.begin() + static_cast<ptrdiff_t>(open);
    const bool table = std::any_of(begin, end, [](const Token& token) { return is(token, "["); });
    for (size_t i = open + 1; i < partner_[open]; ++i) {
      if (!tokens_[i].name) {
        continue;
      }
      into_.passed_on.insert(std::string(last_part(tokens_[i].text)));
      if (table) {
        into_.in_tables.insert(std::string(last_part(tokens_[i].text)));
      }
    }
  }

  /// The token of the name in `type name(parameters) const {`; kNoToken if this is not a function.
  size_t function_name(size_t head, size_t open) const {
    for (size_t i = head; i + 1 < open; ++i) {
      if (is(tokens_[i], "=")) {
        return kNoToken;
      }
      if (!is(tokens_[i + 1], "(")) {
        continue;
      }
      if (!tokens_[i].name || partner_[i + 1] == kNoToken || partner_[i + 1] > open) {
        return kNoToken;
      }
      if (!is_keyword(tokens_[i].text) && !is_attribute(i)) {
        return i;
      }
      i = partner_[i + 1];
    }
    return kNoToken;
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
  bool header_ = false;
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

std::string short_name(const std::string& name) {
  const size_t last = name.rfind("::");
  const size_t before = last == std::string::npos || last == 0 ? last : name.rfind("::", last - 1);
  return before == std::string::npos ? name : name.substr(before + 2);
}

bool may_mean(std::string_view name, const ScannedFunction& function) {
  const auto ends_with = [](std::string_view whole, std::string_view part) {
    return whole == part || (whole.size() > part.size() + 2 && whole.ends_with(part) &&
                             whole[whole.size() - part.size() - 1] == ':');
  };
  const size_t at = name.find('@');
  if (at != std::string_view::npos) {
    const std::string_view place = name.substr(at + 1);
    if (place.substr(0, place.find(':')) != function.file) {
      return false;
    }
    name = name.substr(0, at);
  }
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
      "fuzz",       "fuzzing", "fuzzer",  "tools",    "sample",    "samples",    "perf",
      "win",        "win64",   "vms",     "testcode", "regress"};
  if (file.find("third_party") != std::string::npos ||
      file.find("third-party") != std::string::npos) {
    return true;
  }
  const std::string_view rest = file;
  for (size_t begin = 0; begin < rest.size();) {
    const size_t end = std::min(rest.find_first_of("/_-.", begin), rest.size());
    const std::string_view word = rest.substr(begin, end - begin);
    // `test3.c`, and the directory `t` of Perl.
    const bool numbered = word.starts_with("test") && word.size() > 4 &&
                          word.find_first_not_of("0123456789", 4) == std::string_view::npos;
    const bool perl = word == "t" && end < rest.size() && rest[end] == '/';
    if (numbered || perl || words.contains(word)) {
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
