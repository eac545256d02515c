// changed.json: files of the mirror that have changed since what depends on them was made stale, as
// a plain makefile may not know of it. They are added before they change, so that none is forgotten
// if vprof is killed or the disk is full.
#pragma once

#include <set>
#include <string>

#include "vprof/support/result.h"

namespace vprof::instrumenter {

/// Relative to the mirror. A missing list is empty. Error: one line that names the list.
Result<std::set<std::string>> load_changed_files(const std::string& list);
Result<void> add_changed_files(const std::string& list, std::set<std::string> files);

}  // namespace vprof::instrumenter
