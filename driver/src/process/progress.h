// Shows which step is running and for how long, for every step that takes longer than a second.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace vprof::driver {

/// How far a step is.
struct StepStatus {
  uint64_t done = 0;   ///< items, of `total`
  uint64_t total = 0;  ///< 0: not known, so that only `what` is shown
  std::string what;    ///< what is next, or how much there is so far
};

/// `build: 12.0 s, about 34 s left [12/46] src/a.c`. What is left follows from `usual_s`, how long
/// the step took the last time, or else from the items that are done. Where neither tells, nothing
/// is said about it.
/// @param elapsed_s, usual_s  seconds; usual_s 0: unknown
std::string progress_line(const std::string& step, double elapsed_s, double usual_s,
                          const StepStatus& status);

/// On a terminal, a line that is redrawn until the step ends; elsewhere plain lines at growing
/// intervals. Writes to standard error, since standard output is for results. At most one exists at
/// a time.
class Progress {
 public:
  /// `usual_s`: how long the step took the last time, in seconds; 0: unknown.
  explicit Progress(std::string step, double usual_s = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Any thread may call it.
  void update(StepStatus status);
  /// Updates from a line `@progress DONE TOTAL WHAT`; ignores other lines.
  void take_line(std::string_view line);
  /// Writes a warning that does not run into the progress line.
  void warn(const std::string& line);
  double seconds() const;

 private:
  void run();

  const std::string step_;
  const double usual_s_;
  const std::chrono::steady_clock::time_point start_;
  const bool terminal_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  bool shown_ = false;
  StepStatus status_;
  std::thread ticker_;
};

}  // namespace vprof::driver
