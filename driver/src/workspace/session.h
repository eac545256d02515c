// One run of `vprof` in one directory: configuration, workspace, state, and the lock on all three.
#pragma once

#include "config/config.h"
#include "workspace/locations.h"
#include "workspace/outputs.h"
#include "workspace/state.h"

namespace vprof::driver {

/// Holds the lock of a workspace until it is destroyed. The kernel releases it when the process
/// dies.
class Lock {
 public:
  Lock() = default;
  explicit Lock(int fd) : fd_(fd) {}
  ~Lock();
  Lock(Lock&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Lock& operator=(Lock&& other) noexcept;
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int fd_ = -1;
};

/// Error: another vprof is running in the same directory.
Result<Lock> take_lock(const Workspace& workspace);

/// Error: programs cannot be built in this directory.
Result<void> check_path(const fs::path& directory);

struct Session {
  Config config;
  Workspace workspace;
  Locations locations;
  State state;
  Lock lock;

  Result<void> save() const { return save_state(workspace.state(), state); }
};

enum class Access : uint8_t {
  kRead,   ///< no lock; needs no installation
  kWrite,  ///< takes the lock and creates `.vprof`; needs a complete installation
};

/// Remembers, for verbs that need no session, that these files and standard output are no source.
/// Does nothing where there is no valid configuration.
void remember_outputs_of_verb(const fs::path& config_file, const std::vector<fs::path>& files);

Result<Session> open_session(const fs::path& config_file, Access access);

}  // namespace vprof::driver
