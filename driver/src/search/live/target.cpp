#include "search/live/target.h"

#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <thread>

#include "process/interrupt.h"
#include "search/live/frontier_file.h"
#include "vprof/runtime/trace_format.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

constexpr auto kTurn = std::chrono::milliseconds(20);

/// `<pid>-<start>.vpt`; 0: another name.
pid_t pid_of(const fs::path& file) {
  const std::string name = file.filename().string();
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  const bool is_trace = file.extension() == ".vpt" && error == std::errc() && *end == '-';
  return is_trace ? pid : 0;
}

/// Of a file; zeros: there is none.
std::pair<dev_t, ino_t> identity_of(const fs::path& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? std::pair{status.st_dev, status.st_ino}
                                            : std::pair<dev_t, ino_t>{};
}

bool is_running(pid_t pid) { return ::kill(pid, 0) == 0 || errno == EPERM; }

class Workload : public Target {
 public:
  Workload(std::unique_ptr<RunningCommand> running, fs::path log)
      : running_(std::move(running)), log_(std::move(log)) {}

  bool turn() override { return runs_ = running_->turn(); }

  Result<void> leave() override {
    const bool ended_by_itself = !runs_;
    const Finished finished = VPROF_TRY(running_->finish());
    if (ended_by_itself && finished.code != 0) {
      return fail("the workload ended with exit code {}; its output is in {}", finished.code,
                  shown(log_));
    }
    return {};
  }

 private:
  std::unique_ptr<RunningCommand> running_;
  fs::path log_;
  bool runs_ = true;
};

class AttachedProgram : public Target {
 public:
  AttachedProgram(fs::path trace, pid_t pid)
      : trace_(std::move(trace)), directory_(identity_of(trace_)), pid_(pid) {}

  bool turn() override {
    std::this_thread::sleep_for(kTurn);
    if (++turns_ % kLooksAfter == 0) {
      runs_ = look();
    }
    return runs_ && !interrupt::requested();
  }
  Result<void> leave() override {
    if (interrupt::requested()) {
      return fail(ErrorKind::kInterrupted, "interrupted");
    }
    if (is_lost()) {
      return fail(
          "the trace directory {} was removed or replaced; a program that still runs records where "
          "nobody can read it, until it is started again",
          shown(trace_));
    }
    return {};
  }

 private:
  static constexpr int kLooksAfter = 10;

  bool is_lost() const { return identity_of(trace_) != directory_; }

  /// A program may record nothing for a while, and then in any number of processes.
  bool look() {
    if (is_lost()) {
      return false;
    }
    const bool records = !recording_processes(trace_).empty();
    recorded_ = recorded_ || records;
    return records || (pid_ != 0 ? is_running(pid_) : !recorded_);
  }

  const fs::path trace_;
  const std::pair<dev_t, ino_t> directory_;
  const pid_t pid_;
  int turns_ = 0;
  bool recorded_ = false;
  bool runs_ = true;
};

/// Calls `visit(pid, file)` for each trace of a process.
template <class Visit>
void for_each_trace(const fs::path& directory, const Visit& visit) {
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (const pid_t pid = pid_of(it->path()); pid != 0) {
      visit(pid, it->path());
    }
  }
}

/// What the header of a trace says that its process has done.
Work work_in(const fs::path& file) {
  vprof_file_header header{};
  std::ifstream stream(file, std::ios::binary);
  if (!stream.read(reinterpret_cast<char*>(&header), sizeof header)) {
    return {};  // it is only being made
  }
  Work work{.processor_ns = static_cast<double>(header.processor_ns)};
  for (const vprof_begun& count : header.begun) {
    work.begun += static_cast<double>(count.intervals);
  }
  return work;
}

/// Processor time that a process has used, ns; negative: it has ended.
double processor_ns(pid_t pid) {
  clockid_t clock{};
  struct timespec used{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0) {
    return -1;
  }
  return static_cast<double>(used.tv_sec) * 1e9 + static_cast<double>(used.tv_nsec);
}

