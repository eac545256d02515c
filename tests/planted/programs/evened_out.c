/* A fetch takes from 1 to 17 ms, and a pad waits for what is left of 18: together they take the
 * same time always. Each has a variance of 25 ms^2. The cause is what varies beside them, by
 * 21 ms^2.
 *
 * interval: answer
 * expect: first write_log
 * expect: share 0.8 1.1
 * absent: fetch
 * absent: pad
 */
#include "planted.h"

static __attribute__((noinline)) void fetch(long us) { work_us(us); }

/* Until the instant, so that it also evens out what a sleep takes longer than asked for. */
static __attribute__((noinline)) void pad(struct timespec until) {
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) {
  }
}

static __attribute__((noinline)) void write_log(long us) { work_us(us); }

void answer(long fetch_us, long log_us) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += 18000000;
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    until.tv_sec += 1;
  }
  fetch(fetch_us);
  pad(until);
  cause_begin();
  write_log(log_us);
  cause_end();
}

int main(void) {
  for (int i = 0; i < 120; ++i) {
    request_begin();
    answer(1000 + 1450L * (i % 12), 1600L * (i / 12 * 3 % 10)); /* each with each */
    request_end();
  }
  write_truth();
  return 0;
}
