/* One condition for several resources: every release broadcasts, and wakes waiters for whom nothing
 * has changed. Requests want resource 0, which a slow thread holds; others are given back all the
 * time.
 *
 * interval: serve
 * expect: first use_slowly
 * absent: use_briefly
 */
#include <pthread.h>
#include <stdbool.h>

#include "planted.h"

enum { kResources = 4 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static bool taken[kResources];
static bool stop;

static void take(int resource, bool for_request) {
  pthread_mutex_lock(&mutex);
  while (taken[resource]) {
    if (for_request) {
      wait_begin();
    }
    pthread_cond_wait(&released, &mutex);
    if (for_request) {
      wait_end();
    }
  }
  taken[resource] = true;
  pthread_mutex_unlock(&mutex);
}

static bool give_back(int resource) {
  pthread_mutex_lock(&mutex);
  taken[resource] = false;
  const bool stopped = stop;
  pthread_cond_broadcast(&released);
  pthread_mutex_unlock(&mutex);
  return !stopped;
}

__attribute__((noinline)) static void use_slowly(long us) {
  cause_begin();
  work_us(us);
  cause_end();
}

__attribute__((noinline)) static void use_briefly(void) { work_us(2500); }

static void* slow(void* unused) {
  (void)unused;
  uint32_t state = 1;
  do {
    work_us(2000);
    take(0, false);
    hold_begin();
    use_slowly(1000 + (long)(draw(&state) % 8) * 1500);
    hold_end();
  } while (give_back(0));
  return NULL;
}

static void* brief(void* resource) {
  do {
    work_us(150);
    take((int)(intptr_t)resource, false);
    use_briefly();
  } while (give_back((int)(intptr_t)resource));
  return NULL;
}

void serve(void) {
  work_us(200);
  take(0, true);
  work_us(100);
  give_back(0);
}

int main(void) {
  pthread_t threads[kResources];
  pthread_create(&threads[0], NULL, slow, NULL);
  for (intptr_t i = 1; i < kResources; ++i) {
    pthread_create(&threads[i], NULL, brief, (void*)i);
  }
  for (int request = 0; request < 300; ++request) {
    request_begin();
    serve();
    request_end();
    work_us(500);
  }
  write_truth();
  pthread_mutex_lock(&mutex);
  stop = true;
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < kResources; ++i) {
    pthread_join(threads[i], NULL);
  }
  return 0;
}
