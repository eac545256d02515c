/* A writer starves behind readers who overlap: the lock is never free while one of them is in.
 *
 * interval: store
 * expect: first read_table
 */
#include <pthread.h>
#include <stdatomic.h>

#include "planted.h"

enum { kReaders = 4 };

static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static atomic_bool stop;

__attribute__((noinline)) static void read_table(long us) {
  cause_begin();
  work_us(us);
  cause_end();
}

static void* reader(void* number) {
  uint32_t state = (uint32_t)(uintptr_t)number * 77 + 1;
  while (!atomic_load(&stop)) {
    pthread_rwlock_rdlock(&table);
    hold_begin();
    read_table(1000 + (long)(draw(&state) % 4) * 1000);
    hold_end();
    pthread_rwlock_unlock(&table);
    work_us(1000 + (long)(draw(&state) % 4) * 1500);
  }
  return NULL;
}

void store(void) {
  work_us(200);
  wait_begin();
  pthread_rwlock_wrlock(&table);
  wait_end();
  work_us(100);
  pthread_rwlock_unlock(&table);
}

int main(void) {
  pthread_t threads[kReaders];
  for (uintptr_t i = 0; i < kReaders; ++i) {
    pthread_create(&threads[i], NULL, reader, (void*)i);
  }
  for (int request = 0; request < 300; ++request) {
    request_begin();
    store();
    request_end();
    work_us(500);
  }
  write_truth();
  atomic_store(&stop, 1);
  for (int i = 0; i < kReaders; ++i) {
    pthread_join(threads[i], NULL);
  }
  return 0;
}
