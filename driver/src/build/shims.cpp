#include "build/shims.h"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <set>
#include <sstream>
#include <string_view>

#include "vprof/support/compiler_name.h"
#include "vprof/support/json.h"

namespace vprof::driver {

namespace {

using nlohmann::json;

constexpr const char* kStub = "libvprof-stub.a";

std::string machine() {
  struct utsname name{};
  return ::uname(&name) == 0 ? name.machine : "x86_64";
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

/// Copies a file of the runtime library; a link among its names stays one.
Result<void> copy_library(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (fs::is_symlink(from, error)) {
    return link(fs::read_symlink(from, error).filename(), to);
  }
  fs::copy_file(from, to, error);
  if (!error) {
    fs::permissions(to, fs::perms(0755), error);
  }
  if (error) {
    return fail("cannot copy {} to {}: {}", shown(from), shown(to), error.message());
  }
  return {};
}

/// Fills `.vprof/runtime/lib` with a copy of the runtime library: a server that gives up root may
/// not be allowed to enter the directory where vprof is installed. Fills `.vprof/runtime/include`
/// with links to our headers.
Result<void> install_runtime(const Locations& locations, const Workspace& workspace) {
  const fs::path lib = workspace.runtime() / "lib";
  const fs::path include = workspace.runtime() / "include" / "vprof";
  VPROF_TRY(remove_tree(workspace.runtime()));
  VPROF_TRY(make_directories(lib));
  VPROF_TRY(make_directories(include));
  std::error_code error;
  for (const fs::path& directory : {workspace.runtime(), lib}) {
    fs::permissions(directory, fs::perms(0755), error);
  }
  for (const auto& item : fs::directory_iterator(locations.runtime.parent_path(), error)) {
    const std::string name = item.path().filename().string();
    if (name.starts_with("libvprof.so") || name == kStub) {
      VPROF_TRY(copy_library(item.path(), lib / name));
    }
  }
  for (const fs::path& directory : locations.includes) {
    for (const auto& item : fs::directory_iterator(directory / "vprof", error)) {
      VPROF_TRY(link(item.path(), include / item.path().filename()));
    }
  }
  return {};
}

/// The path of a library as LD_PRELOAD can name it: spaces and colons separate its entries, and `$`
/// begins a variable.
std::string preloadable(const fs::path& library) {
  if (library.string().find_first_of(": $") == std::string::npos) {
    return library.string();
  }
  static const int open_library = ::open(library.c_str(), O_RDONLY | O_CLOEXEC);
  return fmt::format("/proc/{}/fd/{}", ::getpid(), open_library);
}

}  // namespace

bool is_compiler_name(const std::string& name) {
  static const std::string own = machine();
  return vprof_is_compiler_name(name.c_str(), own.c_str());
}

Result<void> install_shims(const Session& session) {
  const Locations& locations = session.locations;
  const Workspace& workspace = session.workspace;
  VPROF_TRY(install_runtime(locations, workspace));
  VPROF_TRY(make_directories(workspace.shims()));
  for (const std::string& name : compilers_on_path()) {
    VPROF_TRY(link(locations.shim, workspace.shims() / name));
  }
  // The interposer of exec runs this one, whatever the compiler is called.
  VPROF_TRY(link(locations.shim, workspace.shims() / "vprof-compiler"));
  const fs::path lib = workspace.runtime() / "lib";
  std::string settings = fmt::format(
      "log={}\ninclude={}\nlibrary={}\nstub={}\nmirror={}\n", workspace.compile_log().string(),
      (workspace.runtime() / "include").string(), (lib / "libvprof.so").string(),
      (lib / kStub).string(), workspace.mirror().string());
  std::error_code error;
  const fs::path source = session.config.source;
  for (const fs::path& name : std::set<fs::path>{source, fs::weakly_canonical(source, error)}) {
    settings += fmt::format("source={}\n", name.string());
  }
  return write_file_atomic(workspace.shims() / "shim.conf", settings);
}

bool has_own_runtime(const Session& session) {
  const auto own = read_file(session.locations.runtime);
  const auto copy = read_file(session.workspace.runtime() / "lib" / "libvprof.so");
  return own && copy && *own == *copy;
}

std::map<std::string, std::string> build_environment(
    const Locations& locations, const Workspace& workspace,
    const std::map<std::string, std::string>& extra) {
  std::map<std::string, std::string> environment = extra;
  environment["VPROF_TRACE_DIR"] = "";  // a generator that the build runs records nothing
  const auto current = [&extra](const char* name) -> std::string {
    if (const auto own = extra.find(name); own != extra.end()) {
      return own->second;
    }
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  const std::string path = current("PATH");
  environment["PATH"] = workspace.shims().string() + (path.empty() ? "" : ":" + path);
  const std::string interposer = preloadable(locations.interposer);
  const std::string preloaded = current("LD_PRELOAD");
  environment["LD_PRELOAD"] = preloaded.empty() ? interposer : preloaded + ":" + interposer;
  environment["VPROF_PRELOAD"] = interposer;
  environment["VPROF_SHIMS"] = workspace.shims().string();
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

}  // namespace vprof::driver
