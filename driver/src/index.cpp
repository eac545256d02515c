// `vprof index`: which functions there are and who calls whom.
#include "steps.h"
#include "verbs.h"

namespace vprof::driver {

Result<int> verb_index(const Global& global) {
  auto session = open_session(global.config, Access::kWrite);
  if (!session) return tl::unexpected(session.error());
  if (auto mirrored = mirror_step(*session); !mirrored) return tl::unexpected(mirrored.error());
  if (auto built = first_build_step(*session); !built) return tl::unexpected(built.error());
  if (auto program = index_step(*session); !program) return tl::unexpected(program.error());
  return 0;
}

}  // namespace vprof::driver
