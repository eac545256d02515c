/* A consumer waits for a slow producer. Another thread posts the same semaphore right after each
 * result, before the consumer has run.
 *
 * interval: consume
 * expect: first compute_result
 * absent: tick
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "planted.h"

enum { kRequests = 300 };

static sem_t results, wanted;
static atomic_int begun, made;

__attribute__((noinline)) static void compute_result(long us) {
  cause_begin();
  work_us(us);
  cause_end();
}

__attribute__((noinline)) static void tick(void) { sem_post(&results); }

static void* producer(void* unused) {
  (void)unused;
  uint32_t state = 1;
  for (int i = 0; i < kRequests; ++i) {
    sem_wait(&wanted);
    hold_begin();
    compute_result(500 + (long)(draw(&state) % 8) * 1000);
    atomic_fetch_add(&begun, 1); /* so that the ticker need not spin for long */
    work_us(150);
    hold_end();
    sem_post(&results);
    atomic_fetch_add(&made, 1);
  }
  return NULL;
}

/* Spins for a result, so that its post comes before the consumer is awake. */
static void* ticker(void* unused) {
  (void)unused;
  for (int seen = 0; seen < kRequests; ++seen) {
    while (atomic_load(&begun) == seen) {
      work_us(50);
    }
    while (atomic_load(&made) == seen) {
    }
    tick();
  }
  return NULL;
}

void consume(void) {
  sem_post(&wanted);
  wait_begin();
  sem_wait(&results);
  wait_end();
  work_us(100);
}

int main(void) {
  sem_init(&results, 0, 0);
  sem_init(&wanted, 0, 0);
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, producer, NULL);
  pthread_create(&threads[1], NULL, ticker, NULL);
  for (int request = 0; request < kRequests; ++request) {
    request_begin();
    consume();
    request_end();
    sem_wait(&results); /* the second post */
    work_us(300);
  }
  write_truth();
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  return 0;
}
