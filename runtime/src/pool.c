// Chunks that are ready, and the way they go from thread to thread.
//
// A pool slot is an atomic pointer; whoever exchanges it for NULL owns the chunk. A thread that takes one wakes the helper if that
// sleeps. A thread that finds none prepares a small chunk itself (a stall: some microseconds) and raises the number that the helper keeps
// ready. Small chunks are for threads that write little: the size grows with the number of chunks a thread has had.
//
// Ring (VPROF_RING_MB): a thread that has as much as it may keep gives its oldest chunk back. It goes to `used`, the helper clears it, and it
// is ready again; what was in it is counted. Nobody waits for that: where `used` has no room, the thread keeps more for the time being.
#define _GNU_SOURCE
#include <linux/futex.h>

#include "raw_syscall.h"
#include "trace.h"

const uint32_t vprof_chunk_bytes[VPROF_CHUNK_CLASSES] = {4096, 65536, 262144, 1048576};
static const unsigned first_target[VPROF_CHUNK_CLASSES] = {8, 2, 0, 0};
static const unsigned most_target[VPROF_CHUNK_CLASSES] = {VPROF_POOL_SLOTS, 16, 8, 16};

void vprof_pool_start(void) {
  for (unsigned c = 0; c < VPROF_CHUNK_CLASSES; ++c)
    atomic_store(&vprof_trace.pool_target[c], first_target[c]);
}

// ---- the helper's side

static bool put_ready(struct vprof_chunk_header* chunk) {
  unsigned c = VPROF_CHUNK_CLASSES - 1;
  while (c > 0 && vprof_chunk_bytes[c] != chunk->bytes) --c;
  for (unsigned i = 0; i < VPROF_POOL_SLOTS; ++i) {
    struct vprof_chunk_header* none = NULL;
    if (atomic_compare_exchange_strong(&vprof_trace.pool[c][i], &none, chunk)) return true;
  }
  return false;
}

// Not memset, which a sanitizer may have intercepted (helper.c).
static void clear(struct vprof_chunk_header* chunk) {
  uint64_t* word = (uint64_t*)(chunk + 1);
  const uint64_t* end = (uint64_t*)((char*)chunk + chunk->bytes);
  for (; word < end; ++word) __atomic_store_n(word, 0, __ATOMIC_RELAXED);
}

static void clear_used(void) {
  struct vprof_trace* trace = &vprof_trace;
  for (unsigned i = 0; i < VPROF_POOL_SLOTS; ++i) {
    struct vprof_chunk_header* chunk = atomic_exchange(&trace->used[i], NULL);
    if (chunk == NULL) continue;
    vprof_chunk_disown(chunk);
    clear(chunk);
    // No slot is free: at most as much as the pool holds is lost until the next one.
    if (!put_ready(chunk)) atomic_store(&trace->used[i], chunk);
  }
}

void vprof_pool_fill(int fd) {
  struct vprof_trace* trace = &vprof_trace;
  clear_used();
  for (unsigned c = 0; c < VPROF_CHUNK_CLASSES; ++c) {
    const unsigned target = atomic_load(&trace->pool_target[c]);
    for (unsigned i = 0; i < target; ++i) {
      if (atomic_load(&trace->pool[c][i]) != NULL) continue;
      vprof_chunks_extend(fd);
      struct vprof_chunk_header* chunk = vprof_chunk_prepare_ahead(vprof_chunk_bytes[c]);
      if (chunk == NULL) break;
      if (!put_ready(chunk)) return;
    }
  }
}

bool vprof_pool_lacks(void) {
  struct vprof_trace* trace = &vprof_trace;
  for (unsigned i = 0; i < VPROF_POOL_SLOTS; ++i) {
    if (atomic_load(&trace->used[i]) != NULL) return true;
  }
  if (atomic_load(&trace->full) || atomic_load(&trace->next) == VPROF_CLOSED) return false;
  for (unsigned c = 0; c < VPROF_CHUNK_CLASSES; ++c) {
    if (atomic_load(&trace->next) + vprof_chunk_bytes[c] > trace->capacity) continue;
    for (unsigned i = 0; i < atomic_load(&trace->pool_target[c]); ++i) {
      if (atomic_load(&trace->pool[c][i]) == NULL) return true;
    }
  }
  return false;
}

// ---- the threads' side

static void wake_helper(void) {
  struct vprof_trace* trace = &vprof_trace;
  if (atomic_exchange(&trace->helper_idle, 0) == 0) return;
  vprof_syscall(SYS_futex, (long)&trace->helper_idle, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

static struct vprof_chunk_header* take_ready(unsigned c) {
  for (unsigned i = 0; i < VPROF_POOL_SLOTS; ++i) {
    _Atomic(struct vprof_chunk_header*)* slot = &vprof_trace.pool[c][i];
    if (atomic_load_explicit(slot, memory_order_relaxed) == NULL) continue;
    struct vprof_chunk_header* chunk = atomic_exchange(slot, NULL);
    if (chunk != NULL) return chunk;
  }
  return NULL;
}

static void raise_target(unsigned c, unsigned least) {
  unsigned target = atomic_load(&vprof_trace.pool_target[c]);
  if (target < least) atomic_compare_exchange_strong(&vprof_trace.pool_target[c], &target, least);
}

// What a thread does when nothing of its size is ready: smaller chunks, then one of its own, then whatever is left.
static struct vprof_chunk_header* take_other(unsigned wanted) {
  for (unsigned c = wanted; c-- > 1;) {
    struct vprof_chunk_header* chunk = take_ready(c);
    if (chunk != NULL) return chunk;
  }
  if (vprof_disk_is_slow()) return take_ready(0);
  vprof_count(&vprof_trace.header->stalls, 1);
  struct vprof_chunk_header* chunk =
      vprof_chunk_prepare(vprof_chunk_bytes[wanted > 1 ? 1 : wanted]);
  if (chunk == NULL) chunk = vprof_chunk_prepare(vprof_chunk_bytes[0]);
  for (unsigned c = 0; chunk == NULL && c < VPROF_CHUNK_CLASSES; ++c) chunk = take_ready(c);
  return chunk;
}

struct vprof_chunk_header* vprof_chunk_take(uint32_t chunks) {
  const unsigned wanted = chunks < VPROF_CHUNK_CLASSES ? chunks : VPROF_CHUNK_CLASSES - 1;
  struct vprof_chunk_header* chunk = take_ready(wanted);
  if (chunk == NULL) {
    const unsigned target = atomic_load(&vprof_trace.pool_target[wanted]);
    raise_target(wanted, target < most_target[wanted] ? target + 1 : target);
    chunk = take_other(wanted);
  }
  if (wanted + 1 < VPROF_CHUNK_CLASSES) raise_target(wanted + 1, 2);
  wake_helper();
  return chunk;
}

// A chunk without an owner is not read, so a kill in the middle of the clearing leaves no half of it.
void vprof_chunk_disown(struct vprof_chunk_header* chunk) {
  chunk->tid = 0;
  __atomic_store_n(&chunk->thread_serial, 0, __ATOMIC_RELEASE);
  vprof_count(&vprof_trace.header->overwritten,
              (chunk->bytes - sizeof *chunk) / sizeof(struct vprof_slot));
}

bool vprof_chunk_give_back(struct vprof_chunk_header* chunk) {
  for (unsigned i = 0; i < VPROF_POOL_SLOTS; ++i) {
    struct vprof_chunk_header* none = NULL;
    if (atomic_compare_exchange_strong(&vprof_trace.used[i], &none, chunk)) return true;
  }
  return false;
}
