// Text that is inserted into one file.
#pragma once

#include <string>
#include <vector>

#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

/// Text inserted in front of and behind a range of the original. An empty range (begin == end) is a
/// single insertion.
struct Edit {
  uint32_t begin = 0;
  uint32_t end = 0;
  std::string before;
  std::string after;
};

/// Applies edits that nest (see overlapping()). Nothing but insertions happens, so all of the
/// original stays, and as long as no insertion holds a newline every line keeps its number.
/// Insertions at one offset keep the order of `edits`, except that what closes a range comes before
/// what opens the next one, and outer ranges enclose inner ones.
std::string apply_edits(const std::string& text, const std::vector<Edit>& edits);

/// Positions in `edits` of ranges that overlap an earlier one in the text without nesting in it.
std::vector<size_t> overlapping(const std::vector<Edit>& edits);

}  // namespace vprof::instrumenter
