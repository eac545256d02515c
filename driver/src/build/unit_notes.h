// What objects, programs and libraries say about the rewritten units in them (VPROF_UNIT).
#pragma once

#include <set>
#include <string>

#include "vprof/support/files.h"

namespace vprof::driver {

/// The texts in the section `.vprof.units` of an ELF file: a hash of a unit's text, a space, its
/// name. Empty if the file has no such section, or is no ELF file of this machine's word size.
std::set<std::string> unit_notes(const fs::path& file);

}  // namespace vprof::driver
