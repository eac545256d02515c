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
  std::string changed;  ///< changed_files.h; empty: none
  /// Directory that receives the rewritten files; the mirror then stays as it is. Empty: the mirror
  /// is rewritten.
  std::string preview;
};

/// Rewrites the mirror according to the plan: writes the files whose text changes, restores those
/// that need no insertions any more, and writes sites.json. On an error, the mirror is unchanged.
Result<void> rewrite_mirror(const RewriteOptions& options);

}  // namespace vprof::instrumenter
