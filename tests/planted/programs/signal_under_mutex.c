/* A thread signals a condition and goes on under the mutex. The waiter needs the mutex back.
 *
 * interval: consume
 * expect: first publish
 * absent: prepare
 */
#include <pthread.h>

#include "planted.h"

enum { kRequests = 300 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int wanted, made;

__attribute__((noinline)) static void prepare(void) { work_us(1000); }

__attribute__((noinline)) static void publish(long us) {
  cause_begin();
  work_us(us);
  cause_end();
}

static void* producer(void* unused) {
  (void)unused;
  uint32_t state = 1;
  for (int i = 0; i < kRequests; ++i) {
    pthread_mutex_lock(&mutex);
    while (wanted <= i) {
      pthread_cond_wait(&changed, &mutex);
    }
    pthread_mutex_unlock(&mutex);
    hold_begin();
    prepare();
    pthread_mutex_lock(&mutex);
    ++made;
    pthread_cond_broadcast(&changed);
    publish(200 + (long)(draw(&state) % 8) * 1000);
    hold_end();
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

void consume(int request) {
  pthread_mutex_lock(&mutex);
  ++wanted;
  pthread_cond_broadcast(&changed);
  wait_begin();
  while (made <= request) {
    pthread_cond_wait(&changed, &mutex);
  }
  wait_end();
  pthread_mutex_unlock(&mutex);
  work_us(100);
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, producer, NULL);
  for (int request = 0; request < kRequests; ++request) {
    request_begin();
    consume(request);
    request_end();
  }
  write_truth();
  pthread_join(thread, NULL);
  return 0;
}
