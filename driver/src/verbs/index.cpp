// `vprof index`: finds the functions of the program and their calls.
#include "pipeline/steps.h"
#include "verbs/verbs.h"

namespace vprof::driver {

Result<int> verb_index(const Global& global) {
  auto session = VPROF_TRY(open_session(global.config, Access::kWrite));
  VPROF_TRY(mirror_step(session));
  VPROF_TRY(first_build_step(session));
  VPROF_TRY(index_step(session));
  return 0;
}

}  // namespace vprof::driver
