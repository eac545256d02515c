/* The hand-over from the acceptor to the workers. */
#ifndef ORDER_QUEUE_H
#define ORDER_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "order.h"

struct order_queue {
  pthread_mutex_t mutex;
  pthread_cond_t not_empty, not_full;
  struct order** waiting; /* as many as there are orders in all, so that it is never full */
  size_t head, tail;
  bool closed;
};

bool order_queue_init(struct order_queue* queue, size_t capacity);
void order_queue_destroy(struct order_queue* queue);

/* Returns once few enough orders are waiting: no order is accepted before there is room. */
void wait_for_room(struct order_queue* queue);

void enqueue_order(struct order_queue* queue, struct order* order);

/* The oldest order; waits for one. Null once the queue is closed and empty. */
struct order* dequeue_order(struct order_queue* queue);

/* Lets the workers finish. */
void order_queue_close(struct order_queue* queue);

#endif
