// What processes do when the driver of a live run dies, with a simulated clock.
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

extern "C" {
#include "storage/dead_man.h"
}

namespace {

constexpr uint64_t kMs = 1000000;

bool g_writable = true;
bool prepare(void*) { return g_writable; }

struct Frontier {
  Frontier() : sites(VPROF_FRONTIER_SITES) {
    g_writable = true;
    header->heartbeat_ns = 1000 * kMs;
  }
  vprof_dead_man man() { return {header.get(), sites.data(), VPROF_FRONTIER_STALE_NS, prepare}; }
  vprof_dead_man_result check(uint64_t now) {
    const vprof_dead_man self = man();
    return vprof_dead_man_check(&self, now);
  }
  bool any_on() const {
    for (const unsigned char site : sites) {
      if (site != 0) {
        return true;
      }
    }
    return false;
  }

  std::unique_ptr<vprof_frontier_header> header = std::make_unique<vprof_frontier_header>();
  std::vector<unsigned char> sites;
};

}  // namespace

TEST_CASE("a driver is dead when its heartbeat is older than 2 s, and not before") {
  Frontier frontier;
  frontier.sites[1] = frontier.sites[4095] = frontier.sites[VPROF_FRONTIER_SITES - 1] = 1;
  const uint64_t heartbeat = frontier.header->heartbeat_ns;
  CHECK(frontier.check(heartbeat) == VPROF_DEAD_MAN_DRIVEN);
  CHECK(frontier.check(heartbeat + VPROF_FRONTIER_STALE_NS) == VPROF_DEAD_MAN_DRIVEN);
  CHECK(frontier.sites[1] == 1);
  CHECK(frontier.header->switched_off == 0);
  CHECK(frontier.check(heartbeat + VPROF_FRONTIER_STALE_NS + 1) == VPROF_DEAD_MAN_UNDRIVEN);
  CHECK_FALSE(frontier.any_on());
  CHECK(frontier.header->heartbeat_ns == 0);
  CHECK(frontier.header->undriven == 1);
  CHECK(frontier.header->switched_off == 1);
}

TEST_CASE("a heartbeat from the future is as bad as an old one") {
  Frontier frontier;
  const uint64_t now = frontier.header->heartbeat_ns;
  frontier.header->heartbeat_ns = now + VPROF_FRONTIER_STALE_NS + 1;
  CHECK(frontier.check(now) == VPROF_DEAD_MAN_UNDRIVEN);
}

TEST_CASE("a process that was killed while it switched sites off is replaced by any other") {
  Frontier frontier;
  frontier.header->heartbeat_ns = 0;  // it had come as far as this
  frontier.sites[77] = 1;
  CHECK(frontier.check(5000 * kMs) == VPROF_DEAD_MAN_UNDRIVEN);
  CHECK_FALSE(frontier.any_on());
  CHECK(frontier.check(6000 * kMs) == VPROF_DEAD_MAN_UNDRIVEN);
  CHECK(frontier.header->switched_off == 1);
}

TEST_CASE("on a full disk nothing is stored, and whoever asked is told") {
  Frontier frontier;
  frontier.sites[77] = 1;
  g_writable = false;
  const vprof_frontier_header before = *frontier.header;
  CHECK(frontier.check(9000 * kMs) == VPROF_DEAD_MAN_STUCK);
  CHECK(frontier.sites[77] == 1);
  CHECK(std::memcmp(&before, frontier.header.get(), sizeof before) == 0);
}

// The driver beats every 250 ms or late, changes its sites, and is killed at any moment; several
// processes look, as the runtime says: when the heartbeat may be stale, or earlier.
TEST_CASE("a driver killed at 200 random moments leaves all sites off within 2 s") {
  std::mt19937_64 random(20261124);
  const auto below = [&](uint64_t n) { return random() % n; };
  for (int round = 0; round < 200; ++round) {
    Frontier frontier;
    uint64_t now = frontier.header->heartbeat_ns;
    uint64_t beat = now;
    const uint64_t killed = now + below(20000) * kMs + below(kMs);
    while (now < killed) {
      now += below(1900) * kMs / 4 + 1;
      if (now >= killed) {
        break;
      }
      REQUIRE(frontier.check(now) == VPROF_DEAD_MAN_DRIVEN);
      frontier.header->heartbeat_ns = beat = now;
      frontier.sites[1 + below(VPROF_FRONTIER_SITES - 1)] = below(2) != 0;
    }
    const uint64_t off = beat + VPROF_FRONTIER_STALE_NS;
    for (int i = 0; i < 3; ++i) {
      REQUIRE(frontier.check(beat + below(VPROF_FRONTIER_STALE_NS)) == VPROF_DEAD_MAN_DRIVEN);
    }
    REQUIRE(frontier.check(off + 1) == VPROF_DEAD_MAN_UNDRIVEN);
    REQUIRE_FALSE(frontier.any_on());
    REQUIRE(frontier.header->heartbeat_ns == 0);
    REQUIRE(off + 1 - killed <= VPROF_FRONTIER_STALE_NS);
  }
}
