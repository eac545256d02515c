#include "rewrite.h"

#include <fmt/format.h>

#include "../files.h"
#include "../pristine.h"
#include "../progress.h"
#include "instrumentation.h"
#include "sites_json.h"

namespace vprof::instrumenter {
namespace {

using Edits = std::map<std::string, std::vector<Edit>>;

/// Writes what the files would become into another directory.
Result<std::vector<std::string>> write_preview(const Edits& edits, const PristineFiles& pristine,
                                               const std::string& directory) {
  std::vector<std::string> files;
  for (const auto& [file, inserted] : edits) {
    const Result<std::string> original = pristine.original(file);
    if (!original) return tl::unexpected(original.error());
    const auto written =
        replace_file(fmt::format("{}/{}", directory, file), apply_edits(*original, inserted));
    if (!written) return tl::unexpected(written.error());
    files.push_back(file);
  }
  return files;
}

/// Brings the mirror to `edits`: rewrites the files they name, restores all others. Files that are
/// what they should be are not touched, so the user's build stays incremental.
Result<std::vector<std::string>> write_mirror(const Edits& edits, PristineFiles& pristine) {
  std::vector<std::string> changed;
  size_t done = 0;
  for (const auto& [file, inserted] : edits) {
    const Result<std::string> original = pristine.original(file);
    if (!original) return tl::unexpected(original.error());
    const Result<bool> wrote = pristine.rewrite(file, *original, apply_edits(*original, inserted));
    if (!wrote) return tl::unexpected(wrote.error());
    if (*wrote) changed.push_back(file);
    report_progress(++done, edits.size(), file);
  }
  for (const std::string& file : pristine.rewritten()) {
    if (edits.count(file) != 0) continue;
    const Result<bool> wrote = pristine.restore(file);
    if (!wrote) return tl::unexpected(wrote.error());
    if (*wrote) changed.push_back(file);
  }
  return changed;
}

}  // namespace

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
  const Result<std::vector<std::string>> changed =
      options.preview.empty() ? write_mirror(result->edits, *pristine)
                              : write_preview(result->edits, *pristine, options.preview);
  if (!changed) return tl::unexpected(changed.error());
  if (options.preview.empty())
    if (auto saved = save_sites(*program, *plan, *result, options.sites); !saved) return saved;
  if (options.summary.empty()) return {};
  return save_summary(*program, *result, *changed, options.summary);
}

}  // namespace vprof::instrumenter
