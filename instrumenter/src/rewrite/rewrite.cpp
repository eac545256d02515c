#include "rewrite.h"

#include <fmt/format.h>

#include <atomic>

#include "../files.h"
#include "../parallel.h"
#include "../pristine.h"
#include "../progress.h"
#include "instrumentation.h"
#include "sites_json.h"

namespace vprof::instrumenter {
namespace {

using Edits = std::map<std::string, std::vector<Edit>>;

using Texts = std::map<std::string, std::string>;

Result<Texts> texts_of(const Edits& edits, const PristineFiles& pristine) {
  struct Work {
    const std::string* file;
    const std::vector<Edit>* inserted;
    Result<std::string> text = {};
  };
  std::vector<Work> all;
  for (const auto& [file, inserted] : edits) all.push_back({&file, &inserted});
  std::atomic<size_t> done{0};
  parallel_for(all.size(), 0, [&](size_t i) {
    Work& work = all[i];
    work.text = pristine.original(*work.file);
    if (work.text) work.text = apply_edits(*work.text, *work.inserted);
    report_progress(++done, all.size(), *work.file);
  });
  Texts texts;
  for (Work& work : all) {
    if (!work.text) return tl::unexpected(work.text.error());
    texts.emplace(*work.file, std::move(*work.text));
  }
  return texts;
}

/// Writes what the files would become into another directory.
Result<std::vector<std::string>> write_preview(const Texts& texts, const std::string& directory) {
  std::vector<std::string> files;
  for (const auto& [file, text] : texts) {
    const auto written = replace_file(fmt::format("{}/{}", directory, file), text);
    if (!written) return tl::unexpected(written.error());
    files.push_back(file);
  }
  return files;
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

  const Result<Texts> texts = texts_of(result->edits, *pristine);
  if (!texts) return tl::unexpected(texts.error());
  // Everything is known to fit together: from here on only the disk can fail.
  const Result<std::vector<std::string>> changed =
      options.preview.empty() ? pristine->update(*texts) : write_preview(*texts, options.preview);
  if (!changed) return tl::unexpected(changed.error());
  if (options.preview.empty())
    if (auto saved = save_sites(*program, *plan, *result, options.sites); !saved) return saved;
  if (options.summary.empty()) return {};
  return save_summary(*program, *result, *changed, options.summary);
}

}  // namespace vprof::instrumenter
