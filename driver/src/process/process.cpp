#include "process/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "process/descendants.h"
#include "process/interrupt.h"
#include "process/spawn.h"

namespace vprof::driver {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPollMs = 20;  // a command's end is noticed within this time

/// How long processes may take to end when asked to, before they are killed.
int grace_s() {
  const char* seconds = std::getenv("VPROF_GRACE_S");
  return seconds == nullptr ? 5 : std::atoi(seconds);
}

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  void reset(int fd) {
    close();
    fd_ = fd;
  }
  void close() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
    fd_ = -1;
  }
  int release() { return std::exchange(fd_, -1); }
  int get() const { return fd_; }

 private:
  int fd_;
};

/// Splits a stream into lines.
class LineReader {
 public:
  explicit LineReader(const std::function<void(std::string_view)>& sink) : sink_(sink) {}

  /// Returns whether more input may come.
  bool read_from(int fd) {
    std::array<char, 4096> buffer{};
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0) {
      return errno == EINTR || errno == EAGAIN;
    }
    pending_.append(buffer.data(), static_cast<size_t>(count));
    for (size_t end = pending_.find('\n'); end != std::string::npos; end = pending_.find('\n')) {
      sink_(std::string_view(pending_).substr(0, end));
      pending_.erase(0, end + 1);
    }
    return count > 0;
  }

 private:
  const std::function<void(std::string_view)>& sink_;
  std::string pending_;
};

/// Ends the process group of a command: SIGINT first, SIGTERM a second later, SIGKILL after the
/// grace period.
class Stopper {
 public:
  explicit Stopper(pid_t group) : group_(group) { interrupt::set_child_group(group); }
  ~Stopper() { interrupt::set_child_group(0); }
  Stopper(const Stopper&) = delete;
  Stopper& operator=(const Stopper&) = delete;

  void tick() {
    if (interrupt::requested()) {
      stop();
    }
  }

  /// Asks at first, and insists when it is called again later.
  void stop() {
    const auto now = Clock::now();
    if (!asked_) {
      asked_ = true;
      asked_at_ = now;
      ::kill(-group_, SIGINT);
    } else if (now > asked_at_ + std::chrono::seconds(grace_s())) {
      ::kill(-group_, SIGKILL);
    } else if (!insisted_ && now > asked_at_ + kPatience) {
      insisted_ = true;  // a background job of a script ignores SIGINT
      ::kill(-group_, SIGTERM);
    }
  }

 private:
  pid_t group_;
  static constexpr auto kPatience = std::chrono::seconds(1);
  bool asked_ = false;
  bool insisted_ = false;
  Clock::time_point asked_at_;
};

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Reaps all children that have ended: the command, and orphans, for which vprof has taken the
/// place of init. A daemon that nobody reaped would be a zombie for ever, and a workload that waits
/// for its end (`while kill -0 $pid`) would never end. Returns whether the command has ended.
bool reap(pid_t command, int& status) {
  while (true) {
    int how = 0;
    const pid_t ended = ::waitpid(-1, &how, WNOHANG);
    if (ended == command) {
      status = how;
      return true;
    }
    if (ended < 0 && errno == ECHILD) {
      return true;
    }
    if (ended <= 0) {
      return false;
    }
  }
}

class Running : public RunningCommand {
 public:
  Running(const Command& command, pid_t pid, int output, std::set<Descendant> before)
      : command_(command),
        pid_(pid),
        output_(output),
        before_(std::move(before)),
        lines_(command_.on_line),
        stopper_(pid) {}
  ~Running() override {
    if (runs_) {
      end_descendants(before_, grace_s());
    }
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  bool turn() override {
    if (reap(pid_, status_)) {
      return runs_ = false;
    }
    stopper_.tick();
    const bool over = command_.stop_after_s > 0 && ran() > command_.stop_after_s;
    if (over || (command_.stoppable && interrupt::requested())) {
      finished_.stopped = true;
      stopper_.stop();
    }
    if (command_.on_turn) {
      command_.on_turn(ran());
    }
    if (command_.timeout_s > 0 && ran() > command_.timeout_s) {
      finished_.timed_out = true;
      return false;
    }
    struct pollfd waiting{.fd = output_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, kPollMs) > 0 && waiting.revents != 0) {
      read_output();
    }
    return true;
  }

  Result<Finished> finish() override {
    finished_.seconds = ran();
    finished_.stopped_s = interrupt::stopped_s() - stopped_before_;
    // Its last output is still in the pipe. A grandchild may keep the pipe open: read only what is
    // there.
    while (output_.get() >= 0) {
      struct pollfd waiting{.fd = output_.get(), .events = POLLIN, .revents = 0};
      if (::poll(&waiting, 1, 0) <= 0) {
        break;
      }
      read_output();
    }
    if (command_.end_leftovers || runs_ || interrupt::requested()) {
      finished_.leftovers = names_of(end_descendants(before_, grace_s()));
    }
    runs_ = false;
    finished_.code = WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
    if (finished_.stopped && command_.stoppable && interrupt::by_ctrl_c()) {
      interrupt::forget();
    }
    if (interrupt::requested()) {
      return fail(ErrorKind::kInterrupted, "interrupted");
    }
    return finished_;
  }

 private:
  /// How long it has run, without the time for which Ctrl-Z stopped it.
  double ran() const { return since(start_) - (interrupt::stopped_s() - stopped_before_); }

  void read_output() {
    if (!lines_.read_from(output_.get())) {
      output_.close();
    }
  }

  const Command command_;
  const pid_t pid_;
  Descriptor output_;
  const std::set<Descendant> before_;
  const Clock::time_point start_ = Clock::now();
  const double stopped_before_ = interrupt::stopped_s();
  LineReader lines_;
  Stopper stopper_;
  Finished finished_;
  int status_ = 0;
  bool runs_ = true;
};

}  // namespace

std::vector<std::string> shell(const std::string& text) { return {"/bin/sh", "-c", text}; }

Result<std::unique_ptr<RunningCommand>> RunningCommand::start(const Command& command) {
  if (interrupt::requested()) {
    return fail(ErrorKind::kInterrupted, "interrupted");
  }
  const int mode = O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND | (command.append ? 0 : O_TRUNC);
  const Descriptor log(::open(command.log.c_str(), mode, 0644));
  if (log.get() < 0) {
    return fail("cannot write {}: {}", shown(command.log), std::strerror(errno));
  }
  Descriptor from;
  Descriptor to;
  if (command.on_line) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      return fail("cannot make a pipe: {}", std::strerror(errno));
    }
    from.reset(ends[0]);
    to.reset(ends[1]);
  }
  std::set<Descendant> before = descendants();
  pid_t pid = 0;
  const int error = spawn(command, log.get(), to.get(), &pid);
  if (error != 0) {
    return fail("cannot run {}: {}", command.argv[0], std::strerror(error));
  }
  return std::make_unique<Running>(command, pid, from.release(), std::move(before));
}

Result<Finished> run_command(const Command& command) {
  const auto running = VPROF_TRY(RunningCommand::start(command));
  while (running->turn()) {
  }
  return running->finish();
}

}  // namespace vprof::driver
