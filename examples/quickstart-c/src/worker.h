/* Takes orders from the queue and handles them one after the other. */
#ifndef WORKER_H
#define WORKER_H

#include <stdatomic.h>

#include "order_queue.h"

/* What the threads of the service share. */
struct service {
  struct order_queue queue;
  atomic_uint handled;
  atomic_uint rejected;
};

/* The main function of a worker thread (`service` is a struct service); returns when the queue is
 * closed. */
void* worker_loop(void* service);

#endif