/// @param then the same, earlier
WorkByProcess work_by_process(const fs::path& trace, const WorkByProcess& then) {
  WorkByProcess found;
  std::vector<std::pair<pid_t, fs::path>> traces;
  for_each_trace(trace, [&](pid_t pid, const fs::path& file) {
    traces.emplace_back(pid, file);
    if (const double used = is_running(pid) ? processor_ns(pid) : -1; used >= 0) {
      found.running[pid].processor_ns = used;
    }
  });
  found.at = monotonic_ns();
  for (const auto& [pid, file] : traces) {
    if (const auto running = found.running.find(pid); running != found.running.end()) {
      running->second.begun += work_in(file).begun;  // a process that has called exec has two
    } else if (const auto known = then.ended.find(file); known != then.ended.end()) {
      found.ended.insert(*known);
    } else {
      found.ended[file] = work_in(file);
    }
  }
  return found;
}

Work operator-(const Work& a, const Work& b) {
  return {.processor_ns = std::max(0.0, a.processor_ns - b.processor_ns),
          .begun = std::max(0.0, a.begun - b.begun)};
}

template <class Key>
Work found_in(const std::map<Key, Work>& works, const Key& key) {
  const auto found = works.find(key);
  return found == works.end() ? Work() : found->second;
}

Work work_between(const WorkByProcess& before, const WorkByProcess& after) {
  Work sum{.from = before.at, .to = after.at};
  const auto add = [&](const Work& work) {
    sum.processor_ns += work.processor_ns;
    sum.begun += work.begun;
  };
  for (const auto& [pid, now] : after.running) {
    add(now - found_in(before.running, pid));
  }
  for (const auto& [file, now] : after.ended) {
    if (!before.ended.contains(file)) {
      add(now - found_in(before.running, pid_of(file)));
    }
  }
  return sum;
}

}  // namespace

Result<std::unique_ptr<Target>> start_target(const Command& command) {
  auto running = VPROF_TRY(RunningCommand::start(command));
  return std::make_unique<Workload>(std::move(running), command.log);
}

std::unique_ptr<Target> running_target(const fs::path& trace, pid_t pid) {
  return std::make_unique<AttachedProgram>(trace, pid);
}

Result<fs::path> trace_of_process(pid_t pid) {
  const auto environment = read_file(fs::path("/proc") / std::to_string(pid) / "environ");
  if (!environment) {
    return fail("process {} cannot be looked at: it has ended, or belongs to somebody else", pid);
  }
  constexpr std::string_view kName = "VPROF_TRACE_DIR=";
  std::string_view rest = *environment;
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    if (entry.starts_with(kName)) {
      return fs::path(entry.substr(kName.size()));
    }
  }
  return fail("process {} was started without VPROF_TRACE_DIR, so it does not record", pid);
}

std::string replaced_file(pid_t pid, const fs::path& built) {
  constexpr std::string_view kGone = " (deleted)";
  const fs::path process = fs::path("/proc") / std::to_string(pid);
  std::error_code error;
  const std::string executable = fs::read_symlink(process / "exe", error).string();
  if (executable.ends_with(kGone)) {
    return executable.substr(0, executable.size() - kGone.size());
  }
  const std::string below = fs::absolute(built, error).string() + "/";
  for (const std::string& line : lines_of(read_file(process / "maps").value_or(""))) {
    const size_t path = line.find('/');
    if (line.ends_with(kGone) && path != std::string::npos &&
        std::string_view(line).substr(path).starts_with(below)) {
      return line.substr(path, line.size() - path - kGone.size());
    }
  }
  return "";
}

std::vector<pid_t> recording_processes(const fs::path& trace) {
  std::vector<pid_t> found;
  for_each_trace(trace, [&](pid_t pid, const fs::path&) {
    if (is_running(pid)) {
      found.push_back(pid);
    }
  });
  return found;
}

std::vector<fs::path> ended_recordings(const fs::path& trace) {
  std::vector<fs::path> found;
  for_each_trace(trace, [&](pid_t pid, const fs::path& file) {
    if (!is_running(pid)) {
      found.push_back(file);
    }
  });
  return found;
}

WorkSince::WorkSince(const fs::path& trace) : trace_(trace), then_(work_by_process(trace, {})) {}

Work WorkSince::done() const { return work_between(then_, work_by_process(trace_, then_)); }

Work WorkSince::step() {
  WorkByProcess now = work_by_process(trace_, then_);
  const Work done = work_between(then_, now);
  then_ = std::move(now);
  return done;
}

}  // namespace vprof::driver
