// The control file of a live run, from the driver's side: switches the sites of running programs.
// docs/trace-format.md has the protocol, runtime/include/vprof/runtime/frontier.h the layout.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "vprof/support/files.h"

namespace vprof::driver {

/// CLOCK_MONOTONIC, on which epochs and heartbeats are.
int64_t monotonic_ns();
/// Of two of its times.
inline double seconds_between(int64_t from, int64_t to) {
  return (static_cast<double>(to) - static_cast<double>(from)) / 1e9;
}

/// Makes the control file of a trace directory, with all sites off, unless there is one.
/// Error: it cannot be made, or what is there is no such file.
Result<void> make_frontier_file(const fs::path& trace);

/// While one exists, vprof drives all processes that record into a trace directory: a thread of its
/// own says so four times a second. Nothing is recorded before the first switch_to(). Its
/// destructor switches all sites off; if vprof is killed, the processes do that themselves.
class FrontierFile {
 public:
  /// Error: there is none, it is damaged or somebody else's, or another vprof drives already.
  static Result<std::unique_ptr<FrontierFile>> take(const fs::path& trace);
  virtual ~FrontierFile() = default;

  /// Switches exactly these sites on, besides what is kept on, and has everything recorded. All
  /// processes see it before this returns.
  virtual void switch_to(const std::vector<uint32_t>& sites) = 0;
  /// Switches everything off, events included, until the next switch_to().
  virtual void pause() = 0;
  /// The same, but what is kept on stays on: the program counts the intervals that it begins.
  virtual void count() = 0;
  /// Whatever is switched on, these are, too.
  virtual void keep_on(const std::vector<uint32_t>& sites) = 0;
  /// Grows when a process has switched all sites off, since it took vprof for dead: that was
  /// stopped for longer than two seconds.
  virtual uint64_t interruptions() const = 0;
};

}  // namespace vprof::driver
