/* A reader waits for a writer. A thread that tries for the lock often gets it between the writer's
 * release and the moment when the reader runs, for a little while.
 *
 * interval: lookup
 * expect: first rebuild_index
 * absent: sample
 */
#include <pthread.h>
#include <stdatomic.h>

#include "planted.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static atomic_bool stop, closing;

__attribute__((noinline)) static void rebuild_index(long us) {
  cause_begin();
  work_us(us);
  cause_end();
}

__attribute__((noinline)) static void sample(void) { compute_us(30); }

static void* writer(void* unused) {
  (void)unused;
  uint32_t state = 1;
  while (!atomic_load(&stop)) {
    const uint32_t entries = draw(&state) % 8;
    pthread_rwlock_wrlock(&lock);
    hold_begin();
    rebuild_index(1000 + (long)entries * 2000);
    atomic_store(&closing, 1); /* so that the sampler need not spin for long */
    work_us(150);
    hold_end();
    pthread_rwlock_unlock(&lock);
    work_us(5000);
  }
  return NULL;
}

static void* sampler(void* unused) {
  (void)unused;
  while (!atomic_load(&stop)) {
    if (!atomic_load(&closing)) {
      work_us(50);
    } else if (pthread_rwlock_tryrdlock(&lock) == 0) {
      hold_begin();
      atomic_store(&closing, 0);
      sample();
      hold_end();
      pthread_rwlock_unlock(&lock);
    }
  }
  return NULL;
}

void lookup(void) {
  work_us(300);
  wait_begin();
  pthread_rwlock_rdlock(&lock);
  wait_end();
  work_us(100);
  pthread_rwlock_unlock(&lock);
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, writer, NULL);
  pthread_create(&threads[1], NULL, sampler, NULL);
  for (int request = 0; request < 300; ++request) {
    request_begin();
    lookup();
    request_end();
    work_us(500);
  }
  write_truth();
  atomic_store(&stop, 1);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  return 0;
}
