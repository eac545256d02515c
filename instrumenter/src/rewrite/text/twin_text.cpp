#include "rewrite/text/twin_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

#include "rewrite/text/head.h"

namespace vprof::instrumenter {
namespace {

constexpr const char* kSuffix = "_vprof_measured";
constexpr const char* kOwnNames[] = {"__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"};

/// The word of a line that is a directive, else "". `# 12 "file"` has the word 12.
std::string_view directive_in(std::string_view line) {
  const size_t hash = line.find_first_not_of(" \t");
  if (hash == std::string_view::npos || line[hash] != '#') {
    return "";
  }
  line.remove_prefix(hash + 1);
  const size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  const size_t end = std::min(line.find_first_of(" \t\r/", begin), line.size());
  return line.substr(begin, end - begin);
}

/// Calls `visit` with each directive's word, and the offset of the line, until it returns false.
/// Returns whether it never did.
bool all_directives(std::string_view text,
                    const std::function<bool(std::string_view, size_t)>& visit) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view word = directive_in(text.substr(begin, end - begin));
    if (!word.empty() && !visit(word, begin)) {
      return false;
    }
    begin = end + 1;
  }
  return true;
}

/// Whether a second reading of the text takes the same branches and changes no macro.
/// @param harmless words of other directives that may be there
bool has_only_conditions(std::string_view text, const std::set<std::string_view>& harmless = {}) {
  int depth = 0;
  const bool all = all_directives(text, [&](std::string_view word, size_t) {
    if (word.starts_with("if")) {
      ++depth;
      return true;
    }
    if (harmless.contains(word)) {
      return true;
    }
    const bool is_inside = depth > 0;
    depth -= word == "endif" ? 1 : 0;
    return is_inside && (word == "endif" || word.starts_with("el"));
  });
  return all && depth == 0;
}

bool is_in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

uint32_t line_at(const std::string& text, uint32_t offset) {
  return static_cast<uint32_t>(std::count(text.begin(), text.begin() + offset, '\n')) + 1;
}

/// The directive that says which line of which file the text at `begin` is. Nothing: a directive
/// between there and `end` names another file, and none before it says which file this is.
std::optional<std::string> line_directive_at(const std::string& text, uint32_t begin,
                                             uint32_t end_of_text) {
  uint32_t since = 0;  // begin of the line behind the last directive, whose number is `number`
  uint64_t number = 1;
  std::string file;
  const bool all = all_directives(text, [&](std::string_view word, size_t at) {
    const bool numbered = std::isdigit(static_cast<unsigned char>(word[0])) != 0;
    if (word != "line" && !numbered) {
      return true;
    }
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    const size_t digits = line.find_first_of("0123456789");
    const size_t quote = line.find('"');
    if (at >= begin) {
      return at >= end_of_text || quote == std::string::npos || !file.empty();
    }
    if (digits == std::string::npos || digits > quote) {
      return false;  // a macro
    }
    number = std::strtoull(line.c_str() + digits, nullptr, 10);
    since = static_cast<uint32_t>(end) + 1;
    file = quote == std::string::npos ? file : line.substr(quote, line.rfind('"') + 1 - quote);
    return true;
  });
  if (!all) {
    return std::nullopt;
  }
  number += static_cast<uint64_t>(std::count(text.begin() + since, text.begin() + begin, '\n'));
  return fmt::format("#line {}{}{}", number, file.empty() ? "" : " ", file);
}

/// The words of a text.
struct Word {
  std::string_view text;
  uint32_t end = 0;
};

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is_in_word(text[end])) {
      ++end;
    }
    if (end > at) {
      words.push_back({text.substr(at, end - at), static_cast<uint32_t>(end)});
    }
    at = end + 1;
  }
  return words;
}

/// Where the names of labels end that only a compiler sees which takes other branches of `#if` than
/// Clang. Nothing: such a name stands for something else as well.
std::optional<std::vector<uint32_t>> ends_of_other_labels(const Function& f,
                                                          std::string_view body) {
  const std::vector<Word> words = words_of(body);
  const auto is_target = [&](const Word& word) {
    return &word != words.data() && std::prev(&word)->text == "goto";
  };
  const auto is_label = [&](const Word& word) {
    const size_t next = std::min(body.find_first_not_of(" \t", word.end), body.size());
    return body.substr(next, 1) == ":" && body.substr(next, 2) != "::";
  };
  std::set<std::string_view> targets;
  std::set<std::string_view> labels;
  for (const Word& word : words) {
    if (is_target(word) && !f.labels.contains(std::string(word.text))) {
      targets.insert(word.text);
    }
  }
  for (const Word& word : words) {
    if (targets.contains(word.text) && is_label(word)) {
      labels.insert(word.text);
    }
  }
  std::vector<uint32_t> ends;
  for (const Word& word : words) {
    if (labels.contains(word.text)) {
      if (!is_target(word) && !is_label(word)) {
        return std::nullopt;
      }
      ends.push_back(word.end);
    }
  }
  return ends;
}

