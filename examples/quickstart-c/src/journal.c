#include "journal.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static FILE* file;

bool journal_open(const char* path) {
  file = fopen(path, "w");
  return file != NULL;
}

static void write_line(const struct order* order) {
  fprintf(file, "%" PRIu64 " %s customer=%u quantity=%u price=%" PRIu64 "\n", order->id,
          order->kind, order->customer, order->quantity, order->price_cents);
}

void journal_append(const struct order* order) {
  pthread_mutex_lock(&mutex);
  write_line(order);
  fflush(file);
  pthread_mutex_unlock(&mutex);
}

void journal_close(void) { fclose(file); }
