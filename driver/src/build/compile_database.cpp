#include "build/compile_database.h"

#include "build/compile_log.h"
#include "process/commands.h"
#include "vprof/support/json.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

using nlohmann::json;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    // `/src/app` must not match the start of `/src/app2`.
    const size_t end = at + from.size();
    const bool whole =
        end == text.size() || text[end] == '/' || text[end] == ' ' || text[end] == '"';
    if (whole) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

/// The database may name files of the source tree; the build compiles those of the mirror.
json moved_to_mirror(json entry, const Session& session) {
  const std::string from = session.config.source.string();
  const std::string to = session.workspace.mirror().string();
  // An entry that the build wrote in the mirror is right already. The mirror may be inside the
  // source tree, so replacing the path again would break the entry.
  if (json_text(entry, -1).find(to) != std::string::npos) {
    return entry;
  }
  for (const char* key : {"directory", "file", "output", "command"}) {
    if (entry.contains(key) && entry[key].is_string()) {
      entry[key] = replaced(entry[key].get<std::string>(), from, to);
    }
  }
  if (entry.contains("arguments")) {
    for (json& argument : entry["arguments"]) {
      argument = replaced(argument.get<std::string>(), from, to);
    }
  }
  return entry;
}

json with_our_headers(json entry, const Session& session) {
  const std::string include = (session.workspace.runtime() / "include").string();
  if (entry.contains("arguments") && !entry["arguments"].empty()) {
    json& arguments = entry["arguments"];
    for (const std::string& flag :
         {include, std::string("-isystem"), std::string("-DVPROF_ENABLED")}) {
      arguments.insert(arguments.begin() + 1, flag);
    }
  } else if (entry.contains("command")) {
    entry["command"] =
        entry["command"].get<std::string>() + " -DVPROF_ENABLED -isystem \"" + include + "\"";
  }
  return entry;
}

bool is_below(const std::string& path, const std::string& directory) {
  return path == directory || path.starts_with(directory + "/");
}

/// A compilation in the source tree, or one that writes there: its directory or output. Empty if
/// there is none.
Result<std::string> work_in_the_source(const Session& session) {
  const std::string source = session.config.source.string();
  std::error_code error;
  const std::string canonical = fs::weakly_canonical(source, error).string();
  const auto own = [&](const std::string& path) {
    const bool in_workspace = path.find("/.vprof/") != std::string::npos;
    return !in_workspace && (is_below(path, source) || is_below(path, canonical));
  };
  const json entries = VPROF_TRY(read_json(session.workspace.compile_commands()));
  for (const json& entry : entries) {
    for (const char* key : {"directory", "output"}) {
      std::string path = entry.value(key, "");
      if (own(path)) {
        return path;
      }
    }
  }
  return "";
}

Result<size_t> adopt_database(const Session& session) {
  const fs::path file = session.workspace.mirror() / session.config.compile_commands;
  auto document = VPROF_TRY(read_json(file));
  if (!document.is_array() || document.empty()) {
    return fail("{} contains no compilation", shown(file));
  }
  json all = json::array();
  for (const json& entry : document) {
    if (!entry.is_object()) {
      return fail("{} is not a compilation database", shown(file));
    }
    all.push_back(with_our_headers(moved_to_mirror(entry, session), session));
  }
  VPROF_TRY(write_file_atomic(session.workspace.compile_commands(), json_text(all) + "\n"));
  return all.size();
}

}  // namespace

Result<size_t> make_compile_database(const Session& session) {
  auto recorded = VPROF_TRY(collect_compile_commands(session.workspace));
  if (recorded.all_static) {
    return fail(
        "everything is linked statically ({}), and vprof can only measure programs that are linked "
        "dynamically: leave out -static, for example with a static build switched off in "
        "\"configure\"",
        listed(static_programs(session.workspace)));
  }
  if (!recorded.static_links.empty()) {
    warn(fmt::format("linked statically and therefore not measured: {}",
                     listed(recorded.static_links)));
  }
  if (recorded.entries == 0) {
    return fail(
        "the build compiled nothing that vprof could see: is the program already built in the "
        "source tree (add \"make clean\" to \"configure\"), or does a statically linked build tool "
        "call the compiler by its full path (set CC and CXX to names without a path)? See {}",
        shown(session.workspace.iteration(session.state.iteration) / "build.log"));
  }
  if (const std::string path = VPROF_TRY(work_in_the_source(session)); !path.empty()) {
    return fail(
        "the build works in the source tree itself, not in its copy {}: it names {} by an absolute "
        "path; make it relative in \"configure\", \"build\" or the files of the build",
        shown(session.workspace.mirror()), path);
  }
  if (!session.config.compile_commands.empty()) {
    return adopt_database(session);
  }
  return recorded.entries;
}

}  // namespace vprof::driver
