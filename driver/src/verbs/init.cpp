// `vprof init`: writes a vprof.json to start from, after a look at the source tree.
#include <fmt/ranges.h>

#include <cctype>
#include <string_view>

#include "discovery/build_system.h"
#include "discovery/catalogue.h"
#include "discovery/handlers.h"
#include "pipeline/steps.h"
#include "process/commands.h"
#include "verbs/verbs.h"
#include "vprof/support/json.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

std::string json_quoted(const std::string& text) { return nlohmann::json(text).dump(); }

std::string file_uri(const fs::path& path) {
  std::string uri = "file://";
  for (const char c : path.string()) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       std::string_view("/-._~").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

/// `"$schema": "file:///..."` for editors; empty if the installation does not have the schema.
std::string schema_member() {
  const auto locations = find_locations();
  std::error_code error;
  if (!locations) {
    return "";
  }
  const fs::path schema = locations->schemas / "vprof.schema.json";
  if (!fs::exists(schema, error)) {
    return "";
  }
  const std::string uri = file_uri(schema);
  return fmt::format("  // Lets editors complete and check this file.\n  \"$schema\": {},\n\n",
                     json_quoted(uri));
}

constexpr size_t kSuggested = 5;

struct Found {
  bool annotated = false;  ///< the source marks its intervals itself
  size_t files = 0;
  std::vector<Handler> handlers;
};

Found look_at(const ScannedSource& scanned) {
  return {.annotated = scanned.annotated,
          .files = scanned.files,
          .handlers = likely_handlers(scanned, kSuggested)};
}

/// The content of "intervals": the likeliest handler, and the others as comments.
std::string intervals(const Found& found) {
  if (found.annotated) {
    return "    // The source calls vprof_begin and vprof_end, so nothing is needed here.\n";
  }
  if (found.handlers.empty()) {
    return "    { \"name\": \"request\", \"function\": \"handle_request\" }\n";
  }
  std::string text;
  for (size_t i = 0; i < found.handlers.size(); ++i) {
    const Handler& one = found.handlers[i];
    text += fmt::format("    // {}  {}\n    //   {}\n", one.name, one.place, one.reason);
    text += fmt::format("    {}{{ \"name\": \"request\", \"function\": {} }}\n",
                        i == 0 ? "" : "// ", json_quoted(one.name));
  }
  return text;
}

/// The comments explain each key, so that users can complete the file without the manual.
std::string configuration(const BuildSystem& system, const Found& found) {
  return fmt::format(
      R"(// What vprof needs to know about this program. docs/configuration.md of vprof explains all keys.
{{
{}  // The source tree. It is copied to .vprof/mirror and never written to.
  "source": ".",

  // Shell commands, run at the top of the copy. "configure" runs once; leave it empty if there is
  // none.
  "configure": {},
  "build": {},

  // The workload: starts the built program, puts load on it, stops it, and ends by itself.
  "run": "./run-workload.sh",

  // What one interval is: here one call of a function. For requests that span functions and threads
  // see the documentation. Leave the list empty if the source calls vprof_begin and vprof_end. The
  // suggestions are functions with many callees, called in a loop near the start of a thread.
  "intervals": [
{}  ],

  // The program's own locks and queues, if it has any; vprof knows those of POSIX and C++.
  "sync": {{
    "acquire": [],
    "release": [],
    "enqueue": [],
    "dequeue": []
  }},

  // How many factors to look for, and the least part of the variance that matters.
  "factors": {{ "k": 3, "threshold": 0.05 }}
}}
)",
      schema_member(), json_quoted(system.configure), json_quoted(system.build), intervals(found));
}

void say_found(const Found& found) {
  if (found.annotated) {
    return say("the source calls vprof_begin: its annotations define the intervals");
  }
  if (found.handlers.empty()) {
    return say(fmt::format(
        "no function in {} looks like a request handler; name yours under \"intervals\"",
        counted(found.files, "source file")));
  }
  say("these functions look like request handlers; \"intervals\" has the first one:");
  for (const Handler& one : found.handlers) {
    say(fmt::format("  {}  {}\n      {}", one.name, one.place, one.reason));
  }
}

/// The text of an entry for this installation.
std::string configuration(const CatalogueEntry& entry) {
  const size_t open = entry.text.find("\n{\n");
  return open == std::string::npos
             ? entry.text
             : entry.text.substr(0, open + 3) + schema_member() + entry.text.substr(open + 3);
}

Result<int> write_entry(const Global& global, const CatalogueEntry& entry,
                        const ScannedSource& source) {
  VPROF_TRY(write_file_atomic(global.config, configuration(entry)));
  say(fmt::format("wrote {} from the catalogue: {}: {}", shown(global.config), entry.names[0],
                  entry.summary));
  const std::vector<std::string> missing = missing_functions(entry, source);
  if (!missing.empty()) {
    say(fmt::format("not in the text of this source: {}; replace {} (`vprof init --from none` "
                    "proposes functions)",
                    fmt::join(missing, ", "), missing.size() == 1 ? "it" : "them"));
  }
  say("next: read its comments and complete \"configure\", \"build\" and \"run\"; then `vprof check`, "
      "then `vprof loop`");
  return 0;
}

Result<int> write_proposal(const Global& global, const fs::path& source,
                           const ScannedSource& scanned) {
  const BuildSystem system = build_system_of(source);
  const Found found = look_at(scanned);
  VPROF_TRY(write_file_atomic(global.config, configuration(system, found)));
  if (system.name.empty()) {
    say(
        fmt::format("wrote {}; the build system was not recognised: complete "
                    "\"configure\" and \"build\"",
                    shown(global.config)));
  } else {
    say(fmt::format("wrote {} for a program built by {}", shown(global.config), system.name));
  }
  say_found(found);
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
    say(fmt::format("the catalogue knows this program (`vprof init --from none` looks for functions "
                    "instead)"));
    return write_entry(global, *known, scanned);
  }
  return write_proposal(global, source, scanned);
}

}  // namespace vprof::driver
