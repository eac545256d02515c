// The compiler shim: stands in for every compiler while the mirror is built.
//
//   cc ARGS ──▶ find the real cc ──▶ record the compilation ──▶ exec cc INCLUDES RUNTIME ARGS
//
// `.vprof/shims/cc` is a link to this program. Its settings are in `shim.conf` next to the link,
// not in the environment: a build may clear the environment, and CMake remembers the full path of
// the link and uses it in later runs.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "command_line.h"
#include "record.h"

namespace vprof::shim {
namespace {

struct Settings {
  std::string log, library;
  std::string directory;  // of the library
  std::vector<std::string> includes;
};

std::string real_path(const std::string& path) {
  char resolved[PATH_MAX];
  return ::realpath(path.c_str(), resolved) == nullptr ? std::string() : std::string(resolved);
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
void remove_shims_from_path(const std::string& name) {
  std::string path;
  for (const std::string& directory : path_directories()) {
    if (is_shim(std::string(directory).append("/").append(name))) {
      continue;
    }
    if (!path.empty()) {
      path += ':';
    }
    path += directory;
  }
  ::setenv("PATH", path.c_str(), 1);
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
  }
  settings.directory = settings.library.substr(0, settings.library.rfind('/'));
  return settings;
}

bool is_launcher(const std::string& name) {
  return name == "ccache" || name == "sccache" || name == "distcc";
}

std::vector<std::string> compile_flags(const Settings& settings) {
  std::vector<std::string> flags = {"-DVPROF_ENABLED"};
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
  ::execv(argv[0], argv.data());
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
  const std::string name = base_name(invoked);
  const Settings settings = read_settings(shim_directory(invoked));
  const std::string real = search(name, false);
  if (real.empty()) {
    return not_found(name);
  }
  std::vector<std::string> command = {real};
  std::string compiler = real;
  if (is_launcher(name)) {
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
  remove_shims_from_path(name);
  const CommandLine line = parse(arguments);
  if (line.mode != Mode::kQuery && !settings.includes.empty()) {
    const std::vector<std::string> flags = compile_flags(settings);
    if (line.preprocesses) {
      append(command, flags);
    }
    if (line.takes_runtime) {
      append(command, link_flags(settings));
    }
    record(settings.log, compiler, flags, line);
  }
  append(command, arguments);
  // `cc` is a link to the actual compiler.
  if ((line.mode == Mode::kCompile || line.mode == Mode::kLink) && !line.sources.empty() &&
      !settings.includes.empty() &&
      (is_gcc(base_name(compiler)) || is_gcc(base_name(real_path(compiler))))) {
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
