/* A wait at the end of a chain of functions that are called often and only pass it on, so that
 * measuring all of them exceeds the budget. The one that makes the call must stay.
 *
 * interval: serve
 * expect: first wait(sleep)
 * expect: within age_entries
 */
#include <poll.h>

#include "planted.h"

static uint32_t bytes[512];

__attribute__((noinline)) static uint32_t hash(uint32_t seed) {
  for (int i = 0; i < 512; ++i) {
    seed = seed * 31 + (bytes[i] ^= seed);
  }
  return seed;
}

__attribute__((noinline)) static void age_entries(int request) {
  if (request % 50 == 25) {
    poll(NULL, 0, 3);
  }
}

__attribute__((noinline)) static uint32_t verify(int request) {
  const uint32_t sum = hash((uint32_t)request);
  age_entries(request);
  return sum;
}

__attribute__((noinline)) static uint32_t look_up(int request) { return verify(request) + hash(1); }

__attribute__((noinline)) static uint32_t respond(int request) {
  return look_up(request) + hash(2);
}

uint32_t serve(int request) { return respond(request) + hash(3); }

int main(void) {
  uint32_t sum = 0;
  for (int request = 0; request < 40000; ++request) {
    sum += serve(request);
  }
  return sum == 0;
}
