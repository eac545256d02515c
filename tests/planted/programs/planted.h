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
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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

/* What the program itself measures, to be compared with the report.
 *
 * Of each request: T, how long it took, and x, how long the planted cause delayed it: what the
 * cause did, on any thread or process of the program, while the request waited. A request that
 * marks no waits waits for all that it does. At its end the program appends a line to
 * $PLANTED_TRUTH: the share of the cause, Cov(x, T) / Var(T), and where the run is recorded. The
 * first request does not count: vprof sets itself up in it, and leaves that time out. All requests
 * are on one thread.
 *
 * Of each thread that somebody may wait for: when it has what the others wait for. These stretches
 * are lines of $PLANTED_TRUTH.holds: the recording, the thread, begin, end. Nobody else is to
 * blame. */
enum { kMostStretches = 1 << 15 };
struct stretch {
  long long begin, end; /* ns of CLOCK_MONOTONIC */
  long thread;
};
struct stretches {
  unsigned n;
  struct stretch of[kMostStretches];
};
static struct {
  struct stretches requests, waits;
  struct stretches *causes, *holds; /* shared with child processes */
  long long request, wait;          /* when they began */
  unsigned first_wait;              /* of this request */
} truth;
static __thread long long cause_since, hold_since;

static inline long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

__attribute__((constructor)) static inline void share_stretches(void) {
  truth.causes = (struct stretches*)mmap(NULL, 2 * sizeof *truth.causes, PROT_READ | PROT_WRITE,
                                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  truth.holds = truth.causes + 1;
}

static inline void add_stretch(struct stretches* to, long long begin, long long end) {
  const unsigned i = __atomic_fetch_add(&to->n, 1, __ATOMIC_RELAXED);
  if (i >= kMostStretches) {
    abort();
  }
  to->of[i].begin = begin;
  to->of[i].end = end;
  to->of[i].thread = syscall(SYS_gettid);
}

static inline void cause_begin(void) { cause_since = now_ns(); }
static inline void cause_end(void) { add_stretch(truth.causes, cause_since, now_ns()); }

static inline void hold_begin(void) { hold_since = now_ns(); }
static inline void hold_end(void) { add_stretch(truth.holds, hold_since, now_ns()); }

static inline void wait_begin(void) { truth.wait = now_ns(); }
static inline void wait_end(void) { add_stretch(&truth.waits, truth.wait, now_ns()); }

static inline void request_begin(void) {
  truth.first_wait = truth.waits.n;
  truth.request = now_ns();
}
static inline void request_end(void) {
  const long long end = now_ns();
  add_stretch(&truth.requests, truth.request, end);
  if (truth.waits.n == truth.first_wait) {
    add_stretch(&truth.waits, truth.request, end);
  }
}

static inline int begins_earlier(const void* a, const void* b) {
  const long long begin = ((const struct stretch*)a)->begin;
  const long long other = ((const struct stretch*)b)->begin;
  return begin < other ? -1 : begin > other;
}

/* Time in [begin, end] in which the cause was at work; what two threads did at once counts once. */
static inline long long caused_within(long long begin, long long end) {
  long long sum = 0;
  for (unsigned i = 0; i < truth.causes->n && truth.causes->of[i].begin < end; ++i) {
    const struct stretch cause = truth.causes->of[i];
    const long long until = cause.end < end ? cause.end : end;
    begin = cause.begin > begin ? cause.begin : begin;
    if (until > begin) {
      sum += until - begin;
      begin = until;
    }
  }
  return sum;
}

/* Of the requests but the first. Waits and requests are in order of time. */
static inline double share_of_cause(void) {
  double n = 0, x = 0, t = 0, xt = 0, tt = 0;
  unsigned wait = 0;
  qsort(truth.causes->of, truth.causes->n, sizeof truth.causes->of[0], begins_earlier);
  for (unsigned i = 0; i < truth.requests.n; ++i) {
    const struct stretch request = truth.requests.of[i];
    long long delay = 0;
    for (; wait < truth.waits.n && truth.waits.of[wait].begin < request.end; ++wait) {
      delay += caused_within(truth.waits.of[wait].begin, truth.waits.of[wait].end);
    }
    if (i != 0) {
      const double xi = (double)delay;
      const double ti = (double)(request.end - request.begin);
      n += 1;
      x += xi;
      t += ti;
      xt += xi * ti;
      tt += ti * ti;
    }
  }
  return (xt - x * t / n) / (tt - t * t / n);
}

static inline void write_truth(void) {
  const char* path = getenv("PLANTED_TRUTH");
  const char* trace = getenv("VPROF_TRACE_DIR");
  if (path == NULL || trace == NULL) {
    return;
  }
  char name[4096];
  snprintf(name, sizeof name, "%s.holds", path);
  FILE* file = fopen(name, "a");
  for (unsigned i = 0; file != NULL && i < truth.holds->n; ++i) {
    const struct stretch hold = truth.holds->of[i];
    fprintf(file, "%s %ld %lld %lld\n", trace, hold.thread, hold.begin, hold.end);
  }
  if (file != NULL) {
    fclose(file);
  }
  file = truth.requests.n == 0 ? NULL : fopen(path, "a");
  if (file != NULL) {
    fprintf(file, "%.5f %s\n", share_of_cause(), trace);
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
