// `vprof merge`: profiles of several runs, processes or hosts become one.
#include "pipeline/analysis.h"
#include "pipeline/profiles.h"
#include "process/commands.h"
#include "verbs/verbs.h"

namespace vprof::driver {

Result<int> verb_merge(const MergeOptions& options) {
  auto profile = read_profiles(options.profiles, {});
  if (!profile) {
    return tl::unexpected(profile.error());
  }
  if (!options.output.empty()) {
    VPROF_TRY(write_file_atomic(options.output, profile->sums));
  }
  say(options.json ? report::json_text(*profile, {}) : report::text(*profile, {}, text_options()));
  return 0;
}

}  // namespace vprof::driver
