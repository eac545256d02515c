#include "statistics/places.h"

#include <algorithm>
#include <tuple>

namespace vprof::analyzer {

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
