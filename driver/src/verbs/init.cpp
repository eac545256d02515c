// `vprof init`: writes a vprof.json to start from, after a look at the source tree.
#include <fmt/ranges.h>

#include <cctype>
#include <string_view>

#include "discovery/build_system.h"
#include "discovery/candidates.h"
#include "discovery/catalogue.h"
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

constexpr size_t kProposed = 5;
constexpr size_t kRejected = 3;

struct Found {
  bool annotated = false;  ///< the source marks its intervals itself
  size_t files = 0;
  Proposals proposals;
};

Found look_at(const ScannedSource& scanned) {
  return {.annotated = scanned.annotated,
          .files = scanned.files,
          .proposals = propose(scanned, kProposed, kRejected)};
}

/// `order`, or `stream_new ... stream_free`.
std::string title(const Candidate& one) {
  const std::string name =
      one.function.empty() ? fmt::format("{} ... {}", one.begin[0].function, one.end[0].function)
                           : one.function;
  return fmt::format("{}  {}", name, one.place);
}

std::string points(const std::string& indent, const char* role,
                   const std::vector<CandidatePoint>& points) {
  std::string text;
  for (const CandidatePoint& point : points) {
    text += fmt::format("{}{}    {{ \"function\": {}, \"at\": \"{}\", \"key\": \"{}\" }}",
                        text.empty() ? "" : ",\n", indent, json_quoted(point.function), point.at,
                        point.key);
  }
  return text.empty() ? "" : fmt::format(",\n{}  \"{}\": [\n{}\n{}  ]", indent, role, text, indent);
}

/// One interval as JSON; `indent` begins each line.
std::string interval(const std::string& indent, const Candidate& one) {
  if (!one.function.empty()) {
    return fmt::format("{}{{ \"name\": \"request\", \"function\": {} }}\n", indent,
                       json_quoted(one.function));
  }
  return fmt::format("{}{{ \"name\": \"request\"{}{}{} }}\n", indent,
                     points(indent, "begin", one.begin), points(indent, "end", one.end),
                     points(indent, "switch", one.switches));
}

/// The content of "intervals": the likeliest candidate, and the others as comments.
std::string intervals(const Found& found) {
  if (found.annotated) {
    return "    // The source calls vprof_begin and vprof_end, so nothing is needed here.\n";
  }
  const std::vector<Candidate>& candidates = found.proposals.candidates;
  if (candidates.empty()) {
    return "    { \"name\": \"request\", \"function\": \"handle_request\" }\n";
  }
  std::string text;
  for (size_t i = 0; i < candidates.size(); ++i) {
    text += fmt::format("    // {}. {}\n", i + 1, title(candidates[i]));
    for (const std::string& reason : candidates[i].reasons) {
      text += fmt::format("    //      {}\n", reason);
    }
    text += interval(i == 0 ? "    " : "    // ", candidates[i]);
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

  // What one interval is: a call of a function, or from a begin to an end with the same key. These
  // are guesses from the text of the source, the likeliest first. Choose the one that lasts as long
  // as a client waits. Leave the list empty if the source calls vprof_begin and vprof_end.
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
  const Proposals& proposals = found.proposals;
  if (proposals.candidates.empty()) {
    say(fmt::format(
        "no function in {} looks like a request handler; name yours under \"intervals\"",
        counted(found.files, "source file")));
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
    say(fmt::format(
        "the catalogue knows this program (`vprof init --from none` looks for functions "
        "instead)"));
    return write_entry(global, *known, scanned);
  }
  return write_proposal(global, source, scanned);
}

}  // namespace vprof::driver
