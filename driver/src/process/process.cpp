#include "process/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "process/interrupt.h"

namespace vprof::driver {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kPollMs = 20;  // a command's end is noticed within this time

/// How long processes may take to end when asked to, before they are killed.
std::chrono::seconds grace() {
  const char* seconds = std::getenv("VPROF_GRACE_S");
  return seconds == nullptr ? 5s : std::chrono::seconds(std::atoi(seconds));
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

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!changes.contains(std::string(text.substr(0, text.find('='))))) {
      all.emplace_back(text);
    }
  }
  for (const auto& [name, value] : changes) {
    if (!value.empty()) {
      all.push_back(fmt::format("{}={}", name, value));
    }
  }
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (std::string& text : texts) {
    all.push_back(text.data());
  }
  all.push_back(nullptr);
  return all;
}

/// Uses posix_spawn rather than fork: the progress line has a thread, and a forked child of a
/// threaded program may do very little.
int spawn(const Command& command, int log, int output, pid_t* pid) {
  std::vector<std::string> argv = command.argv;
  std::vector<std::string> environment = merged_environment(command.environment);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output >= 0 ? output : log, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, log, STDERR_FILENO);
  posix_spawn_file_actions_addchdir_np(&actions, command.directory.c_str());
  sigset_t none;
  sigset_t defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT}) {
    sigaddset(&defaults, signal);
  }
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const int error = ::posix_spawnp(pid, argv[0].c_str(), &actions, &attributes,
                                   pointers(argv).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error;
}

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

/// Passes an interruption on to the process group of a command: SIGINT first, SIGKILL after the
/// grace period.
class Stopper {
 public:
  explicit Stopper(pid_t group) : group_(group) { interrupt::set_child_group(group); }
  ~Stopper() { interrupt::set_child_group(0); }
  Stopper(const Stopper&) = delete;
  Stopper& operator=(const Stopper&) = delete;

  void tick() {
    if (!interrupt::requested()) {
      return;
    }
    if (!asked_) {
      asked_ = true;
      deadline_ = Clock::now() + grace();
      ::kill(-group_, SIGINT);
    } else if (Clock::now() > deadline_) {
      ::kill(-group_, SIGKILL);
    }
  }

 private:
  pid_t group_;
  bool asked_ = false;
  Clock::time_point deadline_;
};

int wait_for_end(pid_t pid, int output, const Command& command, Stopper& stopper) {
  LineReader lines(command.on_line);
  int status = 0;
  bool open = output >= 0;
  while (true) {
    stopper.tick();
    const pid_t ended = ::waitpid(pid, &status, WNOHANG);
    if (ended == pid || (ended < 0 && errno != EINTR)) {
      break;
    }
    struct pollfd waiting{.fd = open ? output : -1, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, kPollMs) > 0 && waiting.revents != 0) {
      open = lines.read_from(output);
    }
  }
  // Its last output is still in the pipe. A grandchild may keep the pipe open: read only what is
  // there.
  while (open) {
    struct pollfd waiting{.fd = output, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, 0) <= 0) {
      break;
    }
    open = lines.read_from(output);
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// Whether a process of the group still runs. vprof is the subreaper of its orphans (see main()),
/// so the dead ones are reaped first: a zombie would count as running.
bool group_lives(pid_t group) {
  while (::waitpid(-group, nullptr, WNOHANG) > 0) {
  }
  return ::kill(-group, 0) == 0;
}

/// Ends a group: a server that the workload left running would keep its port and write into the
/// next recording. Returns whether there was anything to end.
bool end_group(pid_t group) {
  if (!group_lives(group)) {
    return false;
  }
  ::kill(-group, SIGTERM);
  const auto deadline = Clock::now() + grace();
  while (group_lives(group) && Clock::now() < deadline) {
    std::this_thread::sleep_for(20ms);
  }
  ::kill(-group, SIGKILL);
  return true;
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
  const auto start = Clock::now();
  pid_t pid = 0;
  const int error = spawn(command, log.get(), to.get(), &pid);
  if (error != 0) {
    return fail("cannot run {}: {}", command.argv[0], std::strerror(error));
  }
  to.close();
  Stopper stopper(pid);
  Finished finished;
  finished.code = wait_for_end(pid, from.get(), command, stopper);
  finished.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (command.end_leftovers || interrupt::requested()) {
    finished.leftovers = end_group(pid);
  }
  if (interrupt::requested()) {
    return fail(ErrorKind::kInterrupted, "interrupted");
  }
  return finished;
}

}  // namespace vprof::driver
