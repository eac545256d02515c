/* A preempted thread: requests compute for a while on one processor; now and then others want it,
 * too. No function of the program does more than usual, and nobody is waited for.
 *
 * interval: serve
 * expect: first preempted
 * needs: switches
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

#include "planted.h"

enum { kHogs = 3 };

static atomic_bool stop;

static void* hog(void* unused) {
  (void)unused;
  while (!atomic_load(&stop)) {
    compute_us(20000);
    work_us(100000);
  }
  return NULL;
}

__attribute__((noinline)) static void hash_document(void) { compute_us(6000); }

__attribute__((noinline)) static void store_document(void) { compute_us(1000); }

void serve(void) {
  hash_document();
  store_document();
}

int main(void) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
  pthread_t hogs[kHogs];
  for (int i = 0; i < kHogs; ++i) {
    pthread_create(&hogs[i], NULL, hog, NULL);
  }
  for (int request = 0; request < 150; ++request) {
    serve();
  }
  atomic_store(&stop, 1);
  for (int i = 0; i < kHogs; ++i) {
    pthread_join(hogs[i], NULL);
  }
  return 0;
}
