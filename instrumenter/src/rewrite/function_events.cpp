#include "rewrite/function_events.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "rewrite/text/head.h"
#include "rewrite/text/value_text.h"

namespace vprof::instrumenter {
namespace {

/// Collects the text for each function and keeps the first error.
class EventWriter {
 public:
  EventWriter(const Program& program, const Plan& plan) : program_(program), plan_(plan) {}

  Result<std::map<std::string, FunctionEvents>> run() {
    for (const IntervalPlan& interval : plan_.intervals) {
      if (!interval.function.empty()) {
        const Function* f = resolve(interval.function);
        const char* const word = f != nullptr && f->coroutine ? "COROUTINE_INTERVAL" : "INTERVAL";
        body_of(interval.function, kScope) += fmt::format("VPROF_{}({}); ", word, interval.index);
      }
      add_points(interval, interval.begin, "BEGIN");
      add_points(interval, interval.switches, "SWITCH");
      for (const LabelPoint& label : interval.labels) {
        add_text(interval, label, "label");
      }
      for (const LabelPoint& context : interval.trace_contexts) {
        add_text(interval, context, "trace_context");
      }
      add_points(interval, interval.end, "END");
    }
    for (const SyncPlan& sync : plan_.sync) {
      add_sync(sync);
    }
    if (!error_.empty()) {
      return vprof::fail("{}", error_);
    }
    std::map<std::string, FunctionEvents> out;
    for (const auto& [key, parts] : parts_) {
      out[key].at_body = parts.texts[kScope] + parts.texts[kAtExit] + parts.texts[kAtEntry];
      out[key].on_return = parts.texts[kOnReturn];
    }
    return out;
  }

 private:
  // Scopes are declared in this order and close in reverse.
  enum Part { kScope, kAtExit, kAtEntry, kOnReturn, kParts };
  struct Parts {
    std::string texts[kParts];
  };

  std::string& body_of(const std::string& name, Part part) {
    const Function* f = resolve(name);
    return f == nullptr ? unused_ : parts_[f->key].texts[part];
  }

  const Function* resolve(const std::string& name) {
    const std::vector<const Function*> found = program_.find(name);
    if (found.empty()) {
      const std::vector<std::string> near = program_.suggestions(name);
      fail(fmt::format(
          "function \"{}\" is not in the program{}", name,
          near.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(near, ", "))));
      return nullptr;
    }
    if (found.size() > 1) {
      fail(fmt::format("function \"{}\" is ambiguous: write {} or {}", name, found[0]->key,
                       found[1]->key));
      return nullptr;
    }
    if (!found[0]->in_tree) {
      fail(fmt::format(
          "function \"{}\" is not defined in the source tree, so it cannot be instrumented; name a "
          "function that calls it",
          name));
    } else if (found[0]->refused != Reason::kNone) {
      fail(fmt::format(
          "function \"{}\" ({}:{}) cannot be instrumented: {}; name a function that calls it", name,
          found[0]->file, found[0]->line, instrumenter::text_of(found[0]->refused)));
    }
    return found[0];
  }

  ValueText text_of(const Value& value, const std::string& function, const char* name) {
    const Function* f = resolve(function);
    if (f == nullptr) {
      return {};
    }
    Result<ValueText> text = value_text(value, *f, name);
    if (!text) {
      fail(text.error().message);
    }
    return text.value_or(ValueText{});
  }

  std::string key_of(const Value& value, const std::string& function) {
    return text_of(value, function, "vprof_k").or_else("0");
  }

  static bool is_return(const Value& value) { return value.base == Value::Base::kReturn; }

  static std::string returned(const Value& value) {
    return returned_text(value, "vprof_result").or_else("0");
  }

  void add_points(const IntervalPlan& interval, const std::vector<IntervalPoint>& points,
                  const char* what) {
    for (const IntervalPoint& point : points) {
      if (is_return(point.key)) {
        body_of(point.function, kOnReturn) +=
            fmt::format("VPROF_EVENT({}, {}, {}); ", what, interval.index, returned(point.key));
        continue;
      }
      const std::string key = key_of(point.key, point.function);
      const bool at_exit = point.at == At::kExit;
      body_of(point.function, at_exit ? kAtExit : kAtEntry) += fmt::format(
          "VPROF_{}_EVENT({}, {}, {}); ", at_exit ? "EXIT" : "ENTRY", what, interval.index, key);
    }
  }

  /// `what`: `label` or `trace_context`, which are read in the same way.
  void add_text(const IntervalPlan& interval, const LabelPoint& point, std::string_view what) {
    if (point.at == At::kExit || is_return(point.value)) {
      return fail(
          fmt::format("{0} of interval \"{1}\" at {2}: a {0} is taken from an argument at the "
                      "entry of a function; write \"at\": \"entry\" and a value such as arg:0",
                      what, interval.name, point.function));
    }
    const ValueText text = text_of(point.value, point.function, "vprof_l");
    const std::string key =
        point.key ? fmt::format(", {}", key_of(*point.key, point.function)) : "";
    const std::string value =
        text.is_plain() ? text.text : fmt::format("{}, {}, {}", text.steps, text.text, text.ends);
    body_of(point.function, kAtEntry) += fmt::format(
        "VPROF_ENTRY_{}{}{}({}{}, {}); ", what == "label" ? "LABEL" : "TRACE",
        point.key ? "" : "_CURRENT", text.is_plain() ? "" : "_VIA", interval.index, key, value);
  }

