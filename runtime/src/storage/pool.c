// Chunks that are ready, and how they get from thread to thread.
//
// A pool slot is an atomic pointer; whoever exchanges it for NULL owns the chunk. A thread that
// finds none prepares a small chunk itself (a stall: some microseconds) and raises the number that
// the helper keeps ready. A thread's chunks grow as it takes more of them, so threads that record
// little get by with small ones.
//
// A thread hands full chunks of the largest size to `used`, and the helper makes them ready again
// (archive.c). Nobody waits for that: if `used` has no room, or nobody needs the chunk, it remains
// part of the file.
//
// Ring (VPROF_RING_MB): a thread that holds more than it may keep hands over its oldest chunks;
// what they held is lost, and counted. Threads that have ended keep as much as one thread, all
// together.
#include "storage/pool.h"

#include "base/clock.h"
#include "storage/chunks.h"
#include "storage/trace.h"

const uint32_t vprof_chunk_bytes[VPROF_CHUNK_CLASSES] = {4096, 65536, 262144, 1048576};
static const unsigned first_target[VPROF_CHUNK_CLASSES] = {8, 2, 0, 0};
static const unsigned most_target[VPROF_CHUNK_CLASSES] = {VPROF_POOL_SLOTS, 16, 8, 16};

enum { kLargest = VPROF_CHUNK_CLASSES - 1 };

void vprof_pool_start(void) {
  for (unsigned c = 0; c < VPROF_CHUNK_CLASSES; ++c) {
    atomic_store(&vprof_trace.pool_target[c], first_target[c]);
  }
}

// ---- the helper's side

struct vprof_pool vprof_pool_open(int fd) {
  const struct vprof_pool pool = {{fd, 0, 0}, vprof_archive_possible(fd), 0, 0, {NULL, NULL, 0}};
  return pool;
}

static bool put_ready(struct vprof_chunk_header* chunk, unsigned class) {
  for (unsigned i = 0; i < VPROF_POOL_SLOTS; ++i) {
    struct vprof_chunk_header* none = NULL;
    if (atomic_compare_exchange_strong(&vprof_trace.pool[class][i], &none, chunk)) {
      return true;
    }
  }
  return false;
}

static bool has_place(unsigned class) {
  for (unsigned i = 0; i < VPROF_POOL_SLOTS; ++i) {
    if (atomic_load_explicit(&vprof_trace.pool[class][i], memory_order_relaxed) == NULL) {
      return true;
    }
  }
  return false;
}

static unsigned class_of(const struct vprof_chunk_header* chunk) {
  unsigned c = kLargest;
  while (c > 0 && vprof_chunk_bytes[c] != chunk->bytes) {
    --c;
  }
  return c;
}

static struct vprof_chunk_header* take_used(void) {
  for (unsigned i = 0; i < VPROF_POOL_SLOTS; ++i) {
    if (atomic_load_explicit(&vprof_trace.used[i], memory_order_relaxed) == NULL) {
      continue;
    }
    struct vprof_chunk_header* chunk = atomic_exchange(&vprof_trace.used[i], NULL);
    if (chunk != NULL) {
      return chunk;
    }
  }
  return NULL;
}

static struct vprof_chunk_header* next_of(const struct vprof_chunk_header* chunk) {
  return (struct vprof_chunk_header*)(uintptr_t)chunk->next;
}

static void adopt(struct vprof_orphans* orphans) {
  struct vprof_chunk_header* list = atomic_exchange(&vprof_trace.orphans, NULL);
  if (list == NULL) {
    return;
  }
  if (orphans->oldest == NULL) {
    orphans->oldest = list;
  } else {
    orphans->newest->next = (uintptr_t)list;
  }
  for (; list != NULL; list = next_of(list)) {
    orphans->bytes += list->bytes;
    orphans->newest = list;
  }
}

// Only the helper puts chunks into the pool, so a place that is there stays.
static void recycle_orphans(struct vprof_pool* pool) {
  struct vprof_orphans* orphans = &pool->orphans;
  adopt(orphans);
  while (orphans->bytes > vprof_settings.ring && has_place(class_of(orphans->oldest))) {
    struct vprof_chunk_header* chunk = orphans->oldest;
    orphans->oldest = next_of(chunk);
    orphans->bytes -= chunk->bytes;
    vprof_archive_overwrite(chunk);
    put_ready(chunk, class_of(chunk));
  }
}

