// `vprof build`: builds the mirror as it is now with the user's own command.
#include "commands.h"
#include "near.h"
#include "steps.h"
#include "verbs.h"

namespace vprof::driver {

Result<int> verb_build(const Global& global) {
  auto session = open_session(global.config, Access::kWrite);
  if (!session) return tl::unexpected(session.error());
  auto mirrored = mirror_step(*session);
  if (!mirrored) return tl::unexpected(mirrored.error());
  if (session->state.built.empty()) {
    if (auto built = first_build_step(*session); !built) return tl::unexpected(built.error());
    say("built without instrumentation; `vprof index` and `vprof instrument` come next");
    return 0;
  }
  auto built = build_step(*session);
  if (!built) return tl::unexpected(built.error());
  if (!session->state.history.empty()) session->state.history.back().build_s = built->seconds;
  if (auto saved = session->save(); !saved) return tl::unexpected(saved.error());
  say(fmt::format("{} compiled in {:.1f} s", counted(built->compiled, "file"), built->seconds));
  return 0;
}

}  // namespace vprof::driver
