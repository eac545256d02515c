// The tree of places that profiles add up over: every path from the interval down to a function,
// body, wait or queue in which time was found. The variance tree has the statistics of its nodes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
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

/// The name of the body of a node: `body(f)`; of a wait `wait(x)`: `wake-up(x)`.
std::string body_name(NodeKind kind, const std::string& name);

/// By place: its children, by rank. Needs parents before children.
std::vector<std::vector<uint32_t>> children_of(const std::vector<Place>& places);

/// The union of several trees of places.
class PlaceIndex {
 public:
  PlaceIndex();
  /// The number of the place below `parent` that is the same as `place`, added if it is new. What
  /// is known of a function is the sum of what all recordings know.
  uint32_t number_of(uint32_t parent, const Place& place);
  /// By number: parents before children; 0 is the interval itself.
  std::vector<Place>& places() { return places_; }
  const std::vector<Place>& places() const { return places_; }

 private:
  /// Parent, kind, name, key, position.
  using Identity = std::tuple<uint32_t, uint8_t, std::string, std::string, std::string>;

  std::vector<Place> places_;
  std::vector<uint32_t> child_counts_;  // by place
  std::map<Identity, uint32_t> numbers_;
};

/// An order that depends on the places alone, not on how they are numbered: parents before
/// children, siblings by what identifies them.
std::vector<uint32_t> canonical_order(const std::vector<Place>& places);

}  // namespace vprof::analyzer
