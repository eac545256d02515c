#include "pipeline/annotated.h"

#include <algorithm>

#include "pipeline/analysis.h"
#include "pipeline/recordings/slices.h"
#include "pipeline/source.h"
#include "process/interrupt.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

using instrumenter::Function;
using instrumenter::SitesFile;

/// What sites.json says about the function and its calls.
void add_sites(const SitesFile& sites, const SitesFile::FunctionEntry& entry,
               report::AnnotatedFunction& shown) {
  shown.recorded = true;
  shown.measured = entry.expanded;
  for (const SitesFile::UnwrappedEntry& call : sites.unwrapped) {
    if (call.parent == entry.id) {
      shown.unmeasured.push_back({call.callee, call.file, call.line, call.reason});
    }
    if (call.callee == entry.name) {
      shown.why_calls_unmeasured = call.reason;
    }
  }
}

}  // namespace

bool MeasuredSource::has_changed(const std::string& file) const {
  const auto measured = sites_.files.find(file);
  if (measured == sites_.files.end()) {
    return false;
  }
  const auto [known, is_new] = changed_.try_emplace(file);
  if (is_new) {
    known->second = measured->second != instrumenter::content_hash(original_text(session_, file));
  }
  return known->second;
}

const SitesFile::FunctionEntry* MeasuredSource::entry_of(const Function& f) const {
  const SitesFile::FunctionEntry* of_name = nullptr;
  size_t count = 0;
  for (const SitesFile::FunctionEntry& entry : sites_.functions) {
    if (entry.key == f.key) {
      return &entry;
    }
    if (entry.name == f.name && entry.file == f.file) {
      of_name = &entry;
      ++count;
    }
  }
  return count == 1 && has_changed(f.file) ? of_name : nullptr;
}

report::AnnotatedFunction text_of(const Session& session, const Function& f,
                                  const MeasuredSource& measured) {
  report::AnnotatedFunction shown;
  shown.name = f.name;
  shown.key = f.key;
  shown.file = f.file;
  const auto [first, last] = lines_of_function(session, f);
  const std::vector<std::string> text = lines_of(original_text(session, f.file));
  shown.changed = source_lines(session, f.file) != text;
  shown.outdated = measured.has_changed(f.file);
  shown.first = static_cast<uint32_t>(first);
  for (size_t n = first; n <= std::min(last, text.size()); ++n) {
    shown.lines.push_back(text[n - 1]);
  }
  return shown;
}

Result<std::vector<report::AnnotatedFunction>> annotate(
    const Session& session, const fs::path& trace, const std::vector<const Function*>& functions,
    const analyzer::Options& options) {
  VPROF_TRY(check_recording(trace));
  const std::string sites_json = (trace / "sites.json").string();
  const MeasuredSource measured(session, VPROF_TRY(instrumenter::load_sites(sites_json)));
  std::vector<std::string> keys;
  keys.reserve(functions.size());
  for (const Function* f : functions) {
    const SitesFile::FunctionEntry* entry = measured.entry_of(*f);
    keys.push_back(entry == nullptr ? f->key : entry->key);
  }
  const interrupt::DieAtOnce at_once;
  // In a live search, other sites were on in what the epochs before have recorded.
  auto costs = VPROF_TRY(
      analyzer::costs_of(trace.string(), sites_json, keys, options, slices_of_last_epoch(trace)));
  std::vector<report::AnnotatedFunction> all;
  all.reserve(functions.size());
  for (size_t i = 0; i < functions.size(); ++i) {
    report::AnnotatedFunction& shown = all.emplace_back(text_of(session, *functions[i], measured));
    if (const auto* entry = measured.entry_of(*functions[i]); entry != nullptr) {
      add_sites(measured.sites(), *entry, shown);
    }
    shown.costs = std::move(costs[i]);
  }
  return all;
}

}  // namespace vprof::driver
