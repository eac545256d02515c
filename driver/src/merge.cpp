// `vprof merge`: profiles of several runs, processes or hosts become one.
#include "analysis.h"
#include "commands.h"
#include "profiles.h"
#include "verbs.h"

namespace vprof::driver {

Result<int> verb_merge(const MergeOptions& options) {
  auto profile = read_profiles(options.profiles, {});
  if (!profile) return tl::unexpected(profile.error());
  if (!options.output.empty()) {
    if (auto written = write_file_atomic(options.output, profile->sums); !written) {
      return tl::unexpected(written.error());
    }
  }
  say(options.json ? report::json_text(*profile, {}) : report::text(*profile, {}, text_options()));
  return 0;
}

}  // namespace vprof::driver
