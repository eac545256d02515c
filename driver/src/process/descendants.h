// The processes that a command has started, also those that have left its process group: a daemon
// forks, calls setsid() and forks again. vprof is the subreaper of its orphans (prepare_process()),
// so all of them remain its descendants.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace vprof::driver {

struct Descendant {
  pid_t pid = 0;
  uint64_t start = 0;  ///< clock ticks since boot; tells processes with one pid apart
  std::string name;

  bool operator==(const Descendant& other) const {
    return pid == other.pid && start == other.start;
  }
  std::weak_ordering operator<=>(const Descendant& other) const {
    return std::pair(pid, start) <=> std::pair(other.pid, other.start);
  }
};

/// All that run. Zombies do not.
std::set<Descendant> descendants();

/// Names without repetitions, in the order of the alphabet.
std::vector<std::string> names_of(const std::set<Descendant>& processes);

/// Ends all descendants but those in `spared`: SIGTERM first, SIGKILL after `grace_s` seconds.
/// Returns those there were.
std::set<Descendant> end_descendants(const std::set<Descendant>& spared, int grace_s);

}  // namespace vprof::driver
