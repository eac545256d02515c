// The part of `vprof check` that looks at the machine.
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <sstream>

#include "checks/checklist.h"
#include "vprof/support/json.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

void check_compiler(Checklist& list) {
  for (const char* name : {"cc", "c++", "gcc", "g++", "clang", "clang++"}) {
    const fs::path found = on_path(name, {});
    if (!found.empty()) {
      return list.ok("compiler", found.string());
    }
  }
  list.problem("compiler", "neither cc nor gcc nor clang is on PATH", "install gcc or clang");
}

void check_parts(Checklist& list) {
  const auto locations = find_locations();
  if (locations) {
    return list.ok("vprof", locations->instrument.parent_path().string());
  }
  list.problem("vprof", locations.error().message, "nothing can be instrumented without it");
}

void check_clock(Checklist& list) {
#if defined(__x86_64__)
  std::istringstream cpuinfo(read_file("/proc/cpuinfo").value_or(""));
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.rfind("flags", 0) != 0) {
      continue;
    }
    const bool invariant = line.find(" constant_tsc") != std::string::npos &&
                           line.find(" nonstop_tsc") != std::string::npos;
    if (invariant) {
      return list.ok("clock", "invariant time-stamp counter");
    }
    break;
  }
  list.note("clock", "the time-stamp counter is not invariant on this machine",
            "vprof uses clock_gettime instead, and each record costs more");
#else
  list.ok("clock", "the generic timer of the processor");
#endif
}

void check_disk(Checklist& list, const Workspace& workspace) {
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  struct statvfs status{};
  if (::statvfs(workspace.root.c_str(), &status) != 0) {
    return;
  }
  const double free_gib =
      static_cast<double>(status.f_bavail) * static_cast<double>(status.f_frsize) / kGiB;
  const std::string found = fmt::format("{:.1f} GiB free for traces and the mirror", free_gib);
  if (free_gib < 0.2) {
    return list.problem("disk", found, "free at least 1 GiB");
  }
  if (free_gib < 2) {
    return list.note("disk", found, "traces of long workloads may not fit");
  }
  list.ok("disk", found);
}

/// A server that root starts may give up root, and then has to load the runtime from here and write
/// its trace.
void check_who_may_enter(Checklist& list, const Workspace& workspace) {
  if (::geteuid() != 0) {
    return;
  }
  for (fs::path path = workspace.dot; path.has_relative_path(); path = path.parent_path()) {
    std::error_code error;
    const fs::perms mode = fs::status(path, error).permissions();
    if (!error && fs::exists(path) && (mode & fs::perms::others_exec) == fs::perms::none) {
      return list.note("directory", fmt::format("only root may enter {}", path.string()),
                       "a server that runs as another user can neither load the runtime from there "
                       "nor write its trace: use another directory, or `chmod o+x`");
    }
  }
}

void check_workspace(Checklist& list, const Workspace& workspace) {
  if (const auto path = check_path(workspace.root); !path) {
    return list.problem("directory", path.error().message, "vprof cannot build there");
  }
  std::error_code error;
  const fs::file_type there = fs::status(workspace.dot, error).type();
  if (there != fs::file_type::not_found && there != fs::file_type::directory) {
    return list.problem(".vprof", fmt::format("{} is not a directory", workspace.dot.string()),
                        "delete it, or put vprof.json elsewhere and name the \"source\"");
  }
  const fs::path& writes = there == fs::file_type::directory ? workspace.dot : workspace.root;
  if (::access(writes.c_str(), W_OK | X_OK) != 0) {
    return list.problem(".vprof",
                        fmt::format("cannot write {}: {}", writes.string(), std::strerror(errno)),
                        "make it writable, or put vprof.json elsewhere and name the \"source\"");
  }
  check_who_may_enter(list, workspace);
}

/// The number of threads in the last report; 0 if there is no report.
uint64_t threads_recorded(const Workspace& workspace) {
  const auto report = read_json(workspace.report());
  if (!report || !report->is_object()) {
    return 0;
  }
  const nlohmann::json overhead = report->value("overhead", nlohmann::json::object());
  return overhead.value("threads", uint64_t{0});
}

void check_processors(Checklist& list, const Workspace& workspace) {
  const long processors = ::sysconf(_SC_NPROCESSORS_ONLN);
  const uint64_t threads = threads_recorded(workspace);
  const std::string found = processors == 1 ? "only one" : std::to_string(processors);
  if (threads > static_cast<uint64_t>(processors)) {
    return list.note("processors",
                     fmt::format("{} for {} threads in the last recording", found, threads),
                     "if more threads run than there are processors, waiting for a processor hides "
                     "other causes");
  }
  if (processors == 1) {
    return list.note("processors", found, "waits for the processor will hide waits for locks");
  }
  list.ok("processors", threads == 0 ? found
                                     : fmt::format("{} for {} in the last recording", found,
                                                   counted(threads, "thread")));
}

void check_load(Checklist& list) {
  double load = 0;
  const auto processors = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  if (::getloadavg(&load, 1) != 1) {
    return;
  }
  const std::string found = fmt::format("load {:.1f} on {} processors", load, processors);
  if (load < processors / 2) {
    return list.ok("other work", found);
  }
  list.note("other work", found, "other work on this machine will show up as variance");
}

/// Checks whether a thread can find out that it lost its processor: through restartable sequences
/// if libc registers them, or through context switches if the kernel lets us record them.
void check_switches(Checklist& list) {
  const auto* sequences = static_cast<const unsigned*>(::dlsym(RTLD_DEFAULT, "__rseq_size"));
  if (sequences != nullptr && *sequences != 0) {
    return list.ok("preemption", "threads notice when they lose their processor");
  }
  struct perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_DUMMY;
  attributes.context_switch = 1;
  attributes.sample_id_all = 1;
  attributes.exclude_kernel = 1;
  attributes.disabled = 1;
  const auto fd = static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  if (fd >= 0) {
    ::close(fd);
    return list.ok("preemption", "context switches can be recorded");
  }
  std::string level = read_file("/proc/sys/kernel/perf_event_paranoid").value_or("unknown\n");
  level = level.substr(0, level.find('\n'));
  list.note("preemption",
            fmt::format("the kernel does not report when a thread loses its processor "
                        "(perf_event_paranoid is {})",
                        level),
            "`sysctl kernel.perf_event_paranoid=1` as root allows it; in a container, the "
            "capability PERFMON");
}

}  // namespace

fs::path on_path(const std::string& name, const fs::path& directory) {
  if (name.find('/') != std::string::npos) {
    const fs::path full = directory / name;
    return ::access(full.c_str(), X_OK) == 0 ? full : fs::path();
  }
  const char* path = std::getenv("PATH");
  std::istringstream in(path == nullptr ? "" : path);
  for (std::string part; std::getline(in, part, ':');) {
    fs::path candidate = fs::path(part) / name;
    if (::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return {};
}

void check_machine(Checklist& list, const Session& session) {
  check_parts(list);
  check_compiler(list);
  check_clock(list);
  check_switches(list);
  check_processors(list, session.workspace);
  check_load(list);
  check_workspace(list, session.workspace);
  check_disk(list, session.workspace);
}

}  // namespace vprof::driver
