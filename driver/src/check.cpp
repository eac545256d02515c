// `vprof check`: tells what would go wrong, before it does, and how to mend it.
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "commands.h"
#include "near.h"
#include "steps.h"
#include "verbs.h"

namespace vprof::driver {

namespace {

/// One line per thing that was looked at.
class Checklist {
 public:
  void ok(const std::string& what, const std::string& found) {
    say(fmt::format("OK       {}: {}", what, found));
  }
  /// The result will be less good, but there will be one.
  void note(const std::string& what, const std::string& problem, const std::string& mend) {
    say(fmt::format("note     {}: {}; {}", what, problem, mend));
  }
  void problem(const std::string& what, const std::string& problem, const std::string& mend) {
    say(fmt::format("PROBLEM  {}: {}; {}", what, problem, mend));
    ++problems_;
  }
  size_t problems() const { return problems_; }

 private:
  size_t problems_ = 0;
};

fs::path on_path(const std::string& name, const fs::path& directory) {
  if (name.find('/') != std::string::npos) {
    const fs::path full = directory / name;
    return ::access(full.c_str(), X_OK) == 0 ? full : fs::path();
  }
  const char* path = std::getenv("PATH");
  std::istringstream in(path == nullptr ? "" : path);
  for (std::string part; std::getline(in, part, ':');) {
    fs::path candidate = fs::path(part) / name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

/// The program that a command line starts with, past `NAME=value`; empty where only a shell can
/// tell.
std::string program_of(const std::string& command) {
  std::istringstream in(command);
  for (std::string word; in >> word;) {
    if (word.find_first_of("\"'`$(){}[]|&;<>*?") != std::string::npos) return "";
    if (word.find('=') == std::string::npos) return word;
  }
  return "";
}

bool shell_knows(const std::string& word) {
  static const std::vector<std::string> builtins = {"cd", "test", "export", "exec", "set",
                                                    "if", "for",  "while",  "true", "."};
  return std::find(builtins.begin(), builtins.end(), word) != builtins.end();
}

void check_command(Checklist& list, const Config& config, const std::string& key,
                   const std::string& command) {
  if (command.empty()) return;
  const std::string program = program_of(command);
  if (program.empty() || shell_knows(program) || !on_path(program, config.source).empty()) {
    list.ok(key, command);
  } else if (program.find('/') != std::string::npos) {
    list.note(key, fmt::format("there is no program {} in the source tree", program),
              "right only if the build makes it");
  } else {
    list.problem(key, fmt::format("there is no program {}", program),
                 fmt::format("install it, or correct \"{}\" in {}", key, config.place(0)));
  }
}

void check_compiler(Checklist& list) {
  for (const char* name : {"cc", "c++", "gcc", "g++", "clang", "clang++"}) {
    const fs::path found = on_path(name, {});
    if (!found.empty()) return list.ok("compiler", found.string());
  }
  list.problem("compiler", "neither cc nor gcc nor clang is on PATH", "install gcc or clang");
}

void check_parts(Checklist& list) {
  const auto locations = find_locations();
  if (locations) return list.ok("vprof", locations->instrument.parent_path().string());
  list.problem("vprof", locations.error(), "nothing can be instrumented without it");
}

void check_clock(Checklist& list) {
  std::istringstream cpuinfo(read_file("/proc/cpuinfo").value_or(""));
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.rfind("flags", 0) != 0) continue;
    const bool invariant = line.find(" constant_tsc") != std::string::npos &&
                           line.find(" nonstop_tsc") != std::string::npos;
    if (invariant) return list.ok("clock", "invariant time-stamp counter");
    break;
  }
  list.note("clock", "the time-stamp counter is not invariant here",
            "clock_gettime is used instead, and each record costs more");
}

void check_disk(Checklist& list, const Workspace& workspace) {
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  struct statvfs status{};
  if (::statvfs(workspace.root.c_str(), &status) != 0) return;
  const double free_gib =
      static_cast<double>(status.f_bavail) * static_cast<double>(status.f_frsize) / kGiB;
  const std::string found = fmt::format("{:.1f} GiB free for traces and the mirror", free_gib);
  if (free_gib < 0.2) return list.problem("disk", found, "free at least 1 GiB");
  if (free_gib < 2) return list.note("disk", found, "traces of long workloads may not fit");
  list.ok("disk", found);
}

void check_processors(Checklist& list) {
  const long processors = ::sysconf(_SC_NPROCESSORS_ONLN);
  if (processors > 1) return list.ok("processors", std::to_string(processors));
  list.note("processors", "only one", "waits for the processor will hide waits for locks");
}

void check_functions(Checklist& list, const Session& session) {
  std::error_code error;
  if (!fs::exists(session.workspace.index(), error)) {
    return list.note("functions", "not known yet",
                     "`vprof index` reads the program, then this checks the names");
  }
  const auto program = load_index(session);
  if (!program) return list.problem("functions", program.error(), "run `vprof index`");
  const auto targets = resolve(session.config, *program);
  if (!targets) return list.problem("functions", targets.error(), "correct the name");
  for (const std::string& warning : targets->warnings)
    list.note("functions", warning, "check the name");
  std::string roots;
  for (const std::string& key : targets->roots) roots += (roots.empty() ? "" : ", ") + key;
  list.ok("functions", roots);
}

}  // namespace

Result<int> verb_check(const Global& global) {
  auto session = open_session(global.config, Access::kRead);
  if (!session) return tl::unexpected(session.error());
  const Config& config = session->config;
  Checklist list;
  list.ok("configuration", shown(config.file));
  list.ok("source", config.source.string());
  check_parts(list);
  check_compiler(list);
  check_command(list, config, "configure", config.configure);
  check_command(list, config, "build", config.build);
  check_command(list, config, "run", config.run);
  check_functions(list, *session);
  check_clock(list);
  check_processors(list);
  check_disk(list, session->workspace);
  if (list.problems() == 0) return 0;
  return fail("{} found; see the lines above", counted(list.problems(), "problem"));
}

}  // namespace vprof::driver
