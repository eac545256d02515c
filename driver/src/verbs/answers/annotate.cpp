// `vprof annotate FUNCTION`: its source with what each measured call costs.
#include "vprof/report/annotate.h"

#include <algorithm>
#include <map>

#include "pipeline/source.h"
#include "pipeline/steps.h"
#include "process/commands.h"
#include "process/interrupt.h"
#include "process/progress.h"
#include "verbs/verbs.h"
#include "vprof/report/terminal.h"
#include "vprof/support/json.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

using instrumenter::Function;
using instrumenter::Program;

/// All functions of the name that have a definition. A name may be that of several.
Result<std::vector<const Function*>> functions_of(const Program& program, const std::string& name) {
  const std::vector<const Function*> found = program.find(name);
  std::vector<const Function*> defined;
  std::ranges::copy_if(found, std::back_inserter(defined),
                       [](const Function* f) { return !f->file.empty(); });
  if (!defined.empty()) {
    return defined;
  }
  const Function& f = *VPROF_TRY(find_function(program, name, "annotate"));  // for its error
  if (f.targets.empty()) {
    return fail("annotate: {} has no definition in the program, so there is no source of it",
                f.name);
  }
  std::vector<std::string> targets;
  targets.reserve(f.targets.size());
  for (const std::string& key : f.targets) {
    targets.push_back(key.substr(0, key.find('@')));
  }
  targets.resize(std::min<size_t>(targets.size(), 3));
  return fail("annotate: {} has no source of its own; a call of it may reach {}{}", f.name,
              fmt::join(targets, ", "), f.targets.size() > 3 ? ", ..." : "");
}

/// What sites.json says about the calls of a function.
struct CallsOf {
  bool known = false;  // the recording has sites of it
  bool measured = false;
  std::vector<report::UnmeasuredCall> unmeasured;
};

CallsOf calls_of(const nlohmann::json& sites, const std::string& key) {
  CallsOf calls;
  uint64_t id = 0;
  for (const auto& function : sites.value("functions", nlohmann::json::array())) {
    if (function.value("key", "") == key) {
      id = function.value("id", uint64_t{0});
      calls.known = true;
      calls.measured = function.value("expanded", false);
    }
  }
  for (const auto& call : sites.value("unwrapped", nlohmann::json::array())) {
    if (id != 0 && call.value("parent", uint64_t{0}) == id) {
      calls.unmeasured.push_back({call.value("callee", ""), call.value("file", ""),
                                  call.value("line", 0u), call.value("reason", "")});
    }
  }
  return calls;
}

report::AnnotatedFunction annotated(const Session& session, const Function& f,
                                    analyzer::FunctionCosts costs, const nlohmann::json& sites) {
  report::AnnotatedFunction shown;
  shown.name = f.name;
  shown.key = f.key;
  shown.file = f.file;
  const auto [first, last] = lines_of_function(session, f);
  const std::vector<std::string> measured = lines_of(original_text(session, f.file));
  shown.changed = source_lines(session, f.file) != measured;
  shown.first = static_cast<uint32_t>(first);
  for (size_t n = first; n <= std::min(last, measured.size()); ++n) {
    shown.lines.push_back(measured[n - 1]);
  }
  CallsOf calls = calls_of(sites, f.key);
  shown.recorded = calls.known;
  shown.measured = calls.measured;
  shown.unmeasured = std::move(calls.unmeasured);
  shown.costs = std::move(costs);
  return shown;
}

Result<std::vector<analyzer::FunctionCosts>> measure(const Session& session, const fs::path& trace,
                                                     const std::vector<const Function*>& functions,
                                                     const AnnotateOptions& options) {
  std::vector<std::string> keys;
  keys.reserve(functions.size());
  for (const Function* f : functions) {
    keys.push_back(f->key);
  }
  analyzer::Options analysis = session.config.factors;
  if (!options.interval.empty()) {
    analysis.interval = options.interval;
  }
  const Progress progress("annotate");
  const interrupt::DieAtOnce at_once;
  return analyzer::costs_of(trace.string(), (trace / "sites.json").string(), keys, analysis);
}

}  // namespace

Result<int> verb_annotate(const Global& global, const AnnotateOptions& options) {
  const auto session = VPROF_TRY(open_session(global.config, Access::kRead));
  const auto program = VPROF_TRY(load_index(session));
  const auto functions = VPROF_TRY(functions_of(program, options.function));
  const fs::path trace = session.workspace.trace(session.state.iteration);
  std::error_code error;
  if (!fs::exists(trace / "sites.json", error)) {
    return fail("there is no recording {}; `vprof loop` or `vprof record` makes one", shown(trace));
  }
  auto costs = VPROF_TRY(measure(session, trace, functions, options));
  const auto sites = VPROF_TRY(read_json(trace / "sites.json"));
  std::vector<report::AnnotatedFunction> all;
  all.reserve(functions.size());
  for (size_t i = 0; i < functions.size(); ++i) {
    all.push_back(annotated(session, *functions[i], std::move(costs[i]), sites));
  }
  if (options.json) {
    say_verbatim(json_text(report::json(all)));
    return 0;
  }
  std::string text;
  for (const report::AnnotatedFunction& one : all) {
    text += (text.empty() ? "" : "\n") + report::text(one, report::text_options());
  }
  text.pop_back();  // say_with_links() ends the line
  VPROF_TRY(say_with_links(text, session.config.source));
  return 0;
}

}  // namespace vprof::driver
