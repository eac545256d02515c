#include "config/resolve.h"

#include <algorithm>
#include <set>

#include "vprof/support/json.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

using instrumenter::Function;
using instrumenter::IntervalPoint;
using instrumenter::LabelPoint;
using instrumenter::Program;
using nlohmann::json;
using Functions = std::vector<const Function*>;

std::string where(const Function& function) {
  return function.file.empty() ? "no definition in the program"
                               : fmt::format("{}:{}", function.file, function.line);
}

std::string unknown_message(const Program& program, const std::string& name) {
  std::vector<std::string> near;
  for (const std::string& suggestion : program.suggestions(name)) {
    const Functions found = program.find(suggestion);
    near.push_back(found.empty() ? suggestion
                                 : fmt::format("\"{}\" ({})", suggestion, where(*found[0])));
  }
  const std::string hint = near.empty()
                               ? "names are those of the source, such as \"ns::Class::method\""
                               : fmt::format("did you mean {}?", listed(near, "or"));
  return fmt::format("function \"{}\" is not in the program; {}", name, hint);
}

std::string ambiguous_message(const Functions& found, const std::string& name) {
  constexpr size_t kShown = 5;
  std::vector<std::string> keys;
  for (const Function* function : found) {
    if (keys.size() < kShown) {
      keys.push_back(fmt::format("\"{}\"", function->key));
    }
  }
  if (found.size() > kShown) {
    keys.push_back(fmt::format("{} more", found.size() - kShown));
  }
  return fmt::format("function \"{}\" is ambiguous; write one of {}", name, listed(keys, "or"));
}

/// Narrows the candidates for a name: definitions win over declarations, exact names over names
/// that only end in it.
Functions narrowed(Functions found, const std::string& name) {
  const auto keep = [&found](auto&& condition) {
    Functions kept;
    std::copy_if(found.begin(), found.end(), std::back_inserter(kept), condition);
    if (!kept.empty()) {
      found = std::move(kept);
    }
  };
  keep([](const Function* f) { return !f->file.empty(); });
  keep([&name](const Function* f) { return f->name == name || f->key == name; });
  return found;
}

/// Whether something calls the function, takes its address, or calls the method that it overrides.
/// Of functions that several programs of the tree define under one name, calls go to the nearest
/// one, but may mean any.
bool may_be_called(const Program& program, const Function& function) {
  const auto called = [&](const Function* same) {
    return same->usr == function.usr && !program.callers(*same).empty();
  };
  return !program.callers(function).empty() || !function.overrides.empty() ||
         (!function.usr.empty() && std::ranges::any_of(program.find(function.name), called)) ||
         std::ranges::any_of(program.units, [&](const instrumenter::Unit& unit) {
           return std::ranges::find(unit.address_taken, function.usr) != unit.address_taken.end();
         });
}

/// Builds the plan's intervals and sync, and collects the roots on the way. Keeps the first error.
class Resolver {
 public:
  Resolver(const Config& config, const Program& program) : config_(config), program_(program) {}

  Result<Targets> run() {
    for (const Interval& interval : config_.intervals) {
      add_interval(interval);
    }
    for (const Sync& sync : config_.sync) {
      add_sync(sync);
    }
    add_annotated();
    if (!error_.empty()) {
      return fail("{}", error_);
    }
    if (roots_.empty()) {
      return fail("{}", no_interval());
    }
    targets_.roots.assign(roots_.begin(), roots_.end());
    return std::move(targets_);
  }

 private:
  std::string no_interval() const {
    return fmt::format(
        "{}: nothing says what an interval is; name a function under \"intervals\", or call "
        "vprof_begin and vprof_end in the source",
        config_.location(0));
  }

  /// Makes a function that an interval names a root. Returns its key, or "" after an error.
  std::string root(const std::string& name, int line) {
    auto function = resolve_function(program_, name, config_.location(line));
    if (!function) {
      if (error_.empty()) {
        error_ = function.error().message;
      }
      return "";
    }
    const Function& f = **function;
    if (roots_.insert(f.key).second && !may_be_called(program_, f) && f.name != "main") {
      targets_.warnings.push_back(
          fmt::format("{}: nothing in the program calls {} ({}) or takes its address; this is fine "
                      "only if a library looks it up by its name",
                      config_.location(line), f.name, where(f)));
    }
    return f.key;
  }

  /// The value of a Result. An error is kept, and the default takes its place.
  template <class T>
  T take(Result<T> result, int line) {
    if (result) {
      return *std::move(result);
    }
    if (error_.empty()) {
      error_ = fmt::format("{}: {}", config_.location(line), result.error().message);
    }
    return T{};
  }

  std::vector<IntervalPoint> interval_points(const std::vector<Point>& points) {
    std::vector<IntervalPoint> list;
    list.reserve(points.size());
    for (const Point& point : points) {
      list.push_back({root(point.function, point.line),
                      take(instrumenter::at_of(point.at), point.line),
                      take(instrumenter::parse_value(point.value), point.line)});
    }
    return list;
  }

  std::vector<LabelPoint> label_points(const std::vector<Point>& points) {
    std::vector<LabelPoint> list;
    for (const IntervalPoint& point : interval_points(points)) {
      list.push_back({point.function, point.at, point.key, {}});
    }
    return list;
  }