static void recycle_ring(struct vprof_pool* pool) {
  if (vprof_settings.ring == 0) {
    return;
  }
  for (struct vprof_chunk_header* chunk; (chunk = take_used()) != NULL;) {
    // If the pool is full, the chunk stays cleared and ownerless. That can be no more chunks than
    // the pool has places.
    if (vprof_archive_chunk(&pool->archive, chunk) == VPROF_REUSE_NOW) {
      put_ready(chunk, class_of(chunk));
    }
  }
  recycle_orphans(pool);
}

// A running mean, in ns.
static void learn(uint64_t* mean, uint64_t start) {
  const uint64_t took = vprof_monotonic_ns() - start;
  *mean = *mean == 0 ? took : *mean - *mean / 8 + took / 8;
}

static struct vprof_chunk_header* make_largest(struct vprof_pool* pool, bool urgent) {
  const bool slower = urgent && pool->archive_ns > pool->fresh_ns && pool->fresh_ns != 0;
  const uint64_t start = vprof_monotonic_ns();
  struct vprof_chunk_header* used = NULL;
  if (pool->archives && !slower && atomic_load(&vprof_trace.next) > vprof_settings.window) {
    used = take_used();
  }
  while (used != NULL) {
    atomic_store(&vprof_trace.extending, true);
    const enum vprof_reuse reuse = vprof_archive_chunk(&pool->archive, used);
    atomic_store(&vprof_trace.extending, false);
    learn(&pool->archive_ns, start);
    if (reuse == VPROF_REUSE_NOW) {
      return used;
    }
    if (reuse == VPROF_REUSE_FAILED) {
      pool->archives = false;
      break;
    }
    used = take_used();
  }
  struct vprof_chunk_header* chunk =
      vprof_chunk_prepare_timed(vprof_chunk_bytes[kLargest], pool->archive.fd);
  learn(&pool->fresh_ns, start);
  if (pool->archive_ns > 0) {
    pool->archive_ns -= pool->archive_ns / 64;  // so that archiving is tried again
  }
  return chunk;
}

void vprof_pool_fill(struct vprof_pool* pool) {
  struct vprof_trace* trace = &vprof_trace;
  recycle_ring(pool);
  for (unsigned c = 0; c < VPROF_CHUNK_CLASSES; ++c) {
    const unsigned target = atomic_load(&trace->pool_target[c]);
    unsigned ready = 0;
    for (unsigned i = 0; i < VPROF_POOL_SLOTS; ++i) {
      if (atomic_load_explicit(&trace->pool[c][i], memory_order_relaxed) != NULL) {
        ++ready;
      }
    }
    for (; ready < target; ++ready) {
      vprof_chunks_extend(pool->archive.fd);
      struct vprof_chunk_header* chunk =
          c == kLargest ? make_largest(pool, ready == 0)
                        : vprof_chunk_prepare_timed(vprof_chunk_bytes[c], pool->archive.fd);
      if (chunk == NULL || !put_ready(chunk, c)) {
        break;
      }
    }
  }
}

bool vprof_pool_lacks(void) {
  struct vprof_trace* trace = &vprof_trace;
  if (atomic_load(&trace->next) == VPROF_CLOSED) {
    return false;
  }
  if (vprof_settings.ring != 0) {
    if (atomic_load(&trace->orphans) != NULL) {
      return true;
    }
    for (unsigned i = 0; i < VPROF_POOL_SLOTS; ++i) {
      if (atomic_load(&trace->used[i]) != NULL) {
        return true;
      }
    }
  }
  if (atomic_load(&trace->full)) {
    return false;
  }
  for (unsigned c = 0; c < VPROF_CHUNK_CLASSES; ++c) {
    if (atomic_load(&trace->next) + vprof_chunk_bytes[c] > trace->capacity) {
      continue;
    }
    unsigned ready = 0;
    for (unsigned i = 0; i < VPROF_POOL_SLOTS; ++i) {
      if (atomic_load(&trace->pool[c][i]) != NULL) {
        ++ready;
      }
    }
    if (ready < atomic_load(&trace->pool_target[c])) {
      return true;
    }
  }
  return false;
}

// ---- the threads' side

