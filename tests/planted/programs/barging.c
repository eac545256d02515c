/* A thread that tries for a mutex often gets it between the release of a slow holder and the moment
 * when the next waiter runs, so that it releases it last.
 *
 * interval: serve
 * expect: first flush_log
 * absent: count_entries
 */
#include <pthread.h>
#include <stdatomic.h>

#include "planted.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool stop, closing;

__attribute__((noinline)) static void flush_log(long us) {
  cause_begin();
  work_us(us);
  cause_end();
}

__attribute__((noinline)) static void count_entries(void) { compute_us(40); }

static void* flusher(void* unused) {
  (void)unused;
  uint32_t state = 1;
  while (!atomic_load(&stop)) {
    const uint32_t pages = draw(&state) % 8;
    pthread_mutex_lock(&mutex);
    hold_begin();
    flush_log(1000 + (long)pages * 2000);
    atomic_store(&closing, 1); /* so that the barger need not spin for long */
    work_us(150);
    hold_end();
    pthread_mutex_unlock(&mutex);
    work_us(5000);
  }
  return NULL;
}

static void* barger(void* unused) {
  (void)unused;
  while (!atomic_load(&stop)) {
    if (!atomic_load(&closing)) {
      work_us(50);
    } else if (pthread_mutex_trylock(&mutex) == 0) {
      hold_begin();
      atomic_store(&closing, 0);
      count_entries();
      hold_end();
      pthread_mutex_unlock(&mutex);
    }
  }
  return NULL;
}

void serve(void) {
  work_us(300);
  wait_begin();
  pthread_mutex_lock(&mutex);
  wait_end();
  work_us(100);
  pthread_mutex_unlock(&mutex);
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, flusher, NULL);
  pthread_create(&threads[1], NULL, barger, NULL);
  for (int request = 0; request < 300; ++request) {
    request_begin();
    serve();
    request_end();
    work_us(500);
  }
  write_truth();
  atomic_store(&stop, 1);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  return 0;
}
