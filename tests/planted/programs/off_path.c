/* Variance off the critical path: each request starts a helper, does its own part, and joins it.
 * The helper's prefetching varies far more than the rest but is always done before the request's
 * own part; a little of the request varies, and that is the cause.
 *
 * interval: serve
 * expect: first choose_plan
 * absent: prefetch
 */
#include <pthread.h>

#include "planted.h"

static uint32_t seed = 1;

__attribute__((noinline)) static void prefetch(int request) {
  work_us(request % 2 == 0 ? 200 : 9000);
}

static void* helper(void* request) {
  prefetch(*(int*)request);
  return NULL;
}

__attribute__((noinline)) static void scan_table(void) { work_us(20000); }

__attribute__((noinline)) static void choose_plan(int request) {
  work_us(request % 7 == 0 ? 12000 : 500);
}

void serve(int request) {
  pthread_t thread;
  pthread_create(&thread, NULL, helper, &request);
  cause_begin();
  choose_plan(request);
  cause_end();
  scan_table();
  pthread_join(thread, NULL);
  work_us(200 + draw(&seed) % 300);
}

int main(void) {
  for (int request = 0; request < 60; ++request) {
    request_begin();
    serve(request);
    request_end();
  }
  write_truth();
  return 0;
}
