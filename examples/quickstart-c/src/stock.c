#include "stock.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#define BIN_SIZE 1000
#define MAX_HOLES 64 /* orders after which a shelf is compacted */
#define REFILL 200   /* a lot from which goods were taken is refilled to this */

struct lot {
  uint32_t size;
  uint32_t bin; /* where it lies */
};

static struct shelf {
  pthread_mutex_t mutex;
  struct lot* lots;
  uint32_t* room; /* of each bin; as many as there are lots */
  uint32_t lot_count;
  uint32_t next_lot; /* where to look for goods next */
  uint32_t holes;    /* goods taken out since the shelf was last compacted */
} shelves[SHELVES];

static uint32_t random_below(uint64_t* state, uint32_t bound) {
  *state = *state * 6364136223846793005ull + 1442695040888963407ull;
  return (uint32_t)((*state >> 33) % bound);
}

/* A few shelves hold far more lots than the rest, as in any warehouse. */
bool stock_init(void) {
  uint64_t random = 20190523;
  for (uint32_t i = 0; i < SHELVES; ++i) {
    struct shelf* shelf = &shelves[i];
    const double uniform = (1 + random_below(&random, 1000000)) / 1000001.0;
    const double heavy_tailed = 6000.0 * pow(uniform, -1.0 / 1.3);
    pthread_mutex_init(&shelf->mutex, NULL);
    shelf->lot_count = (uint32_t)fmin(heavy_tailed, 18000.0);
    shelf->lots = calloc(shelf->lot_count, sizeof(struct lot));
    shelf->room = calloc(shelf->lot_count, sizeof(uint32_t));
    if (shelf->lots == NULL || shelf->room == NULL) {
      return false;
    }
    for (uint32_t lot = 0; lot < shelf->lot_count; ++lot) {
      shelf->lots[lot].size = 50 + random_below(&random, 350);
    }
    shelf->holes = i % MAX_HOLES; /* so that not all shelves are due at once */
  }
  return true;
}

void stock_destroy(void) {
  for (uint32_t i = 0; i < SHELVES; ++i) {
    free(shelves[i].lots);
    free(shelves[i].room);
  }
}

/* Continues where it stopped, so that it finds a lot after a few steps. */
static struct lot* find_lot(struct shelf* shelf, uint32_t quantity) {
  for (uint32_t step = 0; step < shelf->lot_count; ++step) {
    struct lot* lot = &shelf->lots[shelf->next_lot];
    shelf->next_lot = (shelf->next_lot + 1) % shelf->lot_count;
    if (lot->size >= quantity) {
      return lot;
    }
  }
  return NULL;
}

/* Packs the lots into as few bins as first fit finds: for each lot, the first bin that has room.
 * The time grows with the square of the number of lots, which nobody noticed while shelves were
 * small. */
static void compact_shelf(struct shelf* shelf) {
  for (uint32_t bin = 0; bin < shelf->lot_count; ++bin) {
    shelf->room[bin] = BIN_SIZE;
  }
  for (uint32_t i = 0; i < shelf->lot_count; ++i) {
    struct lot* lot = &shelf->lots[i];
    uint32_t bin = 0;
    while (shelf->room[bin] < lot->size) {
      ++bin;
    }
    shelf->room[bin] -= lot->size;
    lot->bin = bin;
  }
  shelf->holes = 0;
}

bool reserve_stock(const struct order* order) {
  struct shelf* shelf = &shelves[order->shelf];
  pthread_mutex_lock(&shelf->mutex);
  if (shelf->holes >= MAX_HOLES) {
    compact_shelf(shelf);
  }
  struct lot* lot = find_lot(shelf, order->quantity);
  if (lot != NULL) {
    lot->size = lot->size > order->quantity + REFILL ? lot->size - order->quantity : REFILL;
    ++shelf->holes;
  }
  pthread_mutex_unlock(&shelf->mutex);
  return lot != NULL;
}
