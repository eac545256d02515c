#include "rewrite/sites_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "program/reasons.h"
#include "vprof/support/files.h"

namespace vprof::instrumenter {
namespace {

using nlohmann::json;

constexpr const char* kCallKinds[] = {"direct", "virtual", "indirect", "spawn", "callback"};

/// Numbers the functions that sites.json speaks of, and describes them.
class FunctionTable {
 public:
  FunctionTable(const Program& program, const Plan& plan, const Instrumentation& result)
      : program_(program), plan_(plan), result_(result) {}

  size_t id(const std::string& key) {
    const auto [it, is_new] = ids_.emplace(key, ids_.size() + 1);
    if (is_new) {
      functions_.push_back(describe(key, it->second));
    }
    return it->second;
  }

  json take() { return std::move(functions_); }

 private:
  json describe(const std::string& key, size_t id) const {
    json out{{"id", id},     {"key", key},          {"name", key.substr(0, key.rfind('@'))},
             {"file", ""},   {"line", 0},           {"height", 0},
             {"callees", 0}, {"expandable", false}, {"expanded", plan_.expanded.count(key) != 0}};
    const auto pseudo = result_.pseudo_functions.find(key);
    if (pseudo != result_.pseudo_functions.end()) {
      out["height"] = pseudo->second;
    }
    const Function* f = program_.by_key(key);
    if (f == nullptr) {
      return out;
    }
    std::set<std::string> callees;
    for (const Call& call : f->calls) {
      callees.insert(call.callee_key);
    }
    callees.insert(f->targets.begin(), f->targets.end());
    out.update({{"name", f->name},
                {"file", f->file},
                {"line", f->line},
                {"height", f->height},
                {"callees", callees.size()},
                {"expandable", program_.expandable(*f)}});
    return out;
  }

  const Program& program_;
  const Plan& plan_;
  const Instrumentation& result_;
  std::map<std::string, size_t> ids_;
  json functions_ = json::array();
};

/// Height of the call graph below what starts, ends or carries an interval.
int root_height(const Program& program, const Plan& plan) {
  std::vector<const Function*> roots;
  const auto add = [&](const std::string& name) {
    for (const Function* f : program.find(name)) {
      roots.push_back(f);
    }
  };
  for (const IntervalPlan& interval : plan.intervals) {
    if (!interval.function.empty()) {
      add(interval.function);
    }
    for (const std::vector<IntervalPoint>* points :
         {&interval.begin, &interval.end, &interval.switches}) {
      for (const IntervalPoint& point : *points) {
        add(point.function);
      }
    }
  }
  for (const Function& f : program.functions) {
    for (const Call& call : f.calls) {
      if (call.callee_name == "vprof_begin" || call.callee_name == "vprof_switch" ||
          call.callee_name == "vprof_end") {
        roots.push_back(&f);
      }
    }
  }
  int height = 1;
  for (const Function* f : roots) {
    height = std::max(height, f->height);
  }
  // What is expanded may lie above: an interval that begins deep inside a handler, say.
  for (const std::string& key : plan.expanded) {
    if (const Function* f = program.by_key(key)) {
      height = std::max(height, f->height);
    }
  }
  return height;
}

}  // namespace

SiteIds load_site_ids(const std::string& path) {
  SiteIds ids;
  const Result<std::string> text = read_file(path);
  if (!text) {
    return ids;
  }
  const json document = json::parse(*text, nullptr, false);
  if (!document.is_object() || !document.contains("site_ids")) {
    return ids;
  }
  for (const auto& [identity, id] : document["site_ids"].items()) {
    if (id.is_number_unsigned()) {
      ids[identity] = id;
    }
  }
  return ids;
}

Result<void> save_sites(const Program& program, const Plan& plan, const Instrumentation& result,
                        const std::string& path) {
  FunctionTable functions(program, plan, result);
  json sites = json::array();
  // Numbers that were given once stay given: a site that is demoted and comes back is the same
  // site.
  json ids(load_site_ids(path));
  for (const Site& site : result.sites) {
    json out{{"id", site.id},
             {"kind", site.kind == SiteKind::kFunction ? "function" : "call"},
             {"function", functions.id(site.function)},
             {"file", site.file},
             {"line", site.line},
             {"column", site.column},
             {"rule", site.rule}};
    if (site.kind == SiteKind::kCall) {
      out["parent"] = functions.id(site.parent);
      out["call"] = kCallKinds[static_cast<size_t>(site.call)];
    }
    ids[site_identity(site)] = site.id;
    sites.push_back(std::move(out));
  }
  json unwrapped = json::array();
  for (const UnwrappedCall& call : result.unwrapped) {
    unwrapped.push_back({{"parent", functions.id(call.parent)},
                         {"callee", call.callee},
                         {"file", call.file},
                         {"line", call.line},
                         {"column", call.column},
                         {"reason", call.reason},
                         {"by_rule", is_by_rule(call.reason)}});
  }
  json intervals = json::array();
  for (const IntervalPlan& interval : plan.intervals) {
    intervals.push_back({{"index", interval.index}, {"name", interval.name}});
  }
  json sync = json::array();
  for (const SyncPlan& s : plan.sync) {
    const Function* f = program.by_key(s.function);
    sync.push_back({{"index", s.index},
                    {"role", role_name(s.role)},
                    {"function", f == nullptr ? s.function : f->name}});
    if (s.shared) {
      sync.back()["shared"] = true;
    }
  }
  const json document{{"schema", 1},
                      {"root_height", root_height(program, plan)},
                      {"functions", functions.take()},
                      {"sites", std::move(sites)},
                      {"intervals", std::move(intervals)},
                      {"sync", std::move(sync)},
                      {"unwrapped", std::move(unwrapped)},
                      {"site_ids", std::move(ids)}};
  return write_file_with_parents(path, document.dump(1, ' ', false, json::error_handler_t::replace));
}

Result<void> save_summary(const Program& program, const Instrumentation& result,
                          const std::vector<std::string>& files_changed, const std::string& path) {
  std::map<std::string, size_t> by_rule;
  std::map<std::string, size_t> not_possible;
  for (const UnwrappedCall& call : result.unwrapped) {
    ++(is_by_rule(call.reason) ? by_rule : not_possible)[call.reason];
  }
  json failed = json::array();
  for (const Unit& unit : program.units) {
    if (!unit.error.empty()) {
      failed.push_back({{"file", unit.file}, {"error", unit.error}});
    }
  }
  const Coverage& coverage = result.coverage;
  const json document{
      {"files_changed", files_changed},
      {"sites", result.sites.size()},
      {"functions",
       {{"measured", coverage.functions}, {"not_possible", coverage.functions_refused}}},
      {"calls",
       {{"measured", coverage.calls}, {"by_rule", by_rule}, {"not_possible", not_possible}}},
      {"units_failed", failed},
      {"conflicts", program.conflicts}};
  return write_file_with_parents(path, document.dump(1, ' ', false, json::error_handler_t::replace));
}

}  // namespace vprof::instrumenter
