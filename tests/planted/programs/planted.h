/* What the planted programs share. Excluded from instrumentation (planted.py), so its time belongs
 * to whoever calls it.
 *
 * Work is a sleep: it takes the same time however busy the machine is, so that what was planted
 * stands out from what other programs do to this one. The programs' configuration leaves timer
 * waits out, so a sleep is time of the function it is in. */
#ifndef PLANTED_H
#define PLANTED_H

#include <stdint.h>
#include <time.h>

#ifdef __has_include
#if __has_include(<vprof/annotations.h>)
#include <vprof/annotations.h>
#define HAVE_VPROF_ANNOTATIONS
#endif
#endif

static inline void work_us(long us) {
  struct timespec rest = {us / 1000000, us % 1000000 * 1000};
  while (nanosleep(&rest, &rest) != 0) {
  }
}

/* Time on a processor, whatever passes meanwhile. */
static inline void compute_us(long us) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  const long long end = now.tv_sec * 1000000000ll + now.tv_nsec + us * 1000ll;
  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while (now.tv_sec * 1000000000ll + now.tv_nsec < end);
}

/* Pseudo-random numbers, the same in every run. */
static inline uint32_t draw(uint32_t* state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

#endif