std::set<std::string> macros_changed_in(const std::string& text) {
  std::set<std::string> names;
  all_directives(text, [&](std::string_view word, size_t at) {
    if (word == "define" || word == "undef") {
      const size_t begin = text.find_first_not_of(" \t", text.find(word, at) + word.size());
      size_t end = std::min(begin, text.size());
      while (end < text.size() && is_in_word(text[end])) {
        ++end;
      }
      names.insert(text.substr(std::min(begin, text.size()), end - begin));
    }
    return true;
  });
  return names;
}

const char* attributes(const Function& f, bool has_sites) {
  return has_sites && !f.is_inline ? "VPROF_TWIN" : "VPROF_COPY";
}

std::string name_of(const Function& f, const std::string& text) {
  return text.substr(f.name_begin, f.name_end - f.name_begin);
}

/// `text` from `begin` to `end`, with the edits that are in it.
std::string edited(const std::string& text, uint32_t begin, uint32_t end, std::vector<Edit> edits) {
  for (Edit& edit : edits) {
    edit.begin -= begin;
    edit.end -= begin;
  }
  return apply_edits(text.substr(begin, end - begin), edits);
}

}  // namespace

bool has_line_directives(const std::string& text) {
  return !all_directives(text, [](std::string_view word, size_t) {
    return word != "line" && std::isdigit(static_cast<unsigned char>(word[0])) == 0;
  });
}

Conditions::Conditions(const std::string& text) {
  int depth = 0;
  depth_[0] = 0;
  all_directives(text, [&](std::string_view word, size_t at) {
    depth += word.starts_with("if") ? 1 : word == "endif" ? -1 : 0;
    depth_[static_cast<uint32_t>(at)] = depth;
    return true;
  });
  // The first directive opens what the last one closes, and no code is outside.
  const auto first = std::next(depth_.begin());
  const auto is_code = [&](size_t begin, size_t end) {
    return text.substr(begin, end - begin).find_first_of(";}") != std::string::npos;
  };
  const bool guarded =
      depth == 0 && first != depth_.end() && !is_code(0, first->first) &&
      !is_code(std::prev(depth_.end())->first, text.size()) && first->second == 1 &&
      std::all_of(first, std::prev(depth_.end()), [](const auto& d) { return d.second > 0; });
  if (guarded) {
    for (auto& [at, inside] : depth_) {
      inside -= inside > 0 ? 1 : 0;
    }
  }
}

bool Conditions::hold_always_at(uint32_t offset) const {
  return std::prev(depth_.upper_bound(offset))->second == 0;
}

bool can_be_copied(const Function& f, const std::string& text) {
  if (f.is_cxx || f.unique || f.coroutine || f.body <= f.head_begin || text[f.body - 1] != '{' ||
      name_of(f, text) != f.name || std::ranges::find(f.params, "") != f.params.end()) {
    return false;
  }
  const auto head = on_one_line(text.substr(f.head_begin, f.body - 1 - f.head_begin));
  return head && !head->ends_with(';') && head->find('{') == std::string::npos &&
         has_only_conditions(std::string_view(text).substr(f.body, f.body_end - f.body));
}

bool body_can_be_copied(const Function& f, const std::string& text) {
  if (!f.is_cxx || f.unique || f.coroutine || f.body == 0 || text[f.body - 1] != '{' ||
      text[f.body_end - 1] != '}') {
    return false;
  }
  const std::string_view body = std::string_view(text).substr(f.body, f.body_end - f.body);
  return has_only_conditions(body, {"line", "define", "undef"}) &&
         line_directive_at(text, f.body, f.body_end) && ends_of_other_labels(f, body);
}

