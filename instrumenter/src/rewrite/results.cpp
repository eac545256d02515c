#include "rewrite/results.h"

#include <algorithm>
#include <set>

#include "rewrite/interval_graph.h"

namespace vprof::instrumenter {
namespace {

/// Numbers and describes the functions that sites.json refers to.
class FunctionTable {
 public:
  FunctionTable(const Program& program, const Plan& plan, const Instrumentation& result)
      : program_(program), plan_(plan), result_(result) {}

  size_t id(const std::string& key) {
    const auto [it, is_new] = ids_.emplace(key, ids_.size() + 1);
    if (is_new) {
      entries_.push_back(describe(key, it->second));
    }
    return it->second;
  }

  std::vector<SitesFile::FunctionEntry> take() { return std::move(entries_); }

 private:
  SitesFile::FunctionEntry describe(const std::string& key, size_t id) const {
    SitesFile::FunctionEntry out;
    out.id = id;
    out.key = key;
    out.name = key.substr(0, key.rfind('@'));
    out.expanded = plan_.expanded.count(key) != 0;
    const auto pseudo = result_.pseudo_functions.find(key);
    if (pseudo != result_.pseudo_functions.end()) {
      out.height = pseudo->second.height;
    }
    const Function* f = program_.by_key(key);
    if (f == nullptr) {
      return out;
    }
    std::set<std::string> callees(f->targets.begin(), f->targets.end());
    for (const Call& call : f->calls) {
      callees.insert(call.callee_key);
    }
    out.name = f->name;
    out.file = f->file;
    out.line = f->line;
    out.height = f->height;
    out.callees = callees.size();
    out.expandable = program_.expandable(*f);
    out.wrapper = is_wrapper(program_, *f);
    if (f->file.empty() && pseudo != result_.pseudo_functions.end()) {
      out.file = pseudo->second.file;
      out.line = pseudo->second.line;
    }
    return out;
  }

  const Program& program_;
  const Plan& plan_;
  const Instrumentation& result_;
  std::map<std::string, size_t> ids_;
  std::vector<SitesFile::FunctionEntry> entries_;
};

void add_hash(const Program& program, const std::string& file,
              std::map<std::string, std::string>& hashes) {
  if (const auto known = program.file_hashes.find(file); known != program.file_hashes.end()) {
    hashes.insert(*known);
  }
}

}  // namespace

SitesFile sites_of(const Program& program, const Plan& plan, const Instrumentation& result,
                   SiteIds known_ids) {
  FunctionTable functions(program, plan, result);
  SitesFile file;
  const IntervalGraph graph = interval_graph(program, plan);
  file.root_height = graph.height;
  // Numbers stay assigned for good: a site that is demoted and comes back is the same site.
  file.site_ids = std::move(known_ids);
  file.site_ids.insert(result.gates.begin(), result.gates.end());
  file.event_gates = result.event_gates;
  for (const auto& [gate, open] : result.gates_behind) {
    file.gates.push_back({gate, open});
  }
  for (const Site& site : result.sites) {
    SitesFile::SiteEntry out;
    out.id = site.id;
    out.kind = site.kind;
    out.function = functions.id(site.function);
    out.file = site.file;
    out.line = site.line;
    out.column = site.column;
    out.rule = site.rule;
    out.gate = site.gate;
    if (site.kind == SiteKind::kCall) {
      out.parent = functions.id(site.parent);
      out.call = site.call;
    }
    file.site_ids[site_identity(site)] = site.id;
    file.sites.push_back(std::move(out));
  }
  for (const UnwrappedCall& call : result.unwrapped) {
    file.unwrapped.push_back({functions.id(call.parent), call.callee, call.file, call.line,
                              call.column, call.text(), is_by_rule(call.reason)});
  }
  for (const SuspensionSite& s : result.suspensions) {
    SitesFile::SuspensionEntry& out = file.suspensions.emplace_back();
    out = {s.index, s.name, s.yields, functions.id(s.parent), s.file, s.line, {}};
    for (const std::string& key : s.awaits) {
      out.awaits.push_back(functions.id(key));
    }
  }
  for (const IntervalPlan& interval : plan.intervals) {
    file.intervals.push_back({interval.index, interval.name});
  }
  for (const SyncPlan& sync : plan.sync) {
    const Function* f = program.by_key(sync.function);
    file.sync.push_back(
        {sync.index, sync.role, f == nullptr ? sync.function : f->name, sync.shared});
  }
  file.functions = functions.take();
  for (const SitesFile::FunctionEntry& function : file.functions) {
    add_hash(program, function.file, file.files);
  }
  for (const Site& site : result.sites) {
    add_hash(program, site.file, file.files);
  }
  // What is above the interval is no part of its call graph, whatever else it calls.
  for (SitesFile::FunctionEntry& function : file.functions) {
    if (graph.above.count(function.key) != 0) {
      function.height = std::min(function.height, file.root_height);
    }
  }
  return file;
}

Summary summary_of(const Program& program, const Instrumentation& result,
                   std::vector<std::string> files_changed,
                   std::map<std::string, std::string> rewritten) {
  Summary summary;
  summary.files_changed = std::move(files_changed);
  summary.rewritten = std::move(rewritten);
  summary.units = result.units;
  summary.sites = result.sites.size();
  summary.functions = {result.coverage.functions, result.coverage.functions_refused};
  summary.calls.measured = result.coverage.calls;
  for (const UnwrappedCall& call : result.unwrapped) {
    auto& counts = is_by_rule(call.reason) ? summary.calls.by_rule : summary.calls.not_possible;
    ++counts[call.text()];
  }
  for (const Unit& unit : program.units) {
    if (!unit.error.empty()) {
      summary.units_failed.push_back({unit.file, unit.error});
    }
  }
  summary.conflicts = program.conflicts;
  return summary;
}

}  // namespace vprof::instrumenter
