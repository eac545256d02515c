// `vprof build`: builds the mirror with the user's own command, instrumented as it was last.
#include "pipeline/steps.h"
#include "pipeline/whole_build.h"
#include "process/commands.h"
#include "verbs/verbs.h"
#include "vprof/support/text.h"

namespace vprof::driver {

Result<int> verb_build(const Global& global) {
  auto session = VPROF_TRY(open_session(global.config, Access::kWrite));
  VPROF_TRY(mirror_step(session));
  if (session.state.built.empty()) {
    VPROF_TRY(first_build_step(session));
    if (!VPROF_TRY(instrument_again_step(session))) {
      say("built without instrumentation; run `vprof index` and `vprof instrument` next");
      return 0;
    }
  }
  const auto built = VPROF_TRY(rebuild_step(session));
  if (!session.state.history.empty()) {
    session.state.history.back().build_s = built.seconds;
  }
  VPROF_TRY(session.save());
  say(fmt::format("{} compiled in {:.1f} s", counted(built.compiled, "file"), built.seconds));
  return 0;
}

}  // namespace vprof::driver
