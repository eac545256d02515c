// Shows which step is running and for how long, for every step that takes longer than a second.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace vprof::driver {

/// On a terminal, a line that is redrawn until the step ends; elsewhere plain lines at growing
/// intervals. Writes to standard error, since standard output is for results. At most one exists at
/// a time.
class Progress {
 public:
  explicit Progress(std::string step);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` of `total` items are finished and `what` is next. Any thread may call it.
  void update(uint64_t done, uint64_t total, const std::string& what);
  /// Updates from a line `@progress DONE TOTAL WHAT`; ignores other lines.
  void take_line(std::string_view line);
  /// Writes a warning that does not run into the progress line.
  void warn(const std::string& line);
  double seconds() const;

 private:
  void run();
  std::string line(double elapsed) const;

  const std::string step_;
  const std::chrono::steady_clock::time_point start_;
  const bool terminal_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  bool shown_ = false;
  uint64_t done_ = 0, total_ = 0;
  std::string what_;
  std::thread ticker_;
};

}  // namespace vprof::driver
