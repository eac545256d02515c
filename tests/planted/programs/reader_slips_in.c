/* A writer waits for a long reader. Near its end another reader slips in, and leaves last.
 *
 * interval: store
 * expect: first scan_table
 */
#include <pthread.h>
#include <stdatomic.h>

#include "planted.h"

static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static atomic_int scan;  // number of the current scan; even: none
static atomic_bool stop;

__attribute__((noinline)) static void scan_table(long us) {
  cause_begin();
  work_us(us);
  cause_end();
}

__attribute__((noinline)) static void peek(void) { work_us(1500); }

static void* scanner(void* unused) {
  (void)unused;
  uint32_t state = 1;
  while (!atomic_load(&stop)) {
    pthread_rwlock_rdlock(&table);
    hold_begin();
    atomic_fetch_add(&scan, 1);
    const uint32_t pages = draw(&state) % 8;
    scan_table(2000 + (long)pages * 2000);
    atomic_fetch_add(&scan, 1); /* peeker gets in now */
    work_us(700);
    hold_end();
    pthread_rwlock_unlock(&table);
    work_us(4000);
  }
  return NULL;
}

static void* peeker(void* unused) {
  (void)unused;
  for (int seen = 0; !atomic_load(&stop);) {
    const int now = atomic_load(&scan);
    if (now % 2 == 0 && now != seen) {
      pthread_rwlock_rdlock(&table);
      hold_begin();
      peek();
      hold_end();
      pthread_rwlock_unlock(&table);
      seen = now;
    }
    work_us(100);
  }
  return NULL;
}

void store(void) {
  work_us(300);
  wait_begin();
  pthread_rwlock_wrlock(&table);
  wait_end();
  work_us(100);
  pthread_rwlock_unlock(&table);
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, scanner, NULL);
  pthread_create(&threads[1], NULL, peeker, NULL);
  for (int request = 0; request < 300; ++request) {
    request_begin();
    store();
    request_end();
    work_us(500);
  }
  write_truth();
  atomic_store(&stop, 1);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  return 0;
}
