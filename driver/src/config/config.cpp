#include "config/config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <thread>

#include "config/config_reader.h"
#include "vprof/support/json.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

using Keys = std::vector<std::string>;

const Keys top_keys = {"source",  "configure",        "build",     "run",
                       "env",     "compile_commands", "intervals", "sync",
                       "factors", "exclude",          "record",    "max_iterations",
                       "jobs",    "overhead_budget"};
const Keys factor_keys = {"k", "threshold", "specificity", "dominance"};
const Keys record_keys = {"leave_out", "ring_mb", "max_mb"};
const Keys interval_keys = {"name", "function", "begin", "end", "switch", "label"};
const Keys point_keys = {"function", "at", "key"};
const Keys label_keys = {"function", "at", "value"};
const Keys role_keys = {"acquire", "release", "enqueue", "dequeue"};
const Keys object_keys = {"function", "object", "shared"};
const Keys task_keys = {"function", "task"};

bool is_task(const std::string& role) { return role == "enqueue" || role == "dequeue"; }

/// `*`? (`arg:N` | `return`) followed by `->field`, `.field` or `[N]`, as in docs/formats.md.
bool is_value(std::string_view text) {
  const auto word = [&text] {
    size_t n = 0;
    while (n < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[n])) || text[n] == '_')) {
      ++n;
    }
    text.remove_prefix(n);
    return n > 0;
  };
  const auto token = [&text](std::string_view wanted) {
    const bool found = text.substr(0, wanted.size()) == wanted;
    if (found) {
      text.remove_prefix(wanted.size());
    }
    return found;
  };
  while (token("*")) {
  }
  if (token("arg:")) {
    if (text.empty() || !std::isdigit(static_cast<unsigned char>(text[0])) || !word()) {
      return false;
    }
  } else if (!token("return")) {
    return false;
  }
  while (!text.empty()) {
    const bool index = token("[");
    if (!index && !token("->") && !token(".")) {
      return false;
    }
    if (!word() || (index && !token("]"))) {
      return false;
    }
  }
  return true;
}

/// `or_thread`: a request may also be known by the thread that does all of it.
std::string checked_value(ObjectReader& reader, const std::string& key,
                          const std::string& otherwise, bool or_thread = false) {
  const std::string value = reader.text(key, otherwise);
  if (!is_value(value) && !(or_thread && value == "thread")) {
    reader.report(key, fmt::format("\"{}\" must be a value such as \"arg:0\", \"return\" or "
                                   "\"arg:1->field\", not \"{}\"",
                                   key, value));
  }
  return value;
}

std::string checked_function(ObjectReader& reader) {
  reader.require("function", "give the name of a function of the program");
  std::string name = reader.text("function");
  if (reader.has("function") && name.empty()) {
    reader.report("function", "\"function\" must not be empty");
  }
  return name;
}

Point read_point(ReadState& state, const std::string& path, const nlohmann::json& value, bool label,
                 const std::string& default_at) {
  ObjectReader reader(state, value, path, label ? "a label" : "a point of an interval",
                      label ? label_keys : point_keys);
  Point point;
  point.function = checked_function(reader);
  point.at = reader.text("at", default_at);
  if (point.at != "entry" && point.at != "exit") {
    reader.report("at", fmt::format("\"at\" must be \"entry\" or \"exit\", not \"{}\"", point.at));
  }
  const std::string key = label ? "value" : "key";
  reader.require(key, "give the value that names the request, such as \"arg:0\"");
  if (reader.has(key)) {
    point.value = checked_value(reader, key, "", !label);
  }
  point.line = reader.line("function");
  return point;
}

std::vector<Point> read_points(ReadState& state, ObjectReader& interval, const std::string& key) {
  std::vector<Point> points;
  for (const auto& [path, value] : interval.objects(key)) {
    points.push_back(
        read_point(state, path, value, key == "label", key == "end" ? "exit" : "entry"));
  }
  return points;
}

void check_interval_shape(ObjectReader& reader, const Interval& interval) {
  const bool whole = reader.has("function");
  const bool parts = reader.has("begin") || reader.has("end");
  if (whole && parts) {
    reader.report("function",
                  "an interval is either one \"function\" or \"begin\" and \"end\", not both");
  } else if (!whole && (interval.begin.empty() || interval.end.empty())) {
    reader.report("name",
                  fmt::format("interval \"{}\" needs a \"function\", or both \"begin\" and \"end\"",
                              interval.name));
  }
}

