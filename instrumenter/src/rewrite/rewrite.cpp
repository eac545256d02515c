#include "rewrite.h"

#include <fmt/format.h>

#include "../pristine.h"
#include "../progress.h"
#include "instrumentation.h"
#include "sites_json.h"

namespace vprof::instrumenter {

Result<void> rewrite_mirror(const RewriteOptions& options) {
  const Result<Program> program = load_program(options.index);
  if (!program) return tl::unexpected(program.error());
  const Result<Plan> plan = load_plan(options.plan);
  if (!plan) return tl::unexpected(plan.error());
  Result<PristineFiles> pristine = PristineFiles::open(options.mirror, options.pristine);
  if (!pristine) return tl::unexpected(pristine.error());

  const auto read_original = [&](const std::string& file) { return pristine->original(file); };
  const Result<Instrumentation> result =
      instrument(*program, *plan, load_site_ids(options.sites), read_original);
  if (!result) return tl::unexpected(result.error());

  // Everything is known to fit together: from here on only the disk can fail.
  std::vector<std::string> changed;
  size_t done = 0;
  for (const auto& [file, edits] : result->edits) {
    const Result<std::string> original = pristine->original(file);
    if (!original) return tl::unexpected(original.error());
    const Result<bool> wrote = pristine->rewrite(file, *original, apply_edits(*original, edits));
    if (!wrote) return tl::unexpected(wrote.error());
    if (*wrote) changed.push_back(file);
    report_progress(++done, result->edits.size(), file);
  }
  for (const std::string& file : pristine->rewritten()) {
    if (result->edits.count(file) != 0) continue;
    const Result<bool> wrote = pristine->restore(file);
    if (!wrote) return tl::unexpected(wrote.error());
    if (*wrote) changed.push_back(file);
  }
  if (auto saved = save_sites(*program, *plan, *result, options.sites); !saved) return saved;
  if (options.summary.empty()) return {};
  return save_summary(*program, *result, changed, options.summary);
}

}  // namespace vprof::instrumenter
