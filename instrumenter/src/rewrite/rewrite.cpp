#include "rewrite/rewrite.h"

#include <fmt/format.h>

#include <atomic>

#include "files/parallel.h"
#include "files/pristine.h"
#include "files/progress.h"
#include "rewrite/instrumentation.h"
#include "rewrite/results.h"
#include "vprof/support/files.h"

namespace vprof::instrumenter {
namespace {

using Edits = std::map<std::string, std::vector<Edit>>;
using Texts = std::map<std::string, std::string>;

/// The text of each file with its insertions, in parallel.
Result<Texts> texts_of(const Edits& edits, const PristineFiles& pristine) {
  struct RewrittenFile {
    const std::string* file;
    const std::vector<Edit>* inserted;
    Result<std::string> text = {};
  };
  std::vector<RewrittenFile> all;
  for (const auto& [file, inserted] : edits) {
    all.push_back({&file, &inserted});
  }
  std::atomic<size_t> done{0};
  parallel_for(all.size(), 0, [&](size_t i) {
    RewrittenFile& one = all[i];
    one.text = pristine.original(*one.file);
    if (one.text) {
      one.text = apply_edits(*one.text, *one.inserted);
    }
    report_progress(++done, all.size(), *one.file);
  });
  Texts texts;
  for (RewrittenFile& one : all) {
    texts.emplace(*one.file, VPROF_TRY(std::move(one.text)));
  }
  return texts;
}

/// Writes the rewritten files into another directory.
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
  SiteIds known_ids = load_site_ids(options.sites);
  const auto result = VPROF_TRY(instrument(program, plan, known_ids, read_original));

  const auto texts = VPROF_TRY(texts_of(result.edits, pristine));
  // Everything fits together: from here on only the disk can fail.
  auto changed = VPROF_TRY(options.preview.empty() ? pristine.update(texts, options.changed)
                                                   : write_preview(texts, options.preview));
  if (options.preview.empty()) {
    VPROF_TRY(save_sites(sites_of(program, plan, result, std::move(known_ids)), options.sites));
  }
  if (options.summary.empty()) {
    return {};
  }
  std::map<std::string, std::string> rewritten;
  for (const auto& [file, text] : texts) {
    rewritten[file] = content_hash(text);
  }
  return save_summary(summary_of(program, result, std::move(changed), std::move(rewritten)),
                      options.summary);
}

}  // namespace vprof::instrumenter