static struct vprof_chunk_header* take_ready(unsigned c) {
  for (unsigned i = 0; i < VPROF_POOL_SLOTS; ++i) {
    _Atomic(struct vprof_chunk_header*)* slot = &vprof_trace.pool[c][i];
    if (atomic_load_explicit(slot, memory_order_relaxed) == NULL) {
      continue;
    }
    struct vprof_chunk_header* chunk = atomic_exchange(slot, NULL);
    if (chunk != NULL) {
      return chunk;
    }
  }
  return NULL;
}

static void raise_target(unsigned c, unsigned least) {
  unsigned target = atomic_load(&vprof_trace.pool_target[c]);
  if (target < least) {
    atomic_compare_exchange_strong(&vprof_trace.pool_target[c], &target, least);
  }
}

void vprof_pool_stock_up(void) {
  for (unsigned c = 0; c < VPROF_CHUNK_CLASSES && vprof_settings.ring == 0; ++c) {
    raise_target(c, most_target[c]);
  }
}

// No chunk of the wanted size is ready: take a smaller one, else prepare one, else take any.
static struct vprof_chunk_header* take_other(unsigned wanted) {
  for (unsigned c = wanted; c-- > 1;) {
    struct vprof_chunk_header* chunk = take_ready(c);
    if (chunk != NULL) {
      return chunk;
    }
  }
  if (vprof_disk_is_slow()) {
    return take_ready(0);
  }
  if (vprof_confined()) {
    struct vprof_chunk_header* chunk = NULL;
    for (unsigned c = 0; chunk == NULL && c < VPROF_CHUNK_CLASSES; ++c) {
      chunk = take_ready(c);
    }
    return chunk;
  }
  vprof_count(&vprof_trace.header->stalls, 1);
  struct vprof_chunk_header* chunk =
      vprof_chunk_prepare_timed(vprof_chunk_bytes[wanted > 1 ? 1 : wanted], -1);
  if (chunk == NULL) {
    chunk = vprof_chunk_prepare_timed(vprof_chunk_bytes[0], -1);
  }
  for (unsigned c = 0; chunk == NULL && c < VPROF_CHUNK_CLASSES; ++c) {
    chunk = take_ready(c);
  }
  return chunk;
}

// A ring of a few large chunks would lose a large part of itself at once. In a live run somebody
// reads it meanwhile, and records are counted by the chunk.
static unsigned largest_class(void) {
  unsigned largest = kLargest;
  if (vprof_settings.ring != 0 && vprof_live()) {
    --largest;
  }
  while (vprof_settings.ring != 0 && largest > 0 &&
         vprof_chunk_bytes[largest] > vprof_settings.ring / 8) {
    --largest;
  }
  return largest;
}

uint32_t vprof_chunk_most_bytes(void) { return vprof_chunk_bytes[largest_class()]; }

struct vprof_chunk_header* vprof_chunk_take(uint32_t chunks) {
  const unsigned largest = largest_class();
  const unsigned wanted = chunks < largest ? chunks : largest;
  struct vprof_chunk_header* chunk = take_ready(wanted);
  if (chunk == NULL) {
    const unsigned target = atomic_load(&vprof_trace.pool_target[wanted]);
    raise_target(wanted, target < most_target[wanted] ? target + 1 : target);
    chunk = take_other(wanted);
  }
  if (wanted + 1 < VPROF_CHUNK_CLASSES && vprof_settings.ring == 0) {
    raise_target(wanted + 1, 2);
  }
  return chunk;
}

void vprof_chunks_bequeath(struct vprof_chunk_header* oldest, struct vprof_chunk_header* newest) {
  struct vprof_chunk_header* others = atomic_load(&vprof_trace.orphans);
  do {
    newest->next = (uintptr_t)others;
  } while (!atomic_compare_exchange_weak(&vprof_trace.orphans, &others, oldest));
}

bool vprof_chunk_hand_over(struct vprof_chunk_header* chunk) {
  for (unsigned i = 0; i < VPROF_POOL_SLOTS; ++i) {
    struct vprof_chunk_header* none = NULL;
    if (atomic_load_explicit(&vprof_trace.used[i], memory_order_relaxed) == NULL &&
        atomic_compare_exchange_strong(&vprof_trace.used[i], &none, chunk)) {
      return true;
    }
  }
  return false;
}
