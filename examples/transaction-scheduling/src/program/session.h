// What clients on threads and on a simulated clock have in common.
#pragma once

#include <filesystem>
#include <memory>

#include "program/execution.h"
#include "program/outcome.h"
#include "program/settings.h"
#include "store/controls.h"

namespace smf {

// A database's directory, of its own if none is given, which is removed at the end.
class Directory {
 public:
  explicit Directory(const std::string& given);
  ~Directory();
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool temporary_;
};

std::shared_ptr<const Classifier> train(const Settings& settings, const Workload& workload);

// One client's random choices: its transactions, their hints, and how long everything takes.
class Choices {
 public:
  Choices(const Settings& settings, const Workload& workload, uint64_t client);

  // With the hints that the settings ask for.
  Script next_script();
  Nanoseconds operation_time();
  Nanoseconds commit_time();
  // Doubles with each attempt, to 32 operations.
  Nanoseconds back_off_time(uint32_t aborts);
  // Before which of its operations the client rolls an attempt back: possibly none.
  size_t forced_abort(const Script& script);

 private:
  Nanoseconds about(double microseconds);

  const Settings& settings_;
  const Workload& workload_;
  Random random_;       // of transactions, which are the same for all systems
  Random time_random_;  // of everything that depends on what happens
};

}  // namespace smf
