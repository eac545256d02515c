#include "vprof/instrumenter/plan.h"

#include <algorithm>
#include <cctype>

#include "program/plan_json.h"
#include "vprof/support/files.h"
#include "vprof/support/json.h"

namespace vprof::instrumenter {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool skip(std::string_view& rest, std::string_view prefix) {
  const bool found = rest.starts_with(prefix);
  rest.remove_prefix(found ? prefix.size() : 0);
  return found;
}

/// Skips letters, digits and underscores; false if there are none.
bool skip_word(std::string_view& rest) {
  const auto end = std::find_if_not(rest.begin(), rest.end(), is_word);
  const bool found = end != rest.begin();
  rest.remove_prefix(static_cast<size_t>(end - rest.begin()));
  return found;
}

/// `->field`, `.field` or `[N]`: nothing whose evaluation could have an effect.
bool skip_member(std::string_view& rest) {
  if (skip(rest, "[")) {
    return skip_word(rest) && skip(rest, "]");
  }
  return (skip(rest, "->") || skip(rest, ".")) && skip_word(rest);
}

bool is_member_access(std::string_view suffix) {
  while (!suffix.empty()) {
    if (!skip_member(suffix)) {
      return false;
    }
  }
  return true;
}

}  // namespace

Result<Value> parse_value(const std::string& text) {
  Value value;
  value.text = text;
  if (text == "thread") {
    value.base = Value::Base::kThread;
    return value;
  }
  std::string_view rest = text;
  value.dereferenced = skip(rest, "*");
  if (skip(rest, "return")) {
    value.base = Value::Base::kReturn;
  } else if (skip(rest, "this")) {
    value.base = Value::Base::kThis;
  } else if (skip(rest, "arg:") && !rest.empty() && is_digit(rest[0])) {
    for (; !rest.empty() && is_digit(rest[0]); rest.remove_prefix(1)) {
      value.argument = value.argument * 10 + static_cast<unsigned>(rest[0] - '0');
    }
  } else {
    return fail(
        "\"{}\" is not a value; write arg:N, return or this, optionally followed by ->field, "
        ".field or [0], or write thread",
        text);
  }
  if (!is_member_access(rest)) {
    return fail("\"{}\" is not a value; only ->field, .field and [0] may follow \"{}\"", text,
                text.substr(0, text.size() - rest.size()));
  }
  value.suffix = rest;
  return value;
}

Result<At> at_of(const std::string& word) { return json::read<At>(word); }

Result<SyncRole> role_of(const std::string& word) { return json::read<SyncRole>(word); }

const char* role_name(SyncRole role) {
  return json::Words<SyncRole>::kWords.at(static_cast<size_t>(role));
}

Result<Plan> load_plan(const std::string& path) {
  const auto text = VPROF_TRY(read_file(path));
  const json::Json document = parse_json(text);
  if (document.is_discarded()) {
    return fail("{}: not JSON; let vprof write it", path);
  }
  auto plan = json::read<Plan>(document);
  if (!plan) {
    return fail("{}: {}", path, plan.error().message);
  }
  return plan;
}

Result<void> save_plan(const Plan& plan, const std::string& path) {
  return write_file_atomic(path, json_text(json::write(plan)) + "\n");
}

}  // namespace vprof::instrumenter
