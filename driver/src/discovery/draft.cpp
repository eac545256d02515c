#include "discovery/draft.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "vprof/support/json.h"

namespace vprof::driver {

namespace {

constexpr size_t kProposed = 5;
constexpr size_t kRejected = 3;

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
std::string intervals(const Draft& draft) {
  if (draft.annotated) {
    return "    // The source calls vprof_begin and vprof_end, so nothing is needed here.\n";
  }
  const std::vector<Candidate>& candidates = draft.proposals.candidates;
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

}  // namespace

std::string title(const Candidate& one) {
  const std::string name =
      one.function.empty() ? fmt::format("{} ... {}", one.begin[0].function, one.end[0].function)
                           : one.function;
  return fmt::format("{}  {}", name, one.place);
}

Draft draft_for(const fs::path& source, const ScannedSource& scanned, const std::string& function) {
  Draft draft{.system = build_system_of(source),
              .annotated = scanned.annotated,
              .files = scanned.files,
              .proposals = propose(scanned, kProposed, kRejected)};
  if (function.empty()) {
    return draft;
  }
  std::vector<Candidate>& candidates = draft.proposals.candidates;
  std::erase_if(candidates, [&](const Candidate& one) { return one.function == function; });
  Candidate named;
  named.function = function;
  named.reasons = {"named by you"};
  for (const ScannedFunction& one : scanned.functions) {
    if (may_mean(function, one) && named.place.empty()) {
      named.place = fmt::format("{}:{}", one.file, one.line);
    }
  }
  candidates.insert(candidates.begin(), std::move(named));
  draft.annotated = false;
  return draft;
}

std::string schema_member(const fs::path& schema) {
  std::error_code error;
  if (schema.empty() || !fs::exists(schema, error)) {
    return "";
  }
  return fmt::format("  // Lets editors complete and check this file.\n  \"$schema\": {},\n\n",
                     json_quoted(file_uri(schema)));
}

std::string configuration(const Draft& draft, const fs::path& schema) {
  return fmt::format(
      R"(// What vprof needs to know about this program. docs/configuration.md of vprof explains all keys.
{{
{}  // The source tree. It is copied to .vprof/mirror and never written to.
  "source": ".",

  // Shell commands, run at the top of the copy. "configure" runs once; leave it empty if there is
  // none.
  "configure": {},
  "build": {},

  // The workload: starts the built program, puts load on it, stops it, and ends by itself. (For
  // `vprof try` it may go on until Ctrl-C.)
  "run": {},

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
      schema_member(schema), json_quoted(draft.system.configure), json_quoted(draft.system.build),
      json_quoted(draft.run), intervals(draft));
}

}  // namespace vprof::driver
