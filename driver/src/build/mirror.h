// The copy of the source tree that is instrumented and built. The source tree itself is only ever
// read.
//
//   source ──sync──▶ mirror        files of the source, plus whatever the build generates there
//                    pristine      originals of what the rewriter changed in the mirror
//                    mirror.json   what the source looked like at the last sync
#pragma once

#include <string>
#include <vector>

#include "workspace/workspace.h"

namespace vprof::driver {

struct MirrorChange {
  bool first = false;                ///< there was no mirror before
  std::vector<std::string> changed;  ///< new or different files, relative to the source
  std::vector<std::string> deleted;
  std::vector<std::string> skipped;  ///< left out: sockets, devices, trees built by CMake or Meson

  bool any() const { return !changed.empty() || !deleted.empty(); }
};

/// Brings the mirror up to date with `source`: new and changed files (by size, times and mode) are
/// copied over, deleted ones deleted, both together with their pristine copy; what the build made
/// stays.
///
/// Not copied: `.git`, `.vprof`, object files (`*.o`, `*.lo`: the build would take them for up to
/// date), and directories that CMake or Meson has built in, since these hold absolute paths back
/// into the source tree. A first copy keeps times and modes; a file that replaces an older copy is
/// as new as the sync, so that make sees it. Links that would lead out of the copy are made to lead
/// to where they led before, absolute links into the source tree to the copy. Error: names the
/// file. What was copied by then stays and is seen again by the next call.
///
/// `leave_out` is one more file not to be copied: vprof.json, whose edits are no edits of the
/// program.
Result<MirrorChange> sync_mirror(const fs::path& source, const Workspace& workspace,
                                 const fs::path& leave_out = {});

}  // namespace vprof::driver
