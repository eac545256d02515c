// How often the kernel is asked whether a call on a descriptor may block.
#include <catch2/catch.hpp>

#include "simulated/descriptors.h"

namespace {

auto& descriptor = simulated_descriptor;
constexpr bool kShort = true;
constexpr bool kLong = false;

// Of `calls` short ones on a descriptor, how many asked.
unsigned asked(int fd, int calls) {
  const unsigned before = descriptor.asked;
  for (int i = 0; i < calls; ++i) {
    CHECK(simulated_never_blocks(fd, kShort) == !descriptor.blocks);
  }
  return descriptor.asked - before;
}

}  // namespace

TEST_CASE("simulated: of short calls on a descriptor that does not block, one in 16 asks") {
  descriptor = {};
  CHECK(asked(1, 160) == 10);
  CHECK(asked(2, 160) == 10);
  CHECK(asked(100000, 16) == 16);  // nothing is kept of it
}

TEST_CASE("simulated: long calls ask, and so do those on a descriptor that may block") {
  descriptor = {};
  asked(3, 1);
  for (int i = 0; i < 8; ++i) {
    CHECK(simulated_never_blocks(3, kLong));
  }
  CHECK(descriptor.asked == 9);
  descriptor.blocks = true;
  CHECK_FALSE(simulated_never_blocks(3, kLong));
  CHECK(asked(3, 8) == 8);  // what the long call has seen counts for short ones
}

TEST_CASE("simulated: a descriptor that blocks from now on is noticed") {
  descriptor = {};
  asked(4, 1);
  descriptor.blocks = true;
  SECTION("at once, if the program sets its flags") { simulated_flags_change(4); }
  SECTION("at once, if it is another one of the same number") { simulated_reopen(4); }
  SECTION("after 15 short calls, if the flags are set in a way that is not seen") {
    for (int i = 0; i < 15; ++i) {
      CHECK(simulated_never_blocks(4, kShort));
    }
  }
  CHECK_FALSE(simulated_never_blocks(4, kShort));
}

TEST_CASE("simulated: in a sandbox nothing is asked, and nothing is known") {
  descriptor = {};
  simulated_confine(true);
  CHECK_FALSE(simulated_never_blocks(5, kShort));
  CHECK_FALSE(simulated_never_blocks(5, kLong));
  CHECK(descriptor.asked == 0);
  simulated_confine(false);
}