Interval read_interval(ReadState& state, const std::string& path, const nlohmann::json& value) {
  ObjectReader reader(state, value, path, "an interval", interval_keys);
  Interval interval;
  interval.line = state.line(path);
  if (reader.has("function")) {
    interval.function = checked_function(reader);
    interval.line = reader.line("function");
  }
  interval.begin = read_points(state, reader, "begin");
  interval.end = read_points(state, reader, "end");
  interval.switches = read_points(state, reader, "switch");
  interval.label = read_points(state, reader, "label");
  const std::string fallback = !interval.function.empty() ? interval.function
                               : interval.begin.empty()   ? "interval"
                                                          : interval.begin[0].function;
  interval.name = reader.text("name", fallback);
  check_interval_shape(reader, interval);
  return interval;
}

std::vector<Interval> read_intervals(ReadState& state, ObjectReader& top) {
  std::vector<Interval> intervals;
  for (const auto& [path, value] : top.objects("intervals")) {
    Interval interval = read_interval(state, path, value);
    for (const Interval& other : intervals) {
      if (other.name != interval.name) {
        continue;
      }
      state.report(path, fmt::format("two intervals are named \"{}\"; give each its own \"name\"",
                                     other.name));
    }
    intervals.push_back(std::move(interval));
  }
  return intervals;
}

std::vector<Sync> read_sync(ReadState& state, ObjectReader& top) {
  if (!top.has("sync")) {
    return {};
  }
  std::vector<Sync> all;
  ObjectReader roles(state, *top.raw("sync"), top.path("sync"), "\"sync\"", role_keys);
  for (const std::string& role : role_keys) {
    for (const auto& [path, value] : roles.objects(role)) {
      const bool task = is_task(role);
      ObjectReader reader(state, value, path, fmt::format("\"{}\"", role),
                          task ? task_keys : object_keys);
      Sync sync{.role = role,
                .function = checked_function(reader),
                .value = "",
                .shared = false,
                .line = reader.line("function")};
      if (!task) {
        sync.shared = reader.flag("shared", false);
      }
      if (role == "enqueue") {
        reader.require("task", "give the argument that is the task, such as \"arg:1\"");
      }
      const std::string fallback = role == "dequeue" ? "return" : "arg:0";
      sync.value = checked_value(reader, task ? "task" : "object", fallback);
      all.push_back(std::move(sync));
    }
  }
  return all;
}

analyzer::Options read_factors(ReadState& state, ObjectReader& top) {
  analyzer::Options options;
  if (!top.has("factors")) {
    return options;
  }
  ObjectReader reader(state, *top.raw("factors"), top.path("factors"), "\"factors\"", factor_keys);
  options.k = reader.integer("k", options.k, 1, 100);
  options.threshold = reader.number("threshold", options.threshold, 0, 1);
  options.dominance = reader.number("dominance", options.dominance, 0, 1);
  const std::string kind = reader.text("specificity", "quadratic");
  if (kind == "linear") {
    options.specificity = analyzer::Specificity::kLinear;
  } else if (kind == "cubic") {
    options.specificity = analyzer::Specificity::kCubic;
  } else if (kind != "quadratic") {
    reader.report(
        "specificity",
        fmt::format("\"specificity\" must be \"linear\", \"quadratic\" or \"cubic\", not \"{}\"",
                    kind));
  }
  return options;
}

std::map<std::string, std::string> read_env(ReadState& state, ObjectReader& top) {
  std::map<std::string, std::string> env;
  const nlohmann::json* value = top.raw("env");
  if (value == nullptr) {
    return env;
  }
  if (!value->is_object()) {
    top.report("env", "\"env\" must be an object {\"NAME\": \"value\"}");
  }
  for (const auto& [name, text] : value->items()) {
    if (text.is_string()) {
      env[name] = text.get<std::string>();
    } else {
      state.report(top.path("env") + "/" + name,
                   fmt::format("\"{}\" in \"env\" must be a text", name));
    }
  }
  return env;
}

void read_record(ReadState& state, ObjectReader& top, Config& config) {
  const nlohmann::json* value = top.raw("record");
  if (value == nullptr) {
    return;
  }
  ObjectReader record(state, *value, top.path("record"), "\"record\"", record_keys);
  config.leave_out = record.texts("leave_out");
  config.ring_mb = record.integer("ring_mb", 0, 0, 1 << 20);
  config.max_mb = record.integer("max_mb", 0, 0, 1 << 24);
  const std::vector<std::string> classes = analyzer::wait_classes();
  for (const std::string& name : config.leave_out) {
    if (std::find(classes.begin(), classes.end(), name) != classes.end()) {
      continue;
    }
    const std::string near = nearest(name, classes);
    record.report(
        "leave_out",
        near.empty()
            ? fmt::format("\"{}\" is no kind of wait; there are {}", name, fmt::join(classes, ", "))
            : fmt::format("\"{}\" is no kind of wait; did you mean \"{}\"?", name, near));
  }
}

