// `vprof merge`: adds up the profiles of several runs, processes or hosts.
#include "pipeline/results.h"
#include "process/commands.h"
#include "verbs/verbs.h"
#include "vprof/report/terminal.h"

namespace vprof::driver {

Result<int> verb_merge(const Global& global, const MergeOptions& options) {
  const auto profile = VPROF_TRY(read_profiles(options.profiles, {}));
  if (!options.output.empty()) {
    VPROF_TRY(write_result(options.output, profile.bytes));
    remember_outputs_of_verb(global.config, {options.output});
  }
  remember_outputs_of_verb(global.config, {});
  say_verbatim(options.json ? report::json_text(profile, {})
                            : report::text(profile, {}, report::text_options()));
  return 0;
}

}  // namespace vprof::driver
