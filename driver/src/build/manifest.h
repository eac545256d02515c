// The files of a source tree with the properties that tell whether one has changed (`mirror.json`).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "workspace/workspace.h"

namespace vprof::driver {

/// The properties that tell whether a file has changed.
struct Entry {
  char kind = 'f';  ///< `f`ile, `d`irectory, `l`ink
  int64_t size = 0;
  int64_t mtime_ns = 0;
  unsigned mode = 0;
  std::string target;  ///< target of a link, as in the source

  bool operator==(const Entry&) const = default;
};

using Manifest = std::map<std::string, Entry>;  // sorted: a directory precedes its contents

/// Lists a source tree without opening a file. Leaves out what sync_mirror() does not copy, and
/// `leave_out`; appends files and directories that a user may miss to `skipped`. Error: names the
/// file that cannot be read.
Result<Manifest> list_source(const fs::path& source, const fs::path& leave_out,
                             std::vector<std::string>& skipped);

/// The manifest of the last sync; empty if there is no mirror or its manifest is damaged.
Manifest load_manifest(const Workspace& workspace);

Result<void> save_manifest(const Workspace& workspace, const Manifest& manifest);

}  // namespace vprof::driver