Config read_all(ReadState& state, const nlohmann::json& document, const fs::path& file) {
  ObjectReader top(state, document, "", "the configuration", top_keys);
  Config config;
  config.file = fs::absolute(file).lexically_normal();
  top.require("build", "give the command that builds the program, such as \"make -j4\"");
  top.require("run", "give the command that runs the workload and ends by itself");
  const fs::path source = top.text("source", ".");
  config.source = (config.file.parent_path() / source).lexically_normal();
  if (!config.source.has_filename()) {
    config.source = config.source.parent_path();
  }
  config.configure = top.text("configure");
  config.build = top.text("build");
  config.run = top.text("run");
  for (const char* key : {"build", "run"}) {
    if (top.has(key) && top.text(key).empty()) {
      top.report(key, fmt::format("\"{}\" must not be empty", key));
    }
  }
  config.env = read_env(state, top);
  config.compile_commands = top.text("compile_commands");
  config.intervals = read_intervals(state, top);
  config.sync = read_sync(state, top);
  config.factors = read_factors(state, top);
  config.exclude = top.texts("exclude");
  read_record(state, top, config);
  config.overhead_budget = top.number("overhead_budget", config.overhead_budget, 0, 100);
  config.max_iterations = top.integer("max_iterations", 10, 1, 1000);
  const int processors = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  config.jobs = top.integer("jobs", processors, 1, 1024);
  std::error_code error;
  if (!fs::is_directory(config.source, error)) {
    top.report("source", fmt::format("source directory \"{}\" does not exist", source.string()));
  }
  return config;
}

/// The parser's own message names line and column but wraps them in much else.
std::string syntax_message(const std::string& text, const nlohmann::json::parse_error& error) {
  size_t line = 1;
  size_t column = 1;
  const size_t end = std::min<size_t>(error.byte > 0 ? error.byte - 1 : 0, text.size());
  for (size_t i = 0; i < end; ++i) {
    column = text[i] == '\n' ? 1 : column + 1;
    if (text[i] == '\n') {
      ++line;
    }
  }
  std::string what = error.what();
  const size_t from = what.find("syntax error");
  what = from == std::string::npos ? "not JSON" : what.substr(from);
  const std::string_view noise = " - ";
  const size_t dash = what.find(noise);
  if (dash != std::string::npos) {
    what = "malformed JSON: " + what.substr(dash + noise.size());
  }
  for (char& c : what) {
    c = c == '\n' ? ' ' : c;
  }
  return fmt::format("{}:{}: {}", line, column, what);
}

void append_keys(Keys& all, const std::string& prefix, const Keys& keys) {
  for (const std::string& key : keys) {
    all.push_back(prefix + key);
  }
}

}  // namespace

std::string Config::place(int line) const {
  return line > 0 ? fmt::format("{}:{}", shown(file), line) : shown(file);
}

Result<Config> parse_config(const std::string& text, const fs::path& file) {
  nlohmann::json document;
  try {
    document =
        nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/true, /*ignore_comments=*/true);
  } catch (const nlohmann::json::parse_error& error) {
    return fail("{}:{}", shown(file), syntax_message(text, error));
  }
  ReadState state{.file = shown(file), .lines = json_lines(text), .error = ""};
  if (!state.lines.duplicate.empty()) {
    const std::string& path = state.lines.duplicate;
    state.report(path, fmt::format("key \"{}\" appears twice", path.substr(path.rfind('/') + 1)));
  }
  Config config = read_all(state, document, file);
  if (!state.error.empty()) {
    return fail("{}", state.error);
  }
  return config;
}

Result<Config> load_config(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) {
    return fail("there is no {} here; `vprof init` writes one, `-C DIR` looks elsewhere",
                shown(file));
  }
  auto text = VPROF_TRY(read_file(file));
  return parse_config(text, fs::absolute(file));
}

std::vector<std::string> known_keys() {
  Keys all = top_keys;
  append_keys(all, "factors.", factor_keys);
  append_keys(all, "record.", record_keys);
  append_keys(all, "intervals.", interval_keys);
  append_keys(all, "sync.", role_keys);
  for (const char* point : {"begin.", "end.", "switch."}) {
    append_keys(all, std::string("intervals.") + point, point_keys);
  }
  append_keys(all, "intervals.label.", label_keys);
  for (const std::string& role : role_keys) {
    append_keys(all, "sync." + role + ".", is_task(role) ? task_keys : object_keys);
  }
  return all;
}

}  // namespace vprof::driver
