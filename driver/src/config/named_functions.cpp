#include "config/named_functions.h"

#include <algorithm>

#include "vprof/instrumenter/plan.h"

namespace vprof::driver {

namespace {

const Keys interval_keys = {"name", "function", "begin", "end", "switch", "label", "trace_context"};
const Keys point_keys = {"function", "at", "key"};
const Keys label_keys = {"function", "at", "value"};
const Keys sync_roles = {"acquire", "release", "enqueue", "dequeue"};
const Keys object_keys = {"function", "object", "shared"};
const Keys task_keys = {"function", "task"};

/// Whether a role hands over a task; the others act on an object, such as a lock.
bool takes_task(const std::string& role) { return role == "enqueue" || role == "dequeue"; }

const Keys& keys_of_role(const std::string& role) {
  return takes_task(role) ? task_keys : object_keys;
}

enum class Thread : bool { kRefused, kAllowed };

/// `thread` stands for the calling thread where one thread handles all of a request.
std::string read_value(ObjectReader& reader, const std::string& key, const std::string& otherwise,
                       Thread thread = Thread::kRefused) {
  using Base = instrumenter::Value::Base;
  std::string text = reader.string(key, otherwise);
  const auto value = instrumenter::parse_value(text);
  if (!value || (value->base == Base::kThread && thread == Thread::kRefused)) {
    reader.report(key, fmt::format("\"{}\" must be a value such as \"arg:0\", \"return\", "
                                   "\"this\" or \"arg:1->field\", not \"{}\"",
                                   key, text));
  }
  return text;
}

std::string read_function(ObjectReader& reader) {
  reader.require("function", "give the name of a function of the program");
  std::string name = reader.string("function");
  if (reader.has("function") && name.empty()) {
    reader.report("function", "\"function\" must not be empty");
  }
  return name;
}

Point read_point(ObjectReader& reader, const std::string& value_key, Thread thread,
                 const std::string& default_at) {
  Point point;
  point.function = read_function(reader);
  point.at = reader.string("at", default_at);
  if (point.at != "entry" && point.at != "exit") {
    reader.report("at", fmt::format("\"at\" must be \"entry\" or \"exit\", not \"{}\"", point.at));
  }
  reader.require(value_key, "give the value that names the request, such as \"arg:0\"");
  if (reader.has(value_key)) {
    point.value = read_value(reader, value_key, "", thread);
  }
  point.line = reader.line("function");
  return point;
}

std::vector<Point> read_points(ObjectReader& interval, const std::string& key,
                               const std::string& default_at) {
  std::vector<Point> points;
  for (ObjectReader& reader : interval.objects(key, "a point of an interval", point_keys)) {
    points.push_back(read_point(reader, "key", Thread::kAllowed, default_at));
  }
  return points;
}

/// `key`: `label` or `trace_context`.
std::vector<Point> read_texts(ObjectReader& interval, const std::string& key,
                              const std::string& what) {
  std::vector<Point> texts;
  for (ObjectReader& reader : interval.objects(key, what, label_keys)) {
    texts.push_back(read_point(reader, "value", Thread::kRefused, "entry"));
  }
  return texts;
}

/// The name of its function, or of the first function that begins it.
std::string default_name(const Interval& interval) {
  if (!interval.function.empty()) {
    return interval.function;
  }
  return interval.begin.empty() ? "interval" : interval.begin[0].function;
}

void check_shape(ObjectReader& reader, const Interval& interval) {
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

Interval read_interval(ObjectReader& reader) {
  Interval interval;
  interval.line = reader.line();
  if (reader.has("function")) {
    interval.function = read_function(reader);
    interval.line = reader.line("function");
  }
  interval.begin = read_points(reader, "begin", "entry");
  interval.end = read_points(reader, "end", "exit");
  interval.switches = read_points(reader, "switch", "entry");
  interval.label = read_texts(reader, "label", "a label");
  interval.trace_context = read_texts(reader, "trace_context", "a trace context");
  interval.name = reader.string("name", default_name(interval));
  check_shape(reader, interval);
  return interval;
}

Sync read_sync_function(ObjectReader& reader, const std::string& role) {
  Sync sync;
  sync.role = role;
  sync.function = read_function(reader);
  sync.line = reader.line("function");
  if (takes_task(role)) {
    if (role == "enqueue") {
      reader.require("task", "give the argument that is the task, such as \"arg:1\"");
    }
    sync.value = read_value(reader, "task", role == "enqueue" ? "arg:0" : "return");
  } else {
    sync.shared = reader.flag("shared", false);
    sync.value = read_value(reader, "object", "arg:0");
  }
  return sync;
}

void append(Keys& all, const std::string& prefix, const Keys& keys) {
  for (const std::string& key : keys) {
    all.push_back(prefix + key);
  }
}

}  // namespace

std::vector<Interval> read_intervals(ObjectReader& top) {
  std::vector<Interval> intervals;
  for (ObjectReader& reader : top.objects("intervals", "an interval", interval_keys)) {
    Interval interval = read_interval(reader);
    const bool is_taken =
        std::any_of(intervals.begin(), intervals.end(),
                    [&](const Interval& other) { return other.name == interval.name; });
    if (is_taken) {
      reader.report(
          "name",
          fmt::format("two intervals are named \"{}\"; give each its own \"name\"", interval.name));
    }
    intervals.push_back(std::move(interval));
  }
  return intervals;
}

std::vector<Sync> read_sync(ObjectReader& top) {
  std::vector<Sync> all;
  auto section = top.object("sync", sync_roles);
  if (!section) {
    return all;
  }
  for (const std::string& role : sync_roles) {
    const std::string what = fmt::format("\"{}\"", role);
    for (ObjectReader& reader : section->objects(role, what, keys_of_role(role))) {
      all.push_back(read_sync_function(reader, role));
    }
  }
  return all;
}

Keys keys_of_named_functions() {
  Keys all;
  append(all, "intervals.", interval_keys);
  append(all, "sync.", sync_roles);
  for (const char* point : {"begin", "end", "switch"}) {
    append(all, fmt::format("intervals.{}.", point), point_keys);
  }
  for (const char* text : {"label", "trace_context"}) {
    append(all, fmt::format("intervals.{}.", text), label_keys);
  }
  for (const std::string& role : sync_roles) {
    append(all, fmt::format("sync.{}.", role), keys_of_role(role));
  }
  return all;
}

}  // namespace vprof::driver
