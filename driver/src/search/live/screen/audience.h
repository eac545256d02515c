// Somebody who looks at a live search, or nobody: gets to see what it does, and guides it.
#pragma once

#include <chrono>
#include <string>

#include "search/live/epoch.h"
#include "search/live/screen/guidance.h"
#include "search/live/screen/onlooker.h"
#include "workspace/session.h"

namespace vprof::driver {

class Audience {
 public:
  /// @param trace what the program records into
  /// @param onlooker nullptr: nobody looks
  Audience(Session& session, const instrumenter::Program& program, fs::path trace,
           Onlooker* onlooker);
  Audience(const Audience&) = delete;
  Audience& operator=(const Audience&) = delete;

  /// For the epochs of the search; nullptr: nobody looks.
  const EpochHooks* hooks() const { return onlooker_ == nullptr ? nullptr : &hooks_; }
  Guidance& guidance() { return guidance_; }

  /// The current iteration of the state begins.
  void see_iteration(const std::string& purpose, size_t sites_on);
  /// @param seconds how long the epoch has taken so far
  void see(const analyzer::Profile& profile, double seconds);

 private:
  Pace turn();
  void begin(report::LivePhase phase, double passed, double most);
  void show();

  Session& session_;
  const instrumenter::Program& program_;
  const fs::path trace_;
  Onlooker* const onlooker_;
  Guidance guidance_;
  const EpochHooks hooks_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool at_baseline_ = false;
  report::LiveStatus status_;
  Measured measured_;
  std::vector<std::string> expandable_;  // ids of its factors
};

}  // namespace vprof::driver
