#include "rewrite/sites_json.h"

#include <algorithm>
#include <optional>
#include <set>

#include "program/plan_json.h"
#include "program/program_json.h"
#include "vprof/support/files.h"
#include "vprof/support/json.h"

namespace vprof::instrumenter {
namespace {

/// sites.json.
struct SitesFile {
  struct FunctionEntry {
    size_t id = 0;
    std::string key, name, file;
    uint32_t line = 0;
    int height = 0;
    size_t callees = 0;
    bool expandable = false;
    bool expanded = false;
  };
  struct SiteEntry {
    uint32_t id = 0;
    SiteKind kind = SiteKind::kCall;
    size_t function = 0;           ///< id; of a call site, the callee
    std::optional<size_t> parent;  ///< of a call site: id of the function that contains it
    std::string file;
    uint32_t line = 0;
    uint32_t column = 0;
    std::string rule;
    std::optional<CallKind> call;  ///< of a call site
  };
  struct UnwrappedEntry {
    size_t parent = 0;
    std::string callee, file;
    uint32_t line = 0;
    uint32_t column = 0;
    std::string reason;
    bool by_rule = false;
  };
  struct IntervalEntry {
    unsigned index = 0;
    std::string name;
  };
  struct SyncEntry {
    unsigned index = 0;
    SyncRole role = SyncRole::kAcquire;
    std::string function;
    bool shared = false;
  };

  int schema = 1;
  int root_height = 0;
  std::vector<FunctionEntry> functions;
  std::vector<SiteEntry> sites;
  std::vector<IntervalEntry> intervals;
  std::vector<SyncEntry> sync;
  std::vector<UnwrappedEntry> unwrapped;
  SiteIds site_ids;
};

}  // namespace
}  // namespace vprof::instrumenter

namespace vprof::json {

using instrumenter::SitesFile;

template <>
struct Words<instrumenter::SiteKind> {
  static constexpr std::array kWords = {"function", "call"};
};

template <>
struct Object<SitesFile::FunctionEntry> {
  using T = SitesFile::FunctionEntry;
  static constexpr auto kFields = std::tuple{required("id", &T::id),
                                             required("key", &T::key),
                                             required("name", &T::name),
                                             required("file", &T::file),
                                             required("line", &T::line),
                                             required("height", &T::height),
                                             required("callees", &T::callees),
                                             required("expandable", &T::expandable),
                                             required("expanded", &T::expanded)};
};

template <>
struct Object<SitesFile::SiteEntry> {
  using T = SitesFile::SiteEntry;
  static constexpr auto kFields = std::tuple{required("id", &T::id),
                                             required("kind", &T::kind),
                                             required("function", &T::function),
                                             non_default("parent", &T::parent),
                                             required("file", &T::file),
                                             required("line", &T::line),
                                             required("column", &T::column),
                                             required("rule", &T::rule),
                                             non_default("call", &T::call)};
};

template <>
struct Object<SitesFile::UnwrappedEntry> {
  using T = SitesFile::UnwrappedEntry;
  static constexpr auto kFields =
      std::tuple{required("parent", &T::parent),  required("callee", &T::callee),
                 required("file", &T::file),      required("line", &T::line),
                 required("column", &T::column),  required("reason", &T::reason),
                 required("by_rule", &T::by_rule)};
};

template <>
struct Object<SitesFile::IntervalEntry> {
  using T = SitesFile::IntervalEntry;
  static constexpr auto kFields =
      std::tuple{required("index", &T::index), required("name", &T::name)};
};

template <>
struct Object<SitesFile::SyncEntry> {
  using T = SitesFile::SyncEntry;
  static constexpr auto kFields =
      std::tuple{required("index", &T::index), required("role", &T::role),
                 required("function", &T::function), non_default("shared", &T::shared)};
};

template <>
struct Object<SitesFile> {
  using T = SitesFile;
  static constexpr auto kFields =
      std::tuple{required("schema", &T::schema),       required("root_height", &T::root_height),
                 required("functions", &T::functions), required("sites", &T::sites),
                 required("intervals", &T::intervals), required("sync", &T::sync),
                 required("unwrapped", &T::unwrapped), required("site_ids", &T::site_ids)};
};

}  // namespace vprof::json

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
      out.height = pseudo->second;
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
    return out;
  }

  const Program& program_;
  const Plan& plan_;
  const Instrumentation& result_;
  std::map<std::string, size_t> ids_;
  std::vector<SitesFile::FunctionEntry> entries_;
};

/// Height of the call graph below the functions where intervals begin, end or are switched to.
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
  // An expanded function may be above these, such as a handler in which an interval begins.
  for (const std::string& key : plan.expanded) {
    if (const Function* f = program.by_key(key)) {
      height = std::max(height, f->height);
    }
  }
  return height;
}

}  // namespace

SiteIds load_site_ids(const std::string& path) {
  const Result<std::string> text = read_file(path);
  const json::Json document = text ? parse_json(*text) : json::Json::object();
  const auto known = document.find("site_ids");
  return known == document.end() ? SiteIds{} : json::read<SiteIds>(*known).value_or(SiteIds{});
}

Result<void> save_sites(const Program& program, const Plan& plan, const Instrumentation& result,
                        const std::string& path) {
  FunctionTable functions(program, plan, result);
  SitesFile file;
  file.root_height = root_height(program, plan);
  // Numbers stay assigned for good: a site that is demoted and comes back is the same site.
  file.site_ids = load_site_ids(path);
  for (const Site& site : result.sites) {
    SitesFile::SiteEntry out;
    out.id = site.id;
    out.kind = site.kind;
    out.function = functions.id(site.function);
    out.file = site.file;
    out.line = site.line;
    out.column = site.column;
    out.rule = site.rule;
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
  for (const IntervalPlan& interval : plan.intervals) {
    file.intervals.push_back({interval.index, interval.name});
  }
  for (const SyncPlan& sync : plan.sync) {
    const Function* f = program.by_key(sync.function);
    file.sync.push_back(
        {sync.index, sync.role, f == nullptr ? sync.function : f->name, sync.shared});
  }
  file.functions = functions.take();
  return write_file_atomic(path, json_text(json::write(file)));
}

Summary summary_of(const Program& program, const Instrumentation& result,
                   std::vector<std::string> files_changed) {
  Summary summary;
  summary.files_changed = std::move(files_changed);
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
