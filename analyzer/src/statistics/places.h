// The tree of places that profiles add up over: every path from the interval down to a function,
// body, wait or queue in which time was found. The variance tree is made from it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

inline constexpr uint32_t kNoPlace = UINT32_MAX;

/// A node of the tree of places. Two places are the same if the paths from the root down to them
/// agree in kind, name, key and position.
struct Place {
  NodeKind kind = NodeKind::kFunction;
  /// Below a wait or queue: work of another thread.
  bool blamed = false;
  uint32_t parent = kNoPlace;
  /// Index among its siblings.
  uint32_t rank = 0;
  /// Empty for a body.
  std::string name;
  /// Key of a function in sites.json, else empty.
  std::string key;
  /// `file:line:column` of the call or function, with a number appended if that is not unique.
  std::string position;
  /// `file:line` of the call or function.
  std::string location;
  /// `file:line` of the function's definition.
  std::string definition;
  /// Of the function in the call graph; 0 for anything else.
  int height = 0;
  bool expandable = false;
  bool expanded = false;
};

/// By place: its children, by rank. Needs parents before children.
std::vector<std::vector<uint32_t>> children_of(const std::vector<Place>& places);

/// An order that depends on the places alone, not on how they are numbered: parents before
/// children, siblings by what identifies them.
std::vector<uint32_t> canonical_order(const std::vector<Place>& places);

}  // namespace vprof::analyzer
