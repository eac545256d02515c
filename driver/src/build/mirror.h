// The copy of the source tree that is instrumented and built. vprof never writes to the source tree
// itself.
//
//   source ──sync──▶ mirror        the files of the source, and what the build generates
//                    pristine      originals of the files that the rewriter changed in the mirror
//                    mirror.json   the state of the source at the last sync
#pragma once

#include <string>
#include <vector>

#include "workspace/workspace.h"

namespace vprof::driver {

struct MirrorChange {
  bool first = false;                ///< there was no mirror before
  std::vector<std::string> changed;  ///< new or modified files, relative to the source
  std::vector<std::string> deleted;
  std::vector<std::string> skipped;  ///< not copied: sockets, devices, build trees of CMake, Meson

  bool any() const { return !changed.empty() || !deleted.empty(); }
};

/// Brings the mirror up to date with `source`. Copies new and changed files (by size, time and
/// mode) and deletes files that are gone, in both cases with their pristine copies. Keeps what the
/// build generated.
///
/// - Does not copy `.git`, `.vprof`, object files (`*.o`, `*.lo`: the build would think they are up
///   to date), and build trees of CMake or Meson, which contain absolute paths back into the source
///   tree.
/// - Does not copy files that vprof's own output goes to (outputs.h).
/// - The first copy keeps times and modes. A file that replaces an older copy gets the time of the
///   sync, so that make rebuilds what depends on it.
/// - A link to sources out of the tree is copied as what it leads to. Another relative link out of
///   the tree becomes an absolute one. An absolute link into the source tree leads into the mirror
///   instead.
///
/// `leave_out` is one more file not to copy: vprof.json, because editing it does not change the
/// program. Error: kInterrupted, or a file could not be copied. Files copied by then stay; the next
/// call copies them again.
Result<MirrorChange> sync_mirror(const fs::path& source, const Workspace& workspace,
                                 const fs::path& leave_out = {});

}  // namespace vprof::driver
