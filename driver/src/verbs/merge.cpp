// `vprof merge`: adds up the profiles of several runs, processes or hosts.
#include "pipeline/results.h"
#include "pipeline/terminal.h"
#include "process/commands.h"
#include "verbs/verbs.h"

namespace vprof::driver {

Result<int> verb_merge(const MergeOptions& options) {
  const auto profile = VPROF_TRY(read_profiles(options.profiles, {}));
  if (!options.output.empty()) {
    VPROF_TRY(write_file_atomic(options.output, profile.bytes));
  }
  say(options.json ? report::json_text(profile, {}) : report::text(profile, {}, text_options()));
  return 0;
}

}  // namespace vprof::driver
