// An epoch of a recording that grows, analysed slice by slice. Nothing is read twice.
//
//   recorded   |----------|            |----------|            |----------|
//   slices       |------|                |------|                |------|       of one epoch
#pragma once

#include <memory>
#include <string>

#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

/// One slice.
struct Slice {
  uint64_t count = 0;       ///< completed intervals
  uint64_t incomplete = 0;  ///< those that have not ended
  double p99_ns = 0;        ///< of the latency; 0: none has completed
  Overhead overhead = {};
};

struct IntervalSums;

class EpochSums {
 public:
  /// Error: sites.json cannot be read.
  static Result<EpochSums> begin(std::string trace_dir, const std::string& sites_json);
  EpochSums(EpochSums&&) noexcept;
  EpochSums& operator=(EpochSums&&) noexcept;
  ~EpochSums();

  /// Analyses the slice Options::epoch, which is later than those that were closed. It takes the
  /// place of the one that was looked at last, unless that was closed. Errors as for analyze(), but
  /// for kNoInterval.
  Result<Slice> look(const Options& options);
  /// The slice that was looked at last is over.
  void close();
  /// Of all slices that were looked at. Errors as for analyze().
  Result<Profile> profile(const Options& options) const;
  /// Of the slice that was looked at last, unless that was closed. Errors as for analyze().
  Result<Profile> profile_of_slice(const Options& options) const;

 private:
  struct State;
  explicit EpochSums(std::unique_ptr<State> state);
  Result<Profile> profile_of_kinds(std::vector<IntervalSums> kinds, const Options& options) const;
  std::unique_ptr<State> state_;
};

}  // namespace vprof::analyzer
