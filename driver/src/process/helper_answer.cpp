#include "process/helper_answer.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "process/interrupt.h"
#include "process/spawn.h"

namespace vprof::driver {

namespace {

constexpr int kTurnMs = 50;

struct PipeEnd {
  int fd;
  ~PipeEnd() { ::close(fd); }
};

/// All that comes out of the pipe until its other end is closed.
std::string read_all(int pipe, pid_t helper, bool stoppable) {
  std::string text;
  std::array<char, 4096> some{};
  bool stopped = false;
  while (true) {
    if (stoppable && interrupt::requested() && !stopped) {
      stopped = true;
      ::kill(helper, SIGINT);
    }
    pollfd wanted{.fd = pipe, .events = POLLIN, .revents = 0};
    if (::poll(&wanted, 1, kTurnMs) <= 0) {
      continue;
    }
    const ssize_t count = ::read(pipe, some.data(), some.size());
    if (count > 0) {
      text.append(some.data(), static_cast<size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      return text;
    }
  }
}

}  // namespace

Result<std::string> ask_helper(const std::vector<std::string>& argv, bool stoppable) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail("cannot start {}: {}", argv[0], std::strerror(errno));
  }
  const PipeEnd output{ends[0]};
  Command command;
  command.argv = argv;
  command.directory = ".";
  pid_t helper = 0;
  int error = 0;
  {
    const PipeEnd input{ends[1]};
    const PipeEnd nowhere{::open("/dev/null", O_WRONLY | O_CLOEXEC)};
    error = spawn(command, nowhere.fd, input.fd, &helper);
  }
  if (error != 0) {
    return fail("cannot start {}: {}", argv[0], std::strerror(error));
  }
  const std::string text = read_all(output.fd, helper, stoppable);
  int status = 0;
  while (::waitpid(helper, &status, 0) < 0 && errno == EINTR) {
  }
  if (stoppable && interrupt::requested()) {
    return fail(ErrorKind::kInterrupted, "interrupted");
  }
  const auto answer = nlohmann::json::parse(text, nullptr, false);
  if (answer.is_object() && answer.contains("error")) {
    return fail("{}", answer["error"].get<std::string>());
  }
  if (!answer.is_object() || !answer.contains("written")) {
    return WIFSIGNALED(status)
               ? fail("{} was killed by signal {}", argv[0], WTERMSIG(status))
               : fail("{} ended with exit code {} and no answer", argv[0], WEXITSTATUS(status));
  }
  return answer["written"].get<std::string>();
}

}  // namespace vprof::driver
