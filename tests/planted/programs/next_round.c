/* A thread sends batches every few milliseconds, and waits for its next round on a condition, with
 * the mutex held in between. Requests wait for their batch, so their latency varies with the time
 * to the next round. The signal that stops the thread in the end has nothing to do with it.
 *
 * interval: serve
 * expect: first wait(pthread_cond_wait)
 * absent: administer
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

#include "planted.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t sent = PTHREAD_COND_INITIALIZER;
static pthread_cond_t stopped = PTHREAD_COND_INITIALIZER;
static long batch;
static bool stop;

__attribute__((noinline)) static void send_batch(void) { work_us(200); }

static bool wait_for_round(void) {
  const struct timespec limit = limit_us(12000);
  while (!stop) {
    if (pthread_cond_timedwait(&stopped, &mutex, &limit) == ETIMEDOUT) {
      return true;
    }
  }
  return false;
}

static void* send_batches(void* unused) {
  pthread_mutex_lock(&mutex);
  while (wait_for_round()) {
    send_batch();
    ++batch;
    pthread_cond_broadcast(&sent);
  }
  pthread_mutex_unlock(&mutex);
  return unused;
}

void serve(void) {
  pthread_mutex_lock(&mutex);
  for (const long mine = batch; batch == mine;) {
    pthread_cond_wait(&sent, &mutex);
  }
  pthread_mutex_unlock(&mutex);
}

static void* client(void* number) {
  uint32_t state = (uint32_t)(intptr_t)number;
  for (int request = 0; request < 120; ++request) {
    work_us((long)(draw(&state) % 120) * 100);
    serve();
  }
  return NULL;
}

__attribute__((noinline)) static void administer(void) { work_us(700000); }

int main(void) {
  enum { kClients = 4 };
  pthread_t sender;
  pthread_t clients[kClients];
  pthread_create(&sender, NULL, send_batches, NULL);
  for (intptr_t i = 0; i < kClients; ++i) {
    pthread_create(&clients[i], NULL, client, (void*)(i + 1));
  }
  administer();
  for (int i = 0; i < kClients; ++i) {
    pthread_join(clients[i], NULL);
  }
  pthread_mutex_lock(&mutex);
  stop = true;
  pthread_cond_signal(&stopped);
  pthread_mutex_unlock(&mutex);
  pthread_join(sender, NULL);
  return 0;
}
