// `vprof source FUNCTION`: what was inserted into a function, as a diff.
#include <algorithm>

#include "pipeline/source.h"
#include "pipeline/steps.h"
#include "process/commands.h"
#include "verbs/verbs.h"
#include "vprof/support/json.h"
#include "vprof/support/text.h"

namespace vprof::driver {

Result<int> verb_source(const Global& global, const SourceOptions& options) {
  auto session = VPROF_TRY(open_session(global.config, Access::kRead));
  auto program = VPROF_TRY(load_index(session));
  auto found = VPROF_TRY(find_function(program, options.function, "source"));
  const instrumenter::Function& f = *found;
  if (f.file.empty()) {
    return fail("{} has no definition in the program", f.name);
  }

  auto instrumented = VPROF_TRY(read_file(session.workspace.mirror() / f.file));
  const auto [first, last] = lines_of_function(session, f);
  const std::string diff = insertions_in(session, f.file, instrumented, first, last);
  const std::string why = f.refused == instrumenter::Reason::kNone
                              ? "it is not part of the plan"
                              : instrumenter::text_of(f.refused);
  if (options.json) {
    say_verbatim(json_text({{"$schema", "source.schema.json"},
                            {"schema", 1},
                            {"function", f.name},
                            {"key", f.key},
                            {"file", f.file},
                            {"line", f.line},
                            {"diff", diff},
                            {"why_not", diff.empty() ? why : ""}}));
  } else if (diff.empty()) {
    say(fmt::format("{}  {}:{}: nothing is inserted: {}", f.name, f.file, f.line, why));
  } else {
    answer(diff);
  }
  return 0;
}

}  // namespace vprof::driver
