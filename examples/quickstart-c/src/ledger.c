#include "ledger.h"

#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t owed_cents[CUSTOMERS];

void charge(const struct order* order) {
  pthread_mutex_lock(&mutex);
  owed_cents[order->customer % CUSTOMERS] += order->price_cents;
  pthread_mutex_unlock(&mutex);
}

uint64_t ledger_total_cents(void) {
  uint64_t total = 0;
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < CUSTOMERS; ++i) {
    total += owed_cents[i];
  }
  pthread_mutex_unlock(&mutex);
  return total;
}
