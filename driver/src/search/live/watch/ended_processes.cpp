#include "search/live/watch/ended_processes.h"

#include <algorithm>

#include "search/live/target.h"

namespace vprof::driver {

EndedProcesses::EndedProcesses(fs::path trace, double keep)
    : trace_(std::move(trace)), keep_(keep) {
  for (fs::path& file : ended_recordings(trace_)) {
    stay_.insert(std::move(file));
  }
}

bool EndedProcesses::knows_numbers() {
  const auto records_here = [&](pid_t pid) {
    std::error_code error;
    const auto trace = trace_of_process(pid);
    return trace && fs::equivalent(*trace, trace_, error);
  };
  knows_numbers_ = knows_numbers_ || std::ranges::any_of(recording_processes(trace_), records_here);
  return knows_numbers_;
}

Result<void> EndedProcesses::sweep(double now) {
  if (gives_up_ || !knows_numbers()) {
    return {};
  }
  std::map<fs::path, double> left;
  for (const fs::path& file : ended_recordings(trace_)) {
    if (stay_.contains(file)) {
      continue;
    }
    const auto known = ended_.find(file);
    const double since = known == ended_.end() ? now : known->second;
    if (now - since < keep_) {
      left.emplace(file, since);
      continue;
    }
    std::error_code error;
    if (!fs::remove(file, error) && error) {
      gives_up_ = true;
      return fail("cannot delete {}, the trace of a process that has ended: {}", shown(file),
                  error.message());
    }
  }
  ended_ = std::move(left);
  return {};
}

}  // namespace vprof::driver
