#pragma once

#include <string>

#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

struct RewriteOptions {
  std::string index;
  std::string plan;
  std::string mirror;
  std::string pristine;
  std::string sites;
  std::string summary;  ///< empty: none
  /// Directory that receives the rewritten files instead of the mirror, which stays as it is;
  /// empty: the mirror is rewritten.
  std::string preview;
};

/// Brings the mirror to what the plan asks for: writes the files whose text changes, restores those
/// that are no longer touched, writes sites.json. On an error nothing of the mirror has been
/// changed.
Result<void> rewrite_mirror(const RewriteOptions& options);

}  // namespace vprof::instrumenter
