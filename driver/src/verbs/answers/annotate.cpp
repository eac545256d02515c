// `vprof annotate FUNCTION`: its source with what each measured call costs.
#include "vprof/report/annotate.h"

#include <algorithm>

#include "pipeline/annotated.h"
#include "pipeline/steps.h"
#include "process/commands.h"
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

}  // namespace

Result<int> verb_annotate(const Global& global, const AnnotateOptions& options) {
  const auto session = VPROF_TRY(open_session(global.config, Access::kRead));
  const auto program = VPROF_TRY(load_index(session));
  const auto functions = VPROF_TRY(functions_of(program, options.function));
  analyzer::Options analysis = session.config.factors;
  if (!options.interval.empty()) {
    analysis.interval = options.interval;
  }
  const std::vector<report::AnnotatedFunction> all = VPROF_TRY([&] {
    const Progress progress("annotate");
    return annotate(session, session.workspace.trace(session.state.iteration), functions, analysis);
  }());
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
