// How far a build is: from what ninja and CMake print, or else from what the shims have logged.
#pragma once

#include <cstddef>

#include "process/progress.h"
#include "vprof/support/files.h"

namespace vprof::driver {

class BuildProgress {
 public:
  /// `log`: what the build prints. `compile_log`: a line per compilation; only what is added from
  /// now on counts. `expected`: how many compilations there will be; 0: unknown.
  BuildProgress(fs::path log, fs::path compile_log, size_t expected);

  /// To be called often, with the seconds since the build began. Looks at the files several times a
  /// second at most, and reads only what is new and the end of the log.
  StepStatus at(double seconds);

 private:
  StepStatus look();
  void count_compilations();

  fs::path log_, compile_log_;
  size_t expected_;
  uintmax_t read_ = 0;  // bytes of the compile log
  size_t compiled_ = 0;
  double next_s_ = 0;
  StepStatus last_;
};

}  // namespace vprof::driver
