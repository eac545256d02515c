// Insertions into the text of one file.
#pragma once

#include <string>
#include <vector>

#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

/// Text to insert in front of and behind a range of the original. An empty range (begin == end) is
/// a single insertion.
struct Edit {
  uint32_t begin = 0;
  uint32_t end = 0;
  std::string before;
  std::string after;
};

/// Applies edits whose ranges nest (see overlapping()). The original stays complete, and every line
/// keeps its number if no insertion contains a newline. Insertions at one offset keep the order of
/// `edits`, except that one range closes before the next one opens, and outer ranges enclose inner
/// ones.
std::string apply_edits(const std::string& text, const std::vector<Edit>& edits);

/// Positions in `edits` of the ranges that overlap an earlier range without nesting in it.
std::vector<size_t> overlapping(const std::vector<Edit>& edits);

}  // namespace vprof::instrumenter
