#include "rewrite/plan.h"

#include <fmt/format.h>

#include <cctype>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "vprof/support/files.h"

namespace vprof::instrumenter {
namespace {

using nlohmann::json;

/// Thrown inside this file only, caught in load_plan.
struct PlanError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

bool is_member_access(std::string_view suffix) {
  // Only what cannot have an effect: names, ->, ., and constant subscripts.
  for (const char c : suffix) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 &&
        std::string_view("_->.[]").find(c) == std::string_view::npos) {
      return false;
    }
  }
  return suffix.empty() || suffix[0] == '-' || suffix[0] == '.' || suffix[0] == '[';
}

Value parse_value(const std::string& text) {
  Value value;
  value.text = text;
  value.is_thread = text == "thread";
  if (value.is_thread) {
    return value;
  }
  std::string_view rest = text;
  if (!rest.empty() && rest[0] == '*') {
    value.dereferenced = true;
    rest.remove_prefix(1);
  }
  if (rest.substr(0, 6) == "return") {
    value.is_return = true;
    rest.remove_prefix(6);
  } else if (rest.substr(0, 4) == "this") {
    value.is_this = true;
    rest.remove_prefix(4);
  } else if (rest.substr(0, 4) == "arg:" && rest.size() > 4 &&
             std::isdigit(static_cast<unsigned char>(rest[4])) != 0) {
    rest.remove_prefix(4);
    while (!rest.empty() && std::isdigit(static_cast<unsigned char>(rest[0])) != 0) {
      value.argument = value.argument * 10 + static_cast<unsigned>(rest[0] - '0');
      rest.remove_prefix(1);
    }
  } else {
    throw PlanError(
        fmt::format("\"{}\" is not a value: write arg:N, return or this, with ->field, .field or "
                    "[0] behind it, "
                    "or thread",
                    text));
  }
  if (!is_member_access(rest)) {
    throw PlanError(
        fmt::format("\"{}\" is not a value: only ->field, .field and [0] may stand behind \"{}\"",
                    text, text.substr(0, text.size() - rest.size())));
  }
  value.suffix = rest;
  return value;
}

IntervalPoint parse_point(const json& in, const char* value_key) {
  IntervalPoint point;
  point.function = in.at("function");
  const std::string at = in.value("at", "entry");
  if (at != "entry" && at != "exit") {
    throw PlanError(fmt::format("\"at\": \"{}\" is neither \"entry\" nor \"exit\"", at));
  }
  point.at = at == "exit" ? At::kExit : At::kEntry;
  point.value = parse_value(in.at(value_key));
  if (std::string(value_key) != "key" && in.contains("key")) {
    point.has_key = true;
    point.key = parse_value(in.at("key"));
  }
  return point;
}

std::vector<IntervalPoint> parse_points(const json& interval, const char* name,
                                        const char* value_key) {
  std::vector<IntervalPoint> points;
  for (const json& in : interval.value(name, json::array())) {
    points.push_back(parse_point(in, value_key));
  }
  return points;
}

IntervalPlan parse_interval(const json& in) {
  IntervalPlan interval;
  interval.index = in.at("index");
  interval.name = in.at("name");
  interval.function = in.value("function", "");
  interval.begin = parse_points(in, "begin", "key");
  interval.end = parse_points(in, "end", "key");
  interval.switches = parse_points(in, "switch", "key");
  interval.labels = parse_points(in, "label", "value");
  return interval;
}

SyncPlan parse_sync(const json& in) {
  SyncPlan sync;
  sync.index = in.at("index");
  sync.function = in.at("function");
  const std::string role = in.at("role");
  bool known = false;
  for (const SyncRole r :
       {SyncRole::kAcquire, SyncRole::kRelease, SyncRole::kEnqueue, SyncRole::kDequeue}) {
    if (role != role_name(r)) {
      continue;
    }
    sync.role = r;
    known = true;
  }
  if (!known) {
    throw PlanError(fmt::format("role \"{}\" is unknown", role));
  }
  const bool is_task = sync.role == SyncRole::kEnqueue || sync.role == SyncRole::kDequeue;
  sync.value = parse_value(in.at(is_task ? "task" : "object"));
  sync.shared = in.value("shared", false);
  return sync;
}

std::set<std::string> strings(const json& in, const char* name) {
  return in.value(name, json::array()).get<std::set<std::string>>();
}

}  // namespace

const char* role_name(SyncRole role) {
  switch (role) {
    case SyncRole::kAcquire:
      return "acquire";
    case SyncRole::kRelease:
      return "release";
    case SyncRole::kEnqueue:
      return "enqueue";
    case SyncRole::kDequeue:
      return "dequeue";
  }
  return "";
}

Result<Plan> load_plan(const std::string& path) {
  const auto text = VPROF_TRY(read_file(path));
  try {
    const json document = json::parse(text);
    Plan plan;
    plan.all = document.value("all", false);
    plan.expanded = strings(document, "expanded");
    plan.measured = strings(document, "measured");
    plan.demoted = strings(document, "demoted");
    for (const std::string& glob : strings(document, "exclude")) {
      plan.exclude.push_back(glob);
    }
    for (const json& in : document.value("intervals", json::array())) {
      plan.intervals.push_back(parse_interval(in));
    }
    for (const json& in : document.value("sync", json::array())) {
      plan.sync.push_back(parse_sync(in));
    }
    return plan;
  } catch (const json::exception& e) {
    return fail("{}: {}", path, e.what());
  } catch (const PlanError& e) {
    return fail("{}: {}", path, e.what());
  }
}

Result<std::string> value_text(const Value& value, const Function& f) {
  if (value.is_thread) {
    return "VPROF_THREAD_KEY";
  }
  if (value.is_return) {
    return fail("\"{}\" of {} is known only when it returns", value.text, f.name);
  }
  std::string base = "this";
  if (value.is_this && !f.is_method) {
    return fail("\"{}\": {} ({}:{}) is not a method", value.text, f.name, f.file, f.line);
  }
  if (!value.is_this) {
    if (value.argument >= f.params.size()) {
      return fail("\"{}\": {} ({}:{}) has {} parameters, counted from arg:0", value.text, f.name,
                  f.file, f.line, f.params.size());
    }
    base = f.params[value.argument];
    if (base.empty()) {
      return fail("\"{}\": that parameter of {} ({}:{}) has no name", value.text, f.name, f.file,
                  f.line);
    }
  }
  return fmt::format("{}({}){}", value.dereferenced ? "*" : "", base, value.suffix);
}

}  // namespace vprof::instrumenter
