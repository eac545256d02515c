// The helper thread: keeps chunks ready, with their pages present, and writes snapshots of the clocks.
//
// Why it is no pthread. It is started by the first record, which may be written anywhere: in a signal handler, inside the program's own
// malloc, in a child of fork before other libraries have repaired their locks. pthread_create allocates and locks. And a process whose
// main thread has left by pthread_exit ends when its last pthread does, which a helper that never ends would prevent. So it is a bare
// kernel thread made by clone(), with a stack and a thread pointer of its own, all signals blocked. It must not use anything
// thread-local, nor call what a sanitizer may have intercepted: hence only raw_syscall.h and clock.c. It ends with the process.
//
// Hand-over. A pool slot is an atomic pointer; whoever exchanges it for NULL owns the chunk. A thread that takes one wakes the helper
// if that sleeps. A thread that finds none prepares a small chunk itself (a stall: some microseconds) and raises the number
// that the helper keeps ready. Small chunks are for threads that write little: the size grows with the number of chunks a thread has had.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "raw_syscall.h"
#include "trace.h"

const uint32_t vprof_chunk_bytes[VPROF_CHUNK_CLASSES] = {4096, 65536, 262144, 1048576};
static const unsigned first_target[VPROF_CHUNK_CLASSES] = {8, 2, 0, 0};
static const unsigned most_target[VPROF_CHUNK_CLASSES] = {VPROF_POOL_SLOTS, 16, 8, 8};

enum { kStackBytes = 65536, kSignalSetBytes = 8 };
enum { kSecond = 1000000000 };  // ns

typedef int clone_function(int (*)(void*), void*, int, void*, ...);
static clone_function* real_clone;

struct vprof_helper {
  struct vprof_chunk_header* chunk;  // its own, for snapshots
  uint32_t index;
  uint32_t slots;
};

// ---- chunks

static void fill_pool(void) {
  struct vprof_trace* trace = &vprof_trace;
  for (unsigned c = 0; c < VPROF_CHUNK_CLASSES; ++c) {
    const unsigned target = atomic_load(&trace->pool_target[c]);
    for (unsigned i = 0; i < target; ++i) {
      if (atomic_load(&trace->pool[c][i]) != NULL) continue;
      struct vprof_chunk_header* chunk = vprof_chunk_prepare(vprof_chunk_bytes[c]);
      if (chunk == NULL) break;
      atomic_store(&trace->pool[c][i], chunk);
    }
  }
}

static bool pool_lacks(void) {
  struct vprof_trace* trace = &vprof_trace;
  if (atomic_load(&trace->full) || atomic_load(&trace->next) == VPROF_CLOSED) return false;
  for (unsigned c = 0; c < VPROF_CHUNK_CLASSES; ++c) {
    if (atomic_load(&trace->next) + vprof_chunk_bytes[c] > trace->capacity) continue;
    for (unsigned i = 0; i < atomic_load(&trace->pool_target[c]); ++i) {
      if (atomic_load(&trace->pool[c][i]) == NULL) return true;
    }
  }
  return false;
}

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

// ---- clock

static void write_clock(struct vprof_helper* helper) {
  const uint32_t room =
      (vprof_chunk_bytes[0] - sizeof(struct vprof_chunk_header)) / sizeof(struct vprof_slot);
  if (helper->chunk == NULL || helper->slots + 3 > room) {
    helper->chunk = vprof_chunk_prepare(vprof_chunk_bytes[0]);
    if (helper->chunk == NULL) return;
    helper->chunk->index = helper->index++;
    helper->chunk->tid = (uint32_t)vprof_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
    memcpy(helper->chunk->thread_name, "vprof", 6);
    helper->slots = 0;
  }
  const struct vprof_clock_reading now = vprof_clock_read();
  const struct vprof_slot slots[3] = {vprof_slot_of(VPROF_EV_CLOCK, now.ticks, 0),
                                      vprof_slot_of(VPROF_EV_CONT, now.monotonic_ns, 0),
                                      vprof_slot_of(VPROF_EV_CONT, now.realtime_ns, 0)};
  const uintptr_t at = (uintptr_t)(helper->chunk + 1) + helper->slots * sizeof(struct vprof_slot);
  for (unsigned i = 3; i-- > 0;)
    vprof_store_slot(at + i * sizeof(struct vprof_slot), slots[i].word0, slots[i].word1);
  helper->slots += 3;
}

// ---- the thread

static int run(void* unused) {
  (void)unused;
  struct vprof_trace* trace = &vprof_trace;
  struct vprof_helper helper = {NULL, 0, 0};
  vprof_syscall(SYS_prctl, PR_SET_NAME, (long)"vprof", 0, 0, 0, 0);
  uint64_t next_clock = vprof_monotonic_ns() + kSecond / 10;
  while (atomic_load(&trace->next) != VPROF_CLOSED) {
    fill_pool();
    const uint64_t now = vprof_monotonic_ns();
    if (now >= next_clock) {
      write_clock(&helper);
      next_clock = now + kSecond;
    }
    atomic_store(&trace->helper_idle, 1);
    if (pool_lacks()) {  // somebody took one after we looked, and saw us awake
      atomic_store(&trace->helper_idle, 0);
      continue;
    }
    const uint64_t wait = next_clock - now;
    const struct timespec timeout = {(time_t)(wait / kSecond), (long)(wait % kSecond)};
    vprof_syscall(SYS_futex, (long)&trace->helper_idle, FUTEX_WAIT_PRIVATE, 1, (long)&timeout, 0,
                  0);
  }
  return 0;
}

void vprof_helper_init(void) { *(void**)&real_clone = dlsym(RTLD_NEXT, "clone"); }

// One mapping: stack, and above it the block that the thread pointer points into. Zeros are a valid stack-protector canary.
void vprof_helper_start(void) {
  for (unsigned c = 0; c < VPROF_CHUNK_CLASSES; ++c)
    atomic_store(&vprof_trace.pool_target[c], first_target[c]);
  if (real_clone == NULL) return;
  char* memory = mmap(NULL, kStackBytes + 8192, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return;  // threads prepare their chunks themselves
  char* thread_pointer = memory + kStackBytes + 4096;
#if defined(__x86_64__)
  *(void**)thread_pointer = thread_pointer;
  *(void**)(thread_pointer + 16) = thread_pointer;
#endif
  const uint64_t all = UINT64_MAX;
  uint64_t before = 0;
  vprof_syscall(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, (long)&all, (long)&before, kSignalSetBytes,
                0, 0);
  const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                    CLONE_SYSVSEM | CLONE_SETTLS;
  const int started =
      real_clone(run, memory + kStackBytes, flags, NULL, NULL, thread_pointer, NULL);
  vprof_syscall(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)&before, 0, kSignalSetBytes, 0, 0);
  if (started < 0) munmap(memory, kStackBytes + 8192);
}
