// `vprof init`: writes a vprof.json to start from, after a look at the source tree.
#include <fmt/ranges.h>

#include "discovery/catalogue.h"
#include "discovery/draft.h"
#include "pipeline/steps.h"
#include "process/commands.h"
#include "verbs/verbs.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

/// The schema of this installation; empty without one.
fs::path schema_file() {
  const auto locations = find_locations();
  return locations ? locations->schemas / "vprof.schema.json" : fs::path();
}

void say_found(const Draft& draft) {
  if (draft.annotated) {
    return say("the source calls vprof_begin: its annotations define the intervals");
  }
  const Proposals& proposals = draft.proposals;
  if (proposals.candidates.empty()) {
    say(fmt::format(
        "no function in {} looks like a request handler; name yours under \"intervals\"",
        counted(draft.files, "source file")));
  } else {
    say("what a request may be, the likeliest first; \"intervals\" has the first one:");
  }
  for (size_t i = 0; i < proposals.candidates.size(); ++i) {
    const Candidate& one = proposals.candidates[i];
    say(fmt::format("  {}. {}", i + 1, title(one)));
    for (const std::string& reason : one.reasons) {
      say(fmt::format("       {}", reason));
    }
  }
  for (const Rejected& one : proposals.rejected) {
    say(fmt::format("  not {}  {}: {}", one.function, one.place, one.reason));
  }
}

Result<int> write_entry(const Global& global, const CatalogueEntry& entry,
                        const ScannedSource& source) {
  VPROF_TRY(write_file_atomic(global.config, with_member(entry, schema_member(schema_file()))));
  say(fmt::format("wrote {} from the catalogue: {}: {}", shown(global.config), entry.names[0],
                  entry.summary));
  const std::vector<std::string> missing = missing_functions(entry, source);
  if (!missing.empty()) {
    say(
        fmt::format("not in the text of this source: {}; replace {} (`vprof init --from none` "
                    "proposes functions)",
                    fmt::join(missing, ", "), missing.size() == 1 ? "it" : "them"));
  }
  say("next: read its comments and complete \"configure\", \"build\" and \"run\"; then `vprof "
      "check`, "
      "then `vprof loop`");
  return 0;
}

Result<int> write_proposal(const Global& global, const fs::path& source,
                           const ScannedSource& scanned) {
  const Draft draft = draft_for(source, scanned, "");
  VPROF_TRY(write_file_atomic(global.config, configuration(draft, schema_file())));
  if (draft.system.name.empty()) {
    say(
        fmt::format("wrote {}; the build system was not recognised: complete "
                    "\"configure\" and \"build\"",
                    shown(global.config)));
  } else {
    say(fmt::format("wrote {} for a program built by {}", shown(global.config), draft.system.name));
  }
  say_found(draft);
  say("next: set \"run\" and \"intervals\" in it, then `vprof check`, then `vprof loop`");
  return 0;
}

/// Nothing without an installation: the catalogue is a convenience.
Result<std::vector<CatalogueEntry>> catalogue() {
  const auto locations = find_locations();
  return locations ? load_catalogue(locations->catalogue) : std::vector<CatalogueEntry>{};
}

}  // namespace

Result<int> verb_init(const Global& global, const InitOptions& options) {
  const std::vector<CatalogueEntry> entries = VPROF_TRY(catalogue());
  if (options.from == "list") {
    for (const std::string& line : described(entries)) {
      say(line);
    }
    return 0;
  }
  remember_outputs_of_verb(global.config, {});
  std::error_code error;
  if (fs::exists(fs::symlink_status(global.config, error))) {
    return fail("{} already exists; edit it, or delete it first", shown(global.config));
  }
  const bool chosen = !options.from.empty() && options.from != "none";
  const CatalogueEntry wanted =
      chosen ? VPROF_TRY(find_entry(entries, options.from)) : CatalogueEntry{};
  const fs::path source = fs::absolute(global.config).parent_path();
  const ScannedSource scanned = scan_tree(source);
  if (chosen) {
    return write_entry(global, wanted, scanned);
  }
  const CatalogueEntry* known = options.from == "none" ? nullptr : entry_of(entries, scanned);
  if (known != nullptr && !scanned.annotated) {
    say(fmt::format(
        "the catalogue knows this program (`vprof init --from none` looks for functions "
        "instead)"));
    return write_entry(global, *known, scanned);
  }
  return write_proposal(global, source, scanned);
}

}  // namespace vprof::driver
