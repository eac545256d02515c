#include "build/shims.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string_view>

#include "vprof/support/json.h"

namespace vprof::driver {

namespace {

using nlohmann::json;

std::string machine() {
  struct utsname name{};
  return ::uname(&name) == 0 ? name.machine : "x86_64";
}

/// `-12`, `-19`, `-4.8`.
bool is_version(std::string_view text) {
  if (text.size() < 2 || text[0] != '-') {
    return false;
  }
  for (const char c : text.substr(1)) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0 && c != '.') {
      return false;
    }
  }
  return true;
}

/// "", `c99-`, or the triplet of this machine: a cross compiler cannot link our runtime.
bool is_prefix(std::string_view text) {
  if (text.empty() || text == "c89-" || text == "c99-") {
    return true;
  }
  static const std::string own = machine();
  return text.substr(0, own.size()) == own && text.ends_with("-linux-gnu-");
}

std::vector<fs::path> path_directories() {
  const char* path = std::getenv("PATH");
  std::vector<fs::path> all;
  std::istringstream in(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
  for (std::string part; std::getline(in, part, ':');) {
    all.emplace_back(part.empty() ? "." : part);
  }
  return all;
}

std::set<std::string> compilers_on_path() {
  std::set<std::string> names;
  for (const fs::path& directory : path_directories()) {
    std::error_code error;
    for (const auto& item : fs::directory_iterator(directory, error)) {
      const std::string name = item.path().filename().string();
      if (is_compiler_name(name) && ::access(item.path().c_str(), X_OK) == 0) {
        names.insert(name);
      }
    }
  }
  return names;
}

Result<void> link(const fs::path& target, const fs::path& at) {
  std::error_code error;
  if (fs::read_symlink(at, error) == target) {
    return {};
  }
  fs::remove(at, error);
  fs::create_symlink(target, at, error);
  if (error) {
    return fail("cannot create {}: {}", shown(at), error.message());
  }
  return {};
}

/// Fills `.vprof/runtime/{lib,include}` with links to our files only.
Result<void> install_runtime(const Locations& locations, const Workspace& workspace) {
  const fs::path lib = workspace.runtime() / "lib";
  const fs::path include = workspace.runtime() / "include" / "vprof";
  VPROF_TRY(remove_tree(workspace.runtime()));
  VPROF_TRY(make_directories(lib));
  VPROF_TRY(make_directories(include));
  std::error_code error;
  for (const auto& item : fs::directory_iterator(locations.runtime.parent_path(), error)) {
    const std::string name = item.path().filename().string();
    if (name.rfind("libvprof.so", 0) != 0) {
      continue;
    }
    VPROF_TRY(link(item.path(), lib / name));
  }
  for (const fs::path& directory : locations.includes) {
    for (const auto& item : fs::directory_iterator(directory / "vprof", error)) {
      VPROF_TRY(link(item.path(), include / item.path().filename()));
    }
  }
  return {};
}

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

void read_log(const fs::path& file, Database& database, Recorded& recorded) {
  auto text = read_file(file);
  if (!text) {
    return;  // the build compiled nothing
  }
  std::istringstream in(*text);
  for (std::string line; std::getline(in, line);) {
    const json entry = parse_json(line);
    if (!entry.is_object()) {
      ++recorded.damaged;
    } else if (entry.contains("static")) {
      recorded.static_links.push_back(entry.value("static", ""));
    } else {
      database.add(entry);
      ++recorded.added;
    }
  }
}

}  // namespace

bool is_compiler_name(const std::string& name) {
  constexpr std::array<std::string_view, 8> kCores = {"clang++", "clang", "g++", "gcc",
                                                      "c++",     "cc",    "c89", "c99"};
  if (name == "ccache" || name == "sccache" || name == "distcc") {
    return true;
  }
  for (const std::string_view core : kCores) {
    const size_t at = name.rfind(core);
    if (at == std::string::npos || !is_prefix(std::string_view(name).substr(0, at))) {
      continue;
    }
    const std::string_view rest = std::string_view(name).substr(at + core.size());
    if (rest.empty() || is_version(rest)) {
      return true;
    }
  }
  return false;
}

Result<void> install_shims(const Locations& locations, const Workspace& workspace) {
  VPROF_TRY(install_runtime(locations, workspace));
  VPROF_TRY(make_directories(workspace.shims()));
  for (const std::string& name : compilers_on_path()) {
    VPROF_TRY(link(locations.shim, workspace.shims() / name));
  }
  const std::string settings =
      fmt::format("log={}\ninclude={}\nlibrary={}\n", workspace.compile_log().string(),
                  (workspace.runtime() / "include").string(),
                  (workspace.runtime() / "lib/libvprof.so").string());
  return write_file_atomic(workspace.shims() / "shim.conf", settings);
}

std::map<std::string, std::string> build_environment(
    const Workspace& workspace, const std::map<std::string, std::string>& extra) {
  std::map<std::string, std::string> environment = extra;
  const auto current = [&extra](const char* name) -> std::string {
    if (const auto own = extra.find(name); own != extra.end()) {
      return own->second;
    }
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  const std::string path = current("PATH");
  environment["PATH"] = workspace.shims().string() + (path.empty() ? "" : ":" + path);
  for (const char* name : {"CC", "CXX"}) {
    const std::string value = current(name);
    const std::string program = value.substr(0, value.find(' '));
    const fs::path stand_in = workspace.shims() / fs::path(program).filename();
    std::error_code error;
    if (program.find('/') == std::string::npos || !fs::exists(stand_in, error)) {
      continue;
    }
    // The bare name, since makefiles do not quote and the path of the workspace may have a space.
    environment[name] = stand_in.filename().string() + value.substr(program.size());
  }
  return environment;
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
  read_log(workspace.compile_log(), database, recorded);
  const json all = database.take();
  recorded.entries = all.size();
  VPROF_TRY(write_file_atomic(workspace.compile_commands(), json_text(all) + "\n"));
  // The log goes last: merging it again after an interruption changes nothing.
  VPROF_TRY(remove_tree(workspace.compile_log()));
  return recorded;
}

}  // namespace vprof::driver