  void add_sync(const SyncPlan& sync) {
    if (is_return(sync.value())) {
      if (sync.role != SyncRole::kDequeue) {
        return fail(fmt::format("{} {}: only the task of a dequeue function can be \"return\"",
                                role_name(sync.role), sync.function));
      }
      body_of(sync.function, kOnReturn) +=
          fmt::format("VPROF_DEQUEUE({}, {}); ", sync.index, returned(sync.value()));
      return;
    }
    const std::string value = text_of(sync.value(), sync.function, "vprof_k")
                                  .or_else(SyncPlan::is_task(sync.role) ? "0" : "VPROF_NO_OBJECT");
    switch (sync.role) {
      case SyncRole::kAcquire:
        if (const Function* f = resolve(sync.function); f != nullptr && f->coroutine) {
          return fail(fmt::format(
              "acquire {}: it is a coroutine, whose waits are seen without that; remove the entry",
              sync.function));
        }
        body_of(sync.function, kScope) += fmt::format("VPROF_ACQUIRE({}, {}); ", sync.index, value);
        break;
      case SyncRole::kRelease:
        body_of(sync.function, kAtEntry) +=
            fmt::format("VPROF_RELEASE({}, {}); ", sync.index, value);
        break;
      case SyncRole::kEnqueue:
        body_of(sync.function, kAtEntry) +=
            fmt::format("VPROF_ENQUEUE({}, {}); ", sync.index, value);
        break;
      case SyncRole::kDequeue:
        if (is_switch(sync.function)) {
          std::string& at_entry = body_of(sync.function, kAtEntry);
          at_entry.insert(0, fmt::format("VPROF_ENTRY_DEQUEUE({}, {}); ", sync.index, value));
        } else {
          // An output parameter is filled when the function returns: a wrapper sees it, like a
          // returned value.
          body_of(sync.function, kOnReturn) +=
              fmt::format("VPROF_DEQUEUE({}, {}); ", sync.index, value);
        }
        break;
    }
  }

  /// Whether a thread turns to an interval at the entry of the function. A task that is one of its
  /// arguments has been taken by then.
  bool is_switch(const std::string& function) {
    const Function* f = resolve(function);
    return std::ranges::any_of(plan_.intervals, [&](const IntervalPlan& interval) {
      return std::ranges::any_of(interval.switches, [&](const IntervalPoint& point) {
        return point.at == At::kEntry && !is_return(point.key) && resolve(point.function) == f;
      });
    });
  }

  void fail(std::string message) {
    if (error_.empty()) {
      error_ = std::move(message);
    }
  }

  const Program& program_;
  const Plan& plan_;
  std::map<std::string, Parts> parts_;
  std::string error_;
  std::string unused_;
};

}  // namespace

Result<std::map<std::string, FunctionEvents>> configured_events(const Program& program,
                                                                const Plan& plan) {
  return EventWriter(program, plan).run();
}

Result<std::vector<Edit>> wrapper_edits(const Function& f, const std::string& on_return,
                                        const std::string& text) {
  const auto refuse = [&](const char* reason) {
    return fail(
        "{} ({}:{}): {}, so its returned value cannot be seen; use vprof/annotations.h there",
        f.name, f.file, f.line, reason);
  };
  if (f.coroutine) {
    return refuse("it is a coroutine, which returns before it is done");
  }
  if (f.is_method) {
    return refuse("it is a method");
  }
  if (f.variadic) {
    return refuse("it takes a variable number of arguments");
  }
  for (const std::string& parameter : f.params) {
    if (parameter.empty()) {
      return refuse("one of its parameters has no name");
    }
  }
  if (text[f.body - 1] != '{') {
    return refuse("its body begins with a local label, a pragma, or <%");
  }
  const auto head = on_one_line(text.substr(f.head_begin, f.body - 1 - f.head_begin));
  if (!head) {
    return refuse("its head contains a preprocessor directive");
  }
  if (head->ends_with(';')) {
    return refuse("its parameters are declared in the old (K&R) style");
  }

  const std::string call =
      fmt::format("{}_vprof_original({})", text.substr(f.name_begin, f.name_end - f.name_begin),
                  fmt::join(f.params, ", "));
  const std::string body =
      f.returns_void ? fmt::format("{}; {}", call, on_return)
                     : fmt::format("__typeof__({0}) vprof_result = {0}; {1}return vprof_result;",
                                   call, on_return);
  std::vector<Edit> edits;
  edits.push_back({f.head_begin, f.head_begin, *head + "; ", ""});
  edits.push_back({f.name_end, f.name_end, "_vprof_original", ""});
  edits.push_back({f.body_end, f.body_end, fmt::format(" {} {{ {} }}", *head, body), ""});
  return edits;
}

}  // namespace vprof::instrumenter
