/* An order service in one process: this thread accepts orders at a steady pace, two workers handle
 * them.
 *
 *   order_service [ORDERS] [JOURNAL]
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "journal.h"
#include "ledger.h"
#include "maintenance.h"
#include "pricing.h"
#include "profiling.h"
#include "stock.h"
#include "worker.h"

#define WORKERS 2
#define MEAN_GAP_NS 1300000

static uint32_t random_below(uint64_t* state, uint32_t bound) {
  *state = *state * 6364136223846793005ull + 1442695040888963407ull;
  return (uint32_t)((*state >> 33) % bound);
}

static void next_order(struct order* order, uint64_t id, uint64_t* random) {
  const uint32_t dice = random_below(random, 10);
  order->id = id;
  order->kind = dice < 6 ? "standard" : dice < 9 ? "express" : "bulk";
  order->customer = random_below(random, CUSTOMERS);
  order->shelf = random_below(random, SHELVES);
  order->quantity = 100 + random_below(random, 50);
}

static void sleep_until(struct timespec* due, long gap_ns) {
  due->tv_nsec += gap_ns;
  if (due->tv_nsec >= 1000000000) {
    due->tv_nsec -= 1000000000;
    ++due->tv_sec;
  }
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, due, NULL) == EINTR) {
    continue;
  }
}

/* Orders that were due while there was no room are skipped. */
static void do_not_catch_up(struct timespec* due) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t late_ns =
      (int64_t)(now.tv_sec - due->tv_sec) * 1000000000 + (now.tv_nsec - due->tv_nsec);
  if (late_ns > MEAN_GAP_NS) {
    *due = now;
  }
}

/* Accepts orders on a schedule, whether or not a worker is free: customers come when they like. On
 * a machine that cannot keep up, customers wait outside, and the queue stays short. */
static void accept_orders(struct service* service, struct order* orders, size_t count) {
  uint64_t random = 42;
  struct timespec due;
  clock_gettime(CLOCK_MONOTONIC, &due);
  for (size_t i = 0; i < count; ++i) {
    struct order* order = &orders[i];
    sleep_until(&due, MEAN_GAP_NS / 2 + random_below(&random, MEAN_GAP_NS));
    wait_for_room(&service->queue);
    do_not_catch_up(&due);
    next_order(order, i + 1, &random);
    vprof_begin(order->id);
    vprof_label(order->id, order->kind);
    enqueue_order(&service->queue, order);
    vprof_switch(0);
  }
}

static int run(size_t count) {
  struct service service = {.handled = 0, .rejected = 0};
  struct order* orders = calloc(count, sizeof(struct order));
  atomic_bool stop = false;
  pthread_t maintenance, workers[WORKERS];

  pricing_init();
  if (orders == NULL || !stock_init() || !order_queue_init(&service.queue, count)) {
    fprintf(stderr, "order_service: out of memory\n");
    return 1;
  }
  pthread_create(&maintenance, NULL, maintenance_loop, &stop);
  for (int i = 0; i < WORKERS; ++i) {
    pthread_create(&workers[i], NULL, worker_loop, &service);
  }

  accept_orders(&service, orders, count);

  order_queue_close(&service.queue);
  for (int i = 0; i < WORKERS; ++i) {
    pthread_join(workers[i], NULL);
  }
  atomic_store(&stop, true);
  pthread_join(maintenance, NULL);
  printf("%u orders handled, %u rejected, %.2f charged\n", atomic_load(&service.handled),
         atomic_load(&service.rejected), ledger_total_cents() / 100.0);
  order_queue_destroy(&service.queue);
  stock_destroy();
  free(orders);
  return atomic_load(&service.handled) == count ? 0 : 1;
}

int main(int argc, char** argv) {
  const long count = argc > 1 ? strtol(argv[1], NULL, 10) : 3000;
  const char* journal = argc > 2 ? argv[2] : "orders.journal";
  if (count <= 0) {
    fprintf(stderr, "usage: order_service [ORDERS] [JOURNAL]\n");
    return 2;
  }
  if (!journal_open(journal)) {
    fprintf(stderr, "order_service: cannot write %s\n", journal);
    return 1;
  }
  const int status = run((size_t)count);
  journal_close();
  return status;
}
