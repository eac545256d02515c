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

/// Waits until the command ends, or for as long as it may run.
void wait_for_end(pid_t pid, int output, const Command& command, Stopper& stopper,
                  Finished& finished) {
  const auto start = Clock::now();
  LineReader lines(command.on_line);
  int status = 0;
  bool open = output >= 0;
  while (!reap(pid, status)) {
    stopper.tick();
    const bool over = command.stop_after_s > 0 && since(start) > command.stop_after_s;
    if (over || (command.stoppable && interrupt::requested())) {
      finished.stopped = true;
      stopper.stop();
    }
    if (command.on_turn) {
      command.on_turn(since(start));
    }
    if (command.timeout_s > 0 && since(start) > command.timeout_s) {
      finished.timed_out = true;
      break;
    }
    struct pollfd waiting{.fd = open ? output : -1, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, kPollMs) > 0 && waiting.revents != 0) {
      open = lines.read_from(output);
    }
  }
  finished.seconds = since(start);
  // Its last output is still in the pipe. A grandchild may keep the pipe open: read only what is
  // there.
  while (open) {
    struct pollfd waiting{.fd = output, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, 0) <= 0) {
      break;
    }
    open = lines.read_from(output);
  }
  finished.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

std::vector<std::string> shell(const std::string& text) { return {"/bin/sh", "-c", text}; }

Result<Finished> run_command(const Command& command) {
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
  const std::set<Descendant> before = descendants();
  pid_t pid = 0;
  const int error = spawn(command, log.get(), to.get(), &pid);
  if (error != 0) {
    return fail("cannot run {}: {}", command.argv[0], std::strerror(error));
  }
  to.close();
  Stopper stopper(pid);
  Finished finished;
  wait_for_end(pid, from.get(), command, stopper, finished);
  if (command.end_leftovers || finished.timed_out || interrupt::requested()) {
    finished.leftovers = names_of(end_descendants(before, grace_s()));
  }
  if (finished.stopped && command.stoppable && interrupt::by_ctrl_c()) {
    interrupt::forget();
  }
  if (interrupt::requested()) {
    return fail(ErrorKind::kInterrupted, "interrupted");
  }
  return finished;
}

}  // namespace vprof::driver
