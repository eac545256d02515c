#include "build/compile_log.h"

#include <map>
#include <sstream>
#include <utility>

#include "vprof/support/json.h"

namespace vprof::driver {

namespace {

using nlohmann::json;

/// Whether a source belongs to a configuration test of a build system. They do not delete all of
/// theirs.
bool is_probe(const fs::path& file) {
  const std::string text = file.string();
  const std::string name = file.filename().string();
  for (const char* part :
       {"/meson-private/", "/CMakeScratch/", "/CMakeTmp/", "/CompilerIdC/", "/CompilerIdCXX/"}) {
    if (text.find(part) != std::string::npos) {
      return true;
    }
  }
  return name.rfind("conftest", 0) == 0;
}

fs::path absolute_in(const std::string& directory, const std::string& file) {
  return (fs::path(directory) / file).lexically_normal();
}

/// The entries of compile_commands.json by file and output.
class Database {
 public:
  void add(const json& entry) {
    const std::string directory = entry.value("directory", "");
    const std::string file = absolute_in(directory, entry.value("file", "")).string();
    const std::string output = absolute_in(directory, entry.value("output", "")).string();
    // A database of the user's may not name outputs; what a shim saw replaces its entry.
    entries_.erase({file, absolute_in(directory, "").string()});
    entries_[{file, output}] = entry;
  }

  json take() const {
    json all = json::array();
    for (const auto& [key, entry] : entries_) {
      std::error_code error;
      const fs::path directory = entry.value("directory", "");
      const bool there = fs::exists(key.first, error) && fs::exists(directory, error);
      if (there && !is_probe(key.first) && !is_probe(directory / "")) {
        all.push_back(entry);
      }
    }
    return all;
  }

 private:
  std::map<std::pair<std::string, std::string>, json> entries_;
};

/// The entries of `links.json`: {path: {"how": "static" or "dynamic", "inputs": [path, ...]}}.
json read_links(const Workspace& workspace) {
  const json all = read_json(workspace.links()).value_or(json::object());
  json links = json::object();
  for (const auto& [output, link] : all.items()) {
    if (link.is_object()) {
      links[output] = link;
    }
  }
  return links;
}

/// How the programs and libraries of the mirror were linked, and from what.
class Links {
 public:
  explicit Links(const Workspace& workspace)
      : file_(workspace.links()), all_(read_links(workspace)) {}

  /// Takes a line of the log. Returns whether it is about a link.
  bool add(const json& entry, Recorded& recorded) {
    for (const char* how : {"static", "dynamic"}) {
      if (!entry.contains(how)) {
        continue;
      }
      const fs::path output = absolute_in(entry.value("directory", ""), entry.value(how, ""));
      std::error_code error;
      if (is_probe(output) || !fs::exists(output, error)) {
        return true;  // of a configuration test, which has deleted it
      }
      json inputs = json::array();
      for (const json& input : entry.value("inputs", json::array())) {
        inputs.push_back(
            absolute_in(entry.value("directory", ""), input.get<std::string>()).string());
      }
      all_[output.string()] = {{"how", how}, {"inputs", std::move(inputs)}};
      if (how == std::string("static")) {
        recorded.static_links.push_back(output.filename().string());
      }
      return true;
    }
    return false;
  }

  /// Forgets what no longer exists, and saves the rest.
  Result<void> save(Recorded& recorded) {
    json there = json::object();
    size_t dynamic = 0;
    for (const auto& [output, link] : all_.items()) {
      std::error_code error;
      if (fs::exists(output, error)) {
        there[output] = link;
        dynamic += link.value("how", "") == "dynamic" ? 1 : 0;
      }
    }
    recorded.all_static = dynamic == 0 && !there.empty();
    return write_file_atomic(file_, json_text(there) + "\n");
  }

 private:
  fs::path file_;
  json all_;
};

void read_log(const fs::path& file, Database& database, Links& links, Recorded& recorded) {
  auto text = read_file(file);
  if (!text) {
    return;  // the build compiled nothing
  }
  std::istringstream in(*text);
  for (std::string line; std::getline(in, line);) {
    const json entry = parse_json(line);
    if (!entry.is_object()) {
      ++recorded.damaged;
    } else if (!links.add(entry, recorded)) {
      database.add(entry);
      ++recorded.added;
    }
  }
}

}  // namespace

std::vector<std::string> static_programs(const Workspace& workspace) {
  std::vector<std::string> names;
  const json links = read_links(workspace);
  for (const auto& [output, link] : links.items()) {
    if (link.value("how", "") == "static") {
      names.push_back(fs::path(output).filename().string());
    }
  }
  return names;
}

LinkedFiles linked_files(const Workspace& workspace) {
  LinkedFiles files;
  const json links = read_links(workspace);
  for (const auto& [output, link] : links.items()) {
    std::error_code error;
    if (fs::is_regular_file(output, error)) {
      files[output] = link.value("inputs", std::vector<std::string>());
    }
  }
  return files;
}

Result<Recorded> collect_compile_commands(const Workspace& workspace) {
  Recorded recorded;
  Database database;
  std::error_code error;
  if (fs::exists(workspace.compile_commands(), error)) {
    auto before = VPROF_TRY(read_json(workspace.compile_commands()));
    for (const json& entry : before) {
      database.add(entry);
    }
  }
  Links links(workspace);
  read_log(workspace.compile_log(), database, links, recorded);
  VPROF_TRY(links.save(recorded));
  const json all = database.take();
  recorded.entries = all.size();
  VPROF_TRY(write_file_atomic(workspace.compile_commands(), json_text(all) + "\n"));
  // The log goes last: merging it again after an interruption changes nothing.
  VPROF_TRY(remove_tree(workspace.compile_log()));
  return recorded;
}

}  // namespace vprof::driver
