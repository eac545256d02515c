#include "maintenance.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

namespace orders {

namespace {

// Takes from a tenth of a millisecond to a few milliseconds.
uint64_t purge_sessions(std::vector<uint64_t>& sessions, size_t turns) {
  uint64_t purged = 0;
  for (size_t turn = 0; turn < turns; ++turn) {
    for (uint64_t& session : sessions) {
      session = session * 6364136223846793005ull + 1442695040888963407ull;
      purged += session >> 63;
    }
  }
  return purged;
}

// Sleeps as if it waited for a disk: from 0.1 ms to 100 ms.
void archive_old_orders(std::mt19937& random) {
  std::uniform_real_distribution<double> exponent(-1.0, 2.0);
  std::this_thread::sleep_for(
      std::chrono::duration<double, std::milli>(std::pow(10.0, exponent(random))));
}

}  // namespace

void maintenance_loop(const std::atomic<bool>& stop) {
  std::mt19937 random(7);
  std::uniform_int_distribution<size_t> turns(1, 40);
  std::vector<uint64_t> sessions(50000, 1);
  uint64_t purged = 0;
  while (!stop) {
    if (random() % 4 == 0) {
      purged += purge_sessions(sessions, turns(random));
    }
    archive_old_orders(random);
  }
  // Printed, so that the compiler does not remove the work.
  std::printf("%llu sessions purged\n", static_cast<unsigned long long>(purged));
}

}  // namespace orders
