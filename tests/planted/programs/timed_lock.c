/* A lock is waited for in slices: each gives up after a millisecond, so that the thread can look
 * whether its client is still there. Maintenance holds the lock for several of them.
 *
 * interval: serve
 * expect: first rebuild_index
 * expect: share 0.8 1.1
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>

#include "planted.h"

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static volatile bool stop;

__attribute__((noinline)) static void look_at_client(void) {}

__attribute__((noinline)) static void lock_table(void) {
  for (;;) {
    const struct timespec limit = limit_us(1000);
    wait_begin();
    const int error = pthread_mutex_timedlock(&table, &limit);
    wait_end();
    if (error == 0) {
      return;
    }
    look_at_client();
  }
}

__attribute__((noinline)) static void rebuild_index(long us) {
  cause_begin();
  work_us(us);
  cause_end();
}

static void* maintenance(void* unused) {
  uint32_t state = 1;
  while (!stop) {
    work_us(8000);
    pthread_mutex_lock(&table);
    hold_begin();
    rebuild_index(2000 + (long)(draw(&state) % 8) * 1000);
    hold_end();
    pthread_mutex_unlock(&table);
  }
  return unused;
}

void serve(void) {
  work_us(200);
  lock_table();
  work_us(50);
  pthread_mutex_unlock(&table);
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, maintenance, NULL);
  uint32_t state = 2;
  for (int request = 0; request < 500; ++request) {
    request_begin();
    serve();
    request_end();
    work_us(500 + (long)(draw(&state) % 1000));
  }
  write_truth();
  stop = true;
  pthread_join(thread, NULL);
  return 0;
}
