/* A slow lock holder: requests wait for a mutex that a background thread holds for long, now and
 * then. It also works without the lock, which delays nobody.
 *
 * interval: serve
 * expect: first compact_log
 * absent: archive_log
 */
#include <pthread.h>
#include <stdatomic.h>

#include "planted.h"

static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool stop;

__attribute__((noinline)) static void compact_log(void) {
  cause_begin();
  work_us(20000);
  cause_end();
}

__attribute__((noinline)) static void archive_log(int round) {
  work_us(round % 3 == 0 ? 40000 : 20000);
}

__attribute__((noinline)) static void tend_log(int round) {
  pthread_mutex_lock(&log_mutex);
  hold_begin();
  compact_log();
  hold_end();
  pthread_mutex_unlock(&log_mutex);
  archive_log(round);
}

static void* tender(void* unused) {
  (void)unused;
  for (int round = 0; !atomic_load(&stop); ++round) {
    tend_log(round);
  }
  return NULL;
}

__attribute__((noinline)) static void append(void) {
  wait_begin();
  pthread_mutex_lock(&log_mutex);
  wait_end();
  work_us(200);
  pthread_mutex_unlock(&log_mutex);
}

__attribute__((noinline)) static void execute(int request) { work_us(1000 + request % 5 * 100); }

void serve(int request) {
  execute(request);
  append();
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, tender, NULL);
  for (int request = 0; request < 300; ++request) {
    request_begin();
    serve(request);
    request_end();
  }
  write_truth();
  atomic_store(&stop, 1);
  pthread_join(thread, NULL);
  return 0;
}
