// The numbers of objects: never "no object", and different for different objects.
#include <catch2/catch.hpp>
#include <unordered_set>

#include "system_calls/objects.h"

namespace {

constexpr uint64_t kMost = 4096;

// Devices have a major number in the upper half.
constexpr uint64_t kDevices[] = {0, 1, 2, 13, 254ull << 32, 8ull << 32 | 1};

}  // namespace

TEST_CASE("objects behind small descriptors, processes, inodes and ports all differ") {
  std::unordered_set<uint64_t> all{0};
  uint64_t objects = 1;
  const auto add = [&](uint64_t object) {
    all.insert(object);
    ++objects;
  };
  for (uint64_t i = 0; i <= kMost; ++i) {
    add(vprof_object_number(i));
    add(vprof_object_signals(i));
    add(vprof_object_port(2, i));
    for (const uint64_t device : kDevices) {
      add(vprof_object_file(device, i));
    }
  }
  CHECK(all.size() == objects);
}

TEST_CASE("no step of a hash leads to 'no object'") {
  for (uint64_t i = 0; i <= kMost; ++i) {
    CHECK(vprof_object_mix(i, i) != 0);
    for (const uint64_t kind : {VPROF_OBJECT_FILE, VPROF_OBJECT_FLOW, VPROF_OBJECT_LISTENER,
                                VPROF_OBJECT_NUMBER, VPROF_OBJECT_SIGNALS}) {
      CHECK(vprof_object_mix(kind, i) != 0);
      CHECK(vprof_object_mix(kind, kind) != 0);
    }
  }
}
