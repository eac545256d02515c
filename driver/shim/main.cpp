// The compiler shim: stands in for every compiler while the mirror is built.
//
//   cc ARGS ──▶ find the real cc ──▶ record the compilation ──▶ exec cc INCLUDES RUNTIME ARGS
//
// `.vprof/shims/cc` is a link to this program. Its settings are in `shim.conf` next to the link,
// not in the environment: a build may clear the environment, and CMake remembers the full path of
// the link and uses it in later runs.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "command_line.h"
#include "moved_paths.h"
#include "record.h"
#include "vprof/support/compiler_name.h"

namespace vprof::shim {
namespace {

struct Settings {
  std::string log, library, stub;
  std::string directory;  // of the library
  std::vector<std::string> includes;
  std::string mirror;
  std::vector<std::string> sources;  // the tree that the mirror is a copy of, by all its names
};

std::string real_path(const std::string& path) {
  char resolved[PATH_MAX];
  return ::realpath(path.c_str(), resolved) == nullptr ? std::string() : std::string(resolved);
}

std::string machine() {
  struct utsname name{};
  return ::uname(&name) == 0 ? name.machine : "";
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_executable(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

/// Whether this is a shim of any installation. Running one as the real compiler would recurse
/// forever.
bool is_shim(const std::string& path) { return base_name(real_path(path)) == "vprof-shim"; }

std::vector<std::string> path_directories() {
  const char* path = std::getenv("PATH");
  std::vector<std::string> all;
  std::string_view rest = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  while (true) {
    const size_t colon = rest.find(':');
    all.emplace_back(colon == 0 || rest.empty() ? "." : rest.substr(0, colon));
    if (colon == std::string_view::npos) {
      return all;
    }
    rest.remove_prefix(colon + 1);
  }
}

/// The first program `name` on PATH that is a shim (`wanted_shim`) or is not; empty if there is
/// none.
std::string search(const std::string& name, bool wanted_shim) {
  for (const std::string& directory : path_directories()) {
    std::string candidate = directory;
    candidate.append("/").append(name);
    if (is_executable(candidate) && is_shim(candidate) == wanted_shim) {
      return candidate;
    }
  }
  return "";
}

/// Removes directories of shims from PATH, so that the real compiler (ccache, a wrapper script)
/// calls real programs, too.
void remove_shims_from_path() {
  std::string path;
  for (const std::string& directory : path_directories()) {
    if (is_shim(directory + "/vprof-compiler")) {
      continue;
    }
    if (!path.empty()) {
      path += ':';
    }
    path += directory;
  }
  ::setenv("PATH", path.c_str(), 1);
}

/// Removes the interposer of exec from the environment, for the same reason. It has done so itself
/// where it saw this program start.
void remove_interposer() {
  const char* own = std::getenv("VPROF_PRELOAD");
  const char* preloaded = std::getenv("LD_PRELOAD");
  if (own != nullptr && preloaded != nullptr) {
    std::string others;
    std::istringstream in(preloaded);
    for (std::string one; std::getline(in, one, ':');) {
      if (one != own) {
        others += (others.empty() ? "" : ":") + one;
      }
    }
    others.empty() ? ::unsetenv("LD_PRELOAD") : ::setenv("LD_PRELOAD", others.c_str(), 1);
  }
  ::unsetenv("VPROF_PRELOAD");
  ::unsetenv("VPROF_SHIMS");
}

/// The compiler that the interposer of exec found being called by its full path; empty if it was
/// called by its name.
std::string named_compiler() {
  const char* compiler = std::getenv("VPROF_COMPILER");
  std::string path = compiler == nullptr ? "" : compiler;
  ::unsetenv("VPROF_COMPILER");
  return path;
}

Settings read_settings(const std::string& shim_directory) {
  Settings settings;
  std::ifstream in(shim_directory + "/shim.conf");
  for (std::string line; std::getline(in, line);) {
    const size_t equals = line.find('=');
    if (equals == std::string::npos) {
      continue;
    }
    const std::string key = line.substr(0, equals);
    const std::string value = line.substr(equals + 1);
    if (key == "log") {
      settings.log = value;
    }
    if (key == "include") {
      settings.includes.push_back(value);
    }
    if (key == "library") {
      settings.library = value;
    }
    if (key == "stub") {
      settings.stub = value;
    }
    if (key == "mirror") {
      settings.mirror = value;
    }
    if (key == "source") {
      settings.sources.push_back(value);
    }
  }
  settings.directory = settings.library.substr(0, settings.library.rfind('/'));
  return settings;
}

/// Whether a program is a launcher of compilers, perhaps under another name. `g++` may be a link to
/// ccache, which then is no launcher.
bool is_launcher(const std::string& program, const std::string& machine) {
  const std::string name = base_name(program);
  return vprof_is_launcher_name(name.c_str()) ||
         (!vprof_is_compiler_name(name.c_str(), machine.c_str()) &&
          vprof_is_launcher_name(base_name(real_path(program)).c_str()));
}

/// Whether a compiler is GCC. `cc` is a link to the actual compiler, or to ccache, which then calls
/// the next `cc` on PATH.
bool runs_gcc(const std::string& compiler) {
  const std::string name = base_name(compiler);
  if (is_gcc(name)) {
    return true;
  }
  const std::string target = real_path(compiler);
  if (!vprof_is_launcher_name(base_name(target).c_str())) {
    return is_gcc(base_name(target));
  }
  for (const std::string& directory : path_directories()) {
    std::string candidate = directory;
    candidate.append("/").append(name);
    if (is_executable(candidate) && !is_shim(candidate) && real_path(candidate) != target) {
      return is_gcc(base_name(real_path(candidate)));
    }
  }
  return false;
}

std::vector<std::string> compile_flags(const Settings& settings, bool moved) {
  std::vector<std::string> flags = {"-DVPROF_ENABLED"};
  if (moved) {
    flags.emplace_back("-DVPROF_MOVED");  // for the driver: a database has no other place for it
  }
  for (const std::string& include : settings.includes) {
    flags.emplace_back("-isystem");
    flags.push_back(include);
  }
  return flags;
}

/// These go first, so that the dynamic linker searches the runtime before libc and libpthread.
/// --no-as-needed, because nothing may refer to the runtime yet.
std::vector<std::string> link_flags(const Settings& settings) {
  return {"-L" + settings.directory, "-Wl,-rpath," + settings.directory,
          "-Wl,--push-state,--no-as-needed", "-lvprof", "-Wl,--pop-state"};
}

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

[[noreturn]] int run(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (const std::string& argument : command) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  // Not execv(): if the interposer is loaded here after all, it would start the shim again.
  ::syscall(SYS_execve, argv[0], argv.data(), environ);
  std::fprintf(stderr, "vprof-shim: cannot run %s: %s\n", argv[0], std::strerror(errno));
  std::_Exit(127);
}

/// The directory of the link through which the shim was called; empty if unknown.
std::string shim_directory(const std::string& invoked) {
  const std::string link = invoked.find('/') == std::string::npos ? search(invoked, true) : invoked;
  return link.substr(0, link.rfind('/'));
}

int not_found(const std::string& name) {
  std::fprintf(stderr, "vprof-shim: no compiler %s on PATH after the shims\n", name.c_str());
  return 127;
}

int shim_main(const std::string& invoked, std::vector<std::string> arguments) {
  const std::string named = named_compiler();
  const std::string name = base_name(named.empty() ? invoked : named);
  const Settings settings = read_settings(shim_directory(invoked));
  const std::string real = named.empty() ? search(name, false) : named;
  remove_interposer();
  if (real.empty()) {
    return not_found(name);
  }
  std::vector<std::string> command = {real};
  std::string compiler = real;
  if (is_launcher(real, machine())) {
    // `ccache gcc ...`: the launcher may answer from its cache without calling the compiler, so the
    // compilation is recorded here.
    if (arguments.empty() || arguments[0][0] == '-' || arguments[0].empty()) {
      append(command, arguments);
      run(command);
    }
    const bool plain = arguments[0].find('/') == std::string::npos;
    compiler =
        plain || is_shim(arguments[0]) ? search(base_name(arguments[0]), false) : arguments[0];
    if (compiler.empty()) {
      return not_found(arguments[0]);
    }
    arguments.erase(arguments.begin());
    command.push_back(compiler);
  }
  remove_shims_from_path();
  CommandLine line = parse(arguments);
  const auto moved = moved_to_mirror(line.arguments, settings.sources, settings.mirror);
  if (moved != line.arguments) {
    arguments = moved;
    line = parse(arguments);
    line.moved = true;
  }
  if (line.mode != Mode::kQuery && !settings.includes.empty()) {
    const std::vector<std::string> flags = compile_flags(settings, line.moved);
    if (line.preprocesses) {
      append(command, flags);
    }
    if (line.takes_runtime) {
      append(command, link_flags(settings));
    }
    record(settings.log, compiler, flags, line);
  }
  append(command, arguments);
  if (line.is_static && !settings.stub.empty()) {
    // At the end: an archive serves only the objects before it.
    append(command, {"-Xlinker", settings.stub});  // a bare name would be read as -x says
  }
  if ((line.mode == Mode::kCompile || line.mode == Mode::kLink) && !line.sources.empty() &&
      !settings.includes.empty() && runs_gcc(compiler)) {
    append(command, quiet_flags());
  }
  run(command);
}

}  // namespace
}  // namespace vprof::shim

int main(int argc, char** argv) {
  if (argc < 1) {
    return 127;
  }
  return vprof::shim::shim_main(argv[0], {argv + 1, argv + argc});
}
