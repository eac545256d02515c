/* What the planted programs share. Excluded from instrumentation (planted.py), so its time belongs
 * to whoever calls it.
 *
 * Work is a sleep: it takes the same time however busy the machine is, so that what was planted
 * stands out from what other programs do to this one. The programs' configuration leaves timer
 * waits out, so a sleep is time of the function it is in. */
#ifndef PLANTED_H
#define PLANTED_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

/* For waits with a time limit: that long from now. */
static inline struct timespec limit_us(long us) {
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  const long ns = limit.tv_nsec + us * 1000;
  limit.tv_sec += ns / 1000000000;
  limit.tv_nsec = ns % 1000000000;
  return limit;
}

/* What the program itself measures, to be compared with the report: of each request T, how long it
 * took, and x, how long the planted cause delayed it. At its end the program appends a line to
 * $PLANTED_TRUTH: the share of the cause, Cov(x, T) / Var(T), and where the run is recorded. The
 * first request does not count: vprof sets itself up in it, and leaves that time out. One thread
 * only. */
static struct {
  long long request, cause; /* when they began */
  long long delay;          /* x of this request */
  double n, x, t, xt, tt;
  int warm; /* the first request is over */
} truth;

static inline long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static inline void cause_begin(void) { truth.cause = now_ns(); }
static inline void cause_end(void) { truth.delay += now_ns() - truth.cause; }

static inline void request_begin(void) {
  truth.delay = 0;
  truth.request = now_ns();
}
static inline void request_end(void) {
  const double t = (double)(now_ns() - truth.request);
  const double x = (double)truth.delay;
  if (!truth.warm) {
    truth.warm = 1;
    return;
  }
  truth.n += 1;
  truth.t += t;
  truth.x += x;
  truth.xt += x * t;
  truth.tt += t * t;
}

static inline void write_truth(void) {
  const char* path = getenv("PLANTED_TRUTH");
  const char* trace = getenv("VPROF_TRACE_DIR");
  FILE* file = path == NULL || trace == NULL ? NULL : fopen(path, "a");
  if (file != NULL) {
    const double covariance = truth.xt - truth.x * truth.t / truth.n;
    const double variance = truth.tt - truth.t * truth.t / truth.n;
    fprintf(file, "%.4f %s\n", covariance / variance, trace);
    fclose(file);
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
