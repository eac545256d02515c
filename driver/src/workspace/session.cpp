#include "workspace/session.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "workspace/outputs.h"

namespace vprof::driver {

Lock::~Lock() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

Lock& Lock::operator=(Lock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Result<Lock> take_lock(const Workspace& workspace) {
  const int fd = ::open(workspace.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) {
    return fail("cannot write {}: {}", shown(workspace.lock()), std::strerror(errno));
  }
  Lock lock(fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    return fail("another vprof is running in {}; wait for it to end, or stop it",
                shown(workspace.dot));
  }
  return lock;
}

Result<void> check_path(const fs::path& directory) {
  if (directory.string().find(':') == std::string::npos) {
    return {};
  }
  return fail(
      "{}: the path has a colon, which separates entries of PATH and of the list that programs "
      "find their libraries by; rename or move the directory",
      directory.string());
}

namespace {

/// Keeps `.vprof` out of `git status`. A file that the user has edited stays.
Result<void> ignore_in_git(const Workspace& workspace) {
  std::error_code error;
  return fs::exists(workspace.ignore(), error) ? Result<void>()
                                               : write_file_atomic(workspace.ignore(), "*\n");
}

}  // namespace

void remember_outputs_of_verb(const fs::path& config_file, const std::vector<fs::path>& files) {
  std::error_code error;
  if (!fs::exists(config_file, error)) {
    return;
  }
  const auto config = load_config(config_file);
  if (!config) {
    return;
  }
  const Workspace workspace(fs::absolute(config_file).lexically_normal().parent_path());
  remember_outputs(workspace, config->source);
  for (const fs::path& file : files) {
    remember_output(workspace, config->source, file);
  }
}

Result<Session> open_session(const fs::path& config_file, Access access) {
  auto config = VPROF_TRY(load_config(config_file));
  const Workspace workspace(fs::absolute(config_file).lexically_normal().parent_path());
  Session session{.config = std::move(config),
                  .workspace = workspace,
                  .locations = {},
                  .state = {},
                  .lock = Lock()};
  if (access == Access::kWrite) {
    VPROF_TRY(check_path(workspace.root));
    session.locations = VPROF_TRY(find_locations());
    VPROF_TRY(make_directories(workspace.dot));
    session.lock = VPROF_TRY(take_lock(workspace));
    VPROF_TRY(ignore_in_git(workspace));
  }
  remember_outputs(workspace, session.config.source);
  session.state = VPROF_TRY(load_state(workspace.state()));
  return session;
}

}  // namespace vprof::driver
