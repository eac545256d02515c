#include "statistics/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace vprof::analyzer {

std::string body_name(NodeKind kind, const std::string& name) {
  return kind == NodeKind::kWait ? "wake-up" + name.substr(name.find('('))
                                 : fmt::format("body({})", name);
}

std::vector<std::vector<uint32_t>> children_of(const std::vector<Place>& places) {
  std::vector<std::vector<uint32_t>> children(places.size());
  for (uint32_t i = 1; i < places.size(); ++i) {
    std::vector<uint32_t>& siblings = children[places[i].parent];
    if (siblings.size() <= places[i].rank) {
      siblings.resize(places[i].rank + 1);
    }
    siblings[places[i].rank] = i;
  }
  return children;
}

PlaceIndex::PlaceIndex() : places_(1), child_counts_{0} {}

uint32_t PlaceIndex::number_of(uint32_t parent, const Place& place) {
  const auto [entry, is_new] = numbers_.try_emplace(
      Identity(parent, static_cast<uint8_t>(place.kind), place.name, place.key, place.position),
      static_cast<uint32_t>(places_.size()));
  if (is_new) {
    Place& added = places_.emplace_back(place);
    added.parent = parent;
    added.rank = child_counts_[parent]++;
    child_counts_.push_back(0);
  } else {
    // Recordings of earlier iterations know less about a function.
    Place& known = places_[entry->second];
    known.height = std::max(known.height, place.height);
    known.expanded = known.expanded || place.expanded;
    known.expandable = known.expandable || place.expandable;
  }
  return entry->second;
}

std::vector<uint32_t> canonical_order(const std::vector<Place>& places) {
  std::vector<std::vector<uint32_t>> children(places.size());
  for (uint32_t i = 1; i < places.size(); ++i) {
    children[places[i].parent].push_back(i);
  }
  std::vector<uint32_t> order = {0};
  for (size_t i = 0; i < order.size(); ++i) {  // grows on the way
    std::vector<uint32_t>& siblings = children[order[i]];
    std::sort(siblings.begin(), siblings.end(), [&](uint32_t a, uint32_t b) {
      const auto identity = [](const Place& p) {
        return std::tie(p.kind, p.name, p.key, p.position);
      };
      return identity(places[a]) < identity(places[b]);
    });
    order.insert(order.end(), siblings.begin(), siblings.end());
  }
  return order;
}

}  // namespace vprof::analyzer
