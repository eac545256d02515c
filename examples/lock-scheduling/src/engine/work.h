// Work is sleep: a thousand threads do it on two processors, and what delays them is the engine and
// not the machine.
#pragma once

#include <random>

#include "workloads/workload.h"

namespace lab {

// Reads, computes, waits for its client: whatever a statement does.
void work(double microseconds);

// How long something takes that is memoryless.
inline double about(Random& random, int mean_us) {
  return mean_us == 0 ? 0 : std::exponential_distribution<double>(1.0 / mean_us)(random);
}

// For each thread: the kernel otherwise lets a sleep take 50 us longer, to save wake-ups.
void sleep_precisely();

}  // namespace lab
