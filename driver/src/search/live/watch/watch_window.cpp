#include "search/live/watch/watch_window.h"

#include <algorithm>

#include "process/commands.h"
#include "search/live/target.h"
#include "vprof/analyzer/recording_copy.h"

namespace vprof::driver {

namespace {

bool has_traces(const fs::path& directory) {
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".vpt") {
      return true;
    }
  }
  return false;
}

}  // namespace

Result<void> WatchWindows::restart(const fs::path& sites_json) {
  sums_ = std::make_unique<analyzer::EpochSums>(
      VPROF_TRY(analyzer::EpochSums::begin(workspace_.window().string(), sites_json.string())));
  return {};
}

Result<WatchWindow> WatchWindows::read(analyzer::Options options, int64_t since) {
  VPROF_TRY(remove_tree(workspace_.window()));
  VPROF_TRY(make_directories(workspace_.window()));
  WatchWindow window;
  has_read_ = false;
  if (recording_processes(trace_).empty() && !has_traces(trace_)) {
    return window;
  }
  const auto copy =
      VPROF_TRY(analyzer::copy_recording(trace_.string(), workspace_.window().string(), since));
  if (copy.bytes == 0) {
    return window;
  }
  window.complete_since = copy.complete_since;
  options.epoch.recorded_since = std::max(copy.complete_since, options.epoch.recorded_since);
  options.epoch.from = std::max(options.epoch.from, options.epoch.recorded_since);
  auto profile = sums_->look(options).and_then([&](const analyzer::Slice& slice) {
    window.slice = slice;
    has_read_ = true;
    return sums_->profile_of_slice(options);
  });
  if (profile) {
    window.profile = std::move(*profile);
  } else if (profile.error().kind != ErrorKind::kNoInterval) {
    warn(profile.error().message);
  }
  return window;
}

}  // namespace vprof::driver