  void add_interval(const Interval& interval) {
    instrumenter::IntervalPlan plan;
    plan.index = static_cast<unsigned>(targets_.intervals.size());
    plan.name = interval.name;
    if (!interval.function.empty()) {
      plan.function = root(interval.function, interval.line);
    }
    plan.begin = interval_points(interval.begin);
    plan.end = interval_points(interval.end);
    plan.switches = interval_points(interval.switches);
    plan.labels = label_points(interval.label);
    plan.trace_contexts = label_points(interval.trace_context);
    targets_.intervals.push_back(std::move(plan));
  }

  /// Events are recorded inside the function, so it needs a body in the source tree.
  void add_sync(const Sync& sync) {
    auto function = resolve_function(program_, sync.function, config_.location(sync.line));
    if (!function) {
      if (error_.empty()) {
        error_ = function.error().message;
      }
      return;
    }
    if (!may_be_called(program_, **function)) {
      targets_.warnings.push_back(fmt::format("{}: nothing calls {}, so no event will come from it",
                                              config_.location(sync.line), sync.function));
    }
    instrumenter::SyncPlan plan;
    plan.index = static_cast<unsigned>(targets_.sync.size());
    plan.role = take(instrumenter::role_of(sync.role), sync.line);
    plan.function = (*function)->key;
    (instrumenter::SyncPlan::is_task(plan.role) ? plan.task : plan.object) =
        take(instrumenter::parse_value(sync.value), sync.line);
    plan.shared = sync.shared;
    targets_.sync.push_back(std::move(plan));
  }

  /// A function that calls the annotations of <vprof/annotations.h> works for an interval: a root.
  void add_annotated() {
    for (const Function& function : program_.functions) {
      const bool annotation =
          function.name.rfind("vprof_", 0) == 0 || function.name.rfind("vprof::", 0) == 0;
      if (!annotation) {
        continue;
      }
      for (const Function* caller : program_.callers(function)) {
        if (caller->in_tree && caller->refused == instrumenter::Reason::kNone) {
          roots_.insert(caller->key);
        }
      }
    }
  }

  const Config& config_;
  const Program& program_;
  Targets targets_;
  std::set<std::string> roots_;
  std::string error_;
};

json points_json(const std::vector<Point>& points) {
  json list = json::array();
  for (const Point& point : points) {
    list.push_back({point.function, point.at, point.value});
  }
  return list;
}

}  // namespace

Result<const Function*> find_function(const Program& program, const std::string& name,
                                      const std::string& location) {
  const Functions found = narrowed(program.find(name), name);
  if (found.empty()) {
    return fail("{}: {}", location, unknown_message(program, name));
  }
  if (found.size() > 1) {
    return fail("{}: {}", location, ambiguous_message(found, name));
  }
  return found[0];
}

Result<const Function*> resolve_function(const Program& program, const std::string& name,
                                         const std::string& location) {
  auto function = VPROF_TRY(find_function(program, name, location));
  const Function& f = *function;
  if (f.file.empty() || !f.in_tree) {
    return fail(
        "{}: function \"{}\" is not defined in the source tree{}, so it cannot be instrumented; "
        "name a function that calls it",
        location, name, f.file.empty() ? "" : " (" + where(f) + ")");
  }
  if (f.refused != instrumenter::Reason::kNone) {
    return fail(
        "{}: function \"{}\" ({}) cannot be instrumented: {}; name a function that calls it",
        location, name, where(f), instrumenter::text_of(f.refused));
  }
  return function;
}

Result<std::vector<std::string>> keys_to_expand(const Program& program,
                                                const std::vector<std::string>& names) {
  constexpr const char* kOption = "--expand";
  std::vector<std::string> keys;
  for (const std::string& name : names) {
    auto function = find_function(program, name, kOption);
    if (function && (*function)->targets.empty()) {
      function = resolve_function(program, name, kOption);
    }
    keys.push_back(VPROF_TRY(std::move(function))->key);
  }
  return keys;
}

Result<Targets> resolve(const Config& config, const Program& program) {
  return Resolver(config, program).run();
}

std::vector<std::string> follow_edits(const std::vector<std::string>& keys,
                                      const Program& program) {
  std::vector<std::string> followed;
  for (const std::string& key : keys) {
    if (program.by_key(key) != nullptr) {
      followed.push_back(key);
      continue;
    }
    const Functions moved = program.find(key.substr(0, key.rfind(':')));  // name@path
    if (moved.size() == 1) {
      followed.push_back(moved[0]->key);
    }
  }
  return followed;
}

std::string fingerprint(const Config& config) {
  json all = json::array();
  for (const Interval& i : config.intervals) {
    all.push_back({i.name, i.function, points_json(i.begin), points_json(i.end),
                   points_json(i.switches), points_json(i.label)});
    if (!i.trace_context.empty()) {
      all.back().push_back(points_json(i.trace_context));
    }
  }
  for (const Sync& sync : config.sync) {
    all.push_back({sync.role, sync.function, sync.value});
    if (sync.shared) {
      all.back().push_back("shared");
    }
  }
  all.push_back(config.exclude);
  return instrumenter::content_hash(json_text(all, -1));
}

}  // namespace vprof::driver
