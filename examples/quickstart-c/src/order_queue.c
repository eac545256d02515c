#include "order_queue.h"

#include <stdlib.h>

#define MAX_WAITING 3

bool order_queue_init(struct order_queue* queue, size_t capacity) {
  pthread_mutex_init(&queue->mutex, NULL);
  pthread_cond_init(&queue->not_empty, NULL);
  pthread_cond_init(&queue->not_full, NULL);
  queue->waiting = calloc(capacity, sizeof(struct order*));
  queue->head = queue->tail = 0;
  queue->closed = false;
  return queue->waiting != NULL;
}

void order_queue_destroy(struct order_queue* queue) {
  free(queue->waiting);
  pthread_cond_destroy(&queue->not_empty);
  pthread_cond_destroy(&queue->not_full);
  pthread_mutex_destroy(&queue->mutex);
}

void wait_for_room(struct order_queue* queue) {
  pthread_mutex_lock(&queue->mutex);
  while (queue->tail - queue->head >= MAX_WAITING) {
    pthread_cond_wait(&queue->not_full, &queue->mutex);
  }
  pthread_mutex_unlock(&queue->mutex);
}

void enqueue_order(struct order_queue* queue, struct order* order) {
  pthread_mutex_lock(&queue->mutex);
  queue->waiting[queue->tail++] = order;
  pthread_mutex_unlock(&queue->mutex);
  pthread_cond_signal(&queue->not_empty);
}

struct order* dequeue_order(struct order_queue* queue) {
  struct order* order = NULL;
  pthread_mutex_lock(&queue->mutex);
  while (queue->head == queue->tail && !queue->closed) {
    pthread_cond_wait(&queue->not_empty, &queue->mutex);
  }
  if (queue->head != queue->tail) {
    order = queue->waiting[queue->head++];
    pthread_cond_signal(&queue->not_full);
  }
  pthread_mutex_unlock(&queue->mutex);
  return order;
}

void order_queue_close(struct order_queue* queue) {
  pthread_mutex_lock(&queue->mutex);
  queue->closed = true;
  pthread_mutex_unlock(&queue->mutex);
  pthread_cond_broadcast(&queue->not_empty);
}
