#include "maintenance.h"

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define SESSIONS 50000

static uint64_t sessions[SESSIONS];

static uint32_t random_below(uint64_t* state, uint32_t bound) {
  *state = *state * 6364136223846793005ull + 1442695040888963407ull;
  return (uint32_t)((*state >> 33) % bound);
}

/* Takes from a tenth of a millisecond to a few milliseconds. */
static uint64_t purge_sessions(uint32_t turns) {
  uint64_t purged = 0;
  for (uint32_t turn = 0; turn < turns; ++turn) {
    for (int i = 0; i < SESSIONS; ++i) {
      sessions[i] = sessions[i] * 6364136223846793005ull + 1442695040888963407ull;
      purged += sessions[i] >> 63;
    }
  }
  return purged;
}

/* Sleeps as if it waited for a disk: from 0.1 ms to 100 ms. */
static void archive_old_orders(uint64_t* random) {
  const double milliseconds = pow(10.0, random_below(random, 3000) / 1000.0 - 1.0);
  struct timespec pause = {0, (long)(milliseconds * 1e6)};
  nanosleep(&pause, NULL);
}

void* maintenance_loop(void* argument) {
  atomic_bool* stop = argument;
  uint64_t random = 7, purged = 0;
  while (!atomic_load(stop)) {
    if (random_below(&random, 4) == 0) {
      purged += purge_sessions(1 + random_below(&random, 40));
    }
    archive_old_orders(&random);
  }
  /* Printed, so that the compiler does not remove the work. */
  printf("%llu sessions purged\n", (unsigned long long)purged);
  return NULL;
}
