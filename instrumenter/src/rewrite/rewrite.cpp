#include "rewrite/rewrite.h"

#include <fmt/format.h>

#include <atomic>

#include "files/parallel.h"
#include "files/pristine.h"
#include "files/progress.h"
#include "rewrite/instrumentation.h"
#include "rewrite/sites_json.h"
#include "vprof/support/files.h"

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
  for (const auto& [file, inserted] : edits) {
    all.push_back({&file, &inserted});
  }
  std::atomic<size_t> done{0};
  parallel_for(all.size(), 0, [&](size_t i) {
    Work& work = all[i];
    work.text = pristine.original(*work.file);
    if (work.text) {
      work.text = apply_edits(*work.text, *work.inserted);
    }
    report_progress(++done, all.size(), *work.file);
  });
  Texts texts;
  for (Work& work : all) {
    if (!work.text) {
      return tl::unexpected(work.text.error());
    }
    texts.emplace(*work.file, std::move(*work.text));
  }
  return texts;
}

/// Writes what the files would become into another directory.
Result<std::vector<std::string>> write_preview(const Texts& texts, const std::string& directory) {
  std::vector<std::string> files;
  for (const auto& [file, text] : texts) {
    VPROF_TRY(write_file_with_parents(fmt::format("{}/{}", directory, file), text));
    files.push_back(file);
  }
  return files;
}

}  // namespace

Result<void> rewrite_mirror(const RewriteOptions& options) {
  const auto program = VPROF_TRY(load_program(options.index));
  const auto plan = VPROF_TRY(load_plan(options.plan));
  auto pristine = VPROF_TRY(PristineFiles::open(options.mirror, options.pristine));

  const auto read_original = [&](const std::string& file) { return pristine.original(file); };
  const auto result =
      VPROF_TRY(instrument(program, plan, load_site_ids(options.sites), read_original));

  const auto texts = VPROF_TRY(texts_of(result.edits, pristine));
  // Everything is known to fit together: from here on only the disk can fail.
  const auto changed = VPROF_TRY(options.preview.empty() ? pristine.update(texts)
                                                         : write_preview(texts, options.preview));
  if (options.preview.empty()) {
    VPROF_TRY(save_sites(program, plan, result, options.sites));
  }
  if (options.summary.empty()) {
    return {};
  }
  return save_summary(program, result, changed, options.summary);
}

}  // namespace vprof::instrumenter