std::optional<uint32_t> end_of_callee(const Call& call, const std::string& name,
                                      const std::string& text) {
  const size_t at = text.find(name, call.begin);
  const size_t end = at + name.size();
  if (!call.macro.empty() || at == std::string::npos || end >= call.end ||
      text.find('"', call.begin) < at || is_in_word(text[end]) ||
      (at > 0 && (is_in_word(text[at - 1]) || text[at - 1] == '.' || text[at - 1] == '>'))) {
    return std::nullopt;
  }
  const size_t next = text.find_first_not_of(" \t\n", end);
  return next < call.end && text[next] == '(' ? std::optional(static_cast<uint32_t>(end))
                                              : std::nullopt;
}

std::vector<Edit> twin_edits(const Function& f, bool has_sites, std::optional<uint32_t> gate,
                             std::vector<Edit> within, const std::vector<CallOfCopy>& calls,
                             const std::string& text) {
  const auto rename = [&](uint32_t name_end) {
    within.push_back({name_end, name_end, kSuffix, ""});
  };
  std::string before;
  std::string after;
  std::string asked;  // for -Wunused-macros
  for (const char* word : kOwnNames) {
    before += fmt::format("#define {} \"{}\"\n", word, name_of(f, text));
    asked += fmt::format("{}defined {}", asked.empty() ? "" : " && ", word);
    after += fmt::format("#undef {}\n", word);
  }
  before += fmt::format("#if {}\n#endif\n", asked);
  for (const CallOfCopy& call : calls) {
    rename(call.name_end);
    if (call.callee->head_begin > f.head_begin) {
      before += fmt::format("{1} static __typeof__({0}) {0}{2};\n", call.callee->name,
                            attributes(*call.callee, call.has_sites), kSuffix);
    }
  }
  rename(f.name_end);
  const std::string copy = edited(text, f.head_begin, f.body_end, std::move(within));
  std::vector<Edit> edits;
  edits.push_back(
      {f.body_end, f.body_end,
       fmt::format("\nVPROF_TWIN_BEGIN\n{}#line {}\n{} {}\n{}VPROF_TWIN_END\n#line {}\n", before,
                   line_at(text, f.head_begin), gate ? "" : attributes(f, has_sites), copy, after,
                   line_at(text, f.body_end)),
       ""});
  if (gate) {
    const std::string call =
        fmt::format("{}{}({})", name_of(f, text), kSuffix, fmt::join(f.params, ", "));
    const auto declaration =
        on_one_line(text.substr(f.head_begin, f.name_end - f.head_begin) + kSuffix +
                    text.substr(f.name_end, f.body - 1 - f.name_end));
    edits.push_back({f.head_begin, f.head_begin,
                     fmt::format("VPROF_TWIN_BEGIN {} {}; VPROF_TWIN_END ",
                                 attributes(f, has_sites), declaration.value_or("")),
                     ""});
    edits.push_back({f.body, f.body,
                     fmt::format(" VPROF_GATE({}) {{ {} }} {{", *gate,
                                 f.returns_void ? fmt::format("{}; return;", call)
                                                : fmt::format("return {};", call)),
                     ""});
    edits.push_back({f.body_end - 1, f.body_end - 1, "}", ""});
  }
  return edits;
}

std::vector<Edit> body_twin_edits(const Function& f, uint32_t gate, std::vector<Edit> within,
                                  const std::string& text) {
  const std::string line = line_directive_at(text, f.body, f.body_end).value_or("");
  const uint32_t close = f.body_end - 1;
  const auto others =
      ends_of_other_labels(f, std::string_view(text).substr(f.body, close - f.body));
  for (const uint32_t end : others.value_or(std::vector<uint32_t>())) {
    within.push_back({f.body + end, f.body + end, kSuffix, ""});
  }
  // The original is read with the macros that its copy was read with.
  std::string before;
  std::string after;
  for (const std::string& macro : macros_changed_in(text.substr(f.body, close - f.body))) {
    before += fmt::format("#pragma push_macro(\"{}\")\n", macro);
    after += fmt::format("#pragma pop_macro(\"{}\")\n", macro);
  }
  const std::string labels =
      f.labels.empty() ? "" : fmt::format(" __label__ {};", fmt::join(f.labels, ", "));
  return {{f.body, f.body,
           fmt::format(" VPROF_BODY_GATE({}) {{\n{}VPROF_TWIN_BEGIN\n{{{}\n{}\n{}\n}}\n"
                       "VPROF_TWIN_END\n{}}} else {{\n{}\n",
                       gate, before, labels, line, edited(text, f.body, close, std::move(within)),
                       after, line),
           ""},
          {close, close, "}", ""}};
}

}  // namespace vprof::instrumenter
