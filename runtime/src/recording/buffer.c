// The slow path of a record: take a new chunk for the thread, or drop the record and count it.
//
// Problem. Signal handlers may arrive at any instruction here, run instrumented code and end up
// here again. Why that is safe:
//
//  - `busy` is set while a thread takes a new chunk. A handler that finds it set drops its record,
//    counts it, and takes back what it added to the cursor. So the interrupted code finds the
//    cursor as it left it.
//
//  - The new chunk is installed by one store: the cursor says where and how much (record.h).
//
//  - `busy` holds the frame address of the slow path rather than a flag. If a handler leaves by
//    siglongjmp, `busy` stays set. A later slow path whose frame is not deeper in the stack can
//    then tell that the old one is gone.
//
//  - A handler may replace the chunk between a failed reservation and the slow path that follows
//    it. So the slow path tries again. What it was refused says by itself which slots it has: those
//    at the end of a chunk that are too few for the event. They are its own, whatever the thread's
//    chunk is by now, and are filled with a PAD.
//
//  - What was added to the cursor is taken back only if the cursor is still as it was left.
//
// A thread that got no chunk has no free slot, so each of its records comes here, is counted, and
// returns.
#define _GNU_SOURCE
#include "recording/buffer.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/raw_syscall.h"
#include "recording/chunk_ring.h"
#include "recording/fork.h"
#include "recording/helper.h"
#include "recording/hooks.h"
#include "recording/trace_lifecycle.h"
#include "storage/chunks.h"
#include "storage/pool.h"
#include "storage/trace.h"

VPROF_RT_DATA __thread struct vprof_buffer vprof_thread_buffer
    __attribute__((tls_model("initial-exec"))) = {VPROF_RT_NO_ROOM, &vprof_unwatched, 0};
__thread struct vprof_thread vprof_self __attribute__((tls_model("initial-exec")));

enum { kSlotBytes = sizeof(struct vprof_slot) };
enum { kRetryTicks = 1 << 21 };  // about a millisecond

// The compiler moves no store across this. A handler on the same thread sees the processor's stores
// in program order anyway.
static void fence(void) { atomic_signal_fence(memory_order_seq_cst); }

void vprof_count_early_drops(void) {
  struct vprof_trace* trace = &vprof_trace;
  if (atomic_load(&trace->state) != VPROF_OPEN) {
    return;
  }
  vprof_count(&trace->header->dropped, atomic_exchange(&trace->dropped_early, 0));
}

static void drop(unsigned slots) {
  struct vprof_trace* trace = &vprof_trace;
  __atomic_fetch_add(&vprof_self.dropped, slots, __ATOMIC_RELAXED);
  if (atomic_load(&trace->state) == VPROF_OPEN) {
    vprof_count(&trace->header->dropped, slots);
  } else {
    atomic_fetch_add(&trace->dropped_early, slots);
    vprof_count_early_drops();
  }
}

uint32_t vprof_thread_serial(void) {
  if (vprof_self.serial == 0) {
    vprof_self.serial = atomic_fetch_add(&vprof_trace.next_serial, 1) + 1;
  }
  return vprof_self.serial;
}

uint32_t vprof_thread_id(void) {
  if (vprof_self.tid == 0) {
    vprof_self.tid = (uint32_t)vprof_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
  }
  return vprof_self.tid;
}

static void own(struct vprof_chunk_header* chunk) {
  chunk->index = vprof_self.chunks;
  __atomic_store_n(&chunk->own_calls, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&chunk->timed_calls, 0, __ATOMIC_RELAXED);
  chunk->opened_ticks = vprof_ticks();
  if (!vprof_confined()) {
    chunk->opened_processor_ns = vprof_thread_processor_ns();
    vprof_syscall(SYS_prctl, PR_GET_NAME, (long)chunk->thread_name, 0, 0, 0, 0);
  }
  // Last: until then the chunk is nobody's.
  vprof_chunk_set_owner(chunk, vprof_thread_serial(), vprof_thread_id());
  vprof_count(&vprof_trace.header->chunks, 1);
  if (vprof_self.chunks++ != 0) {
    vprof_hook_next_chunk();
    return;
  }
  vprof_count(&vprof_trace.header->threads, 1);
  vprof_hook_first_chunk();
}

static void install(struct vprof_chunk_header* chunk) {
  volatile struct vprof_buffer* buffer = &vprof_thread_buffer;
  vprof_self.chunk = (uintptr_t)chunk;
  fence();
  buffer->cursor = chunk == NULL ? VPROF_RT_NO_ROOM
                                 : vprof_cursor_at((uintptr_t)(chunk + 1),
                                                   (chunk->bytes - sizeof *chunk) / kSlotBytes);
}

static void hand_over_full(struct vprof_chunk_header* chunk) {
  if (chunk->bytes == vprof_chunk_bytes[VPROF_CHUNK_CLASSES - 1]) {
    vprof_chunk_hand_over(chunk);
  }
}

// The caller has set `busy`. True: the thread has a new chunk.
static bool renew(void) {
  struct vprof_trace* trace = &vprof_trace;
  struct vprof_chunk_header* chunk = NULL;
  vprof_notice_fork();
  const uint32_t epoch = trace->epoch;
  if (atomic_load(&trace->state) == VPROF_OPEN || (vprof_wanted() && vprof_trace_start())) {
    const uintptr_t full = vprof_self.chunk;
    chunk = vprof_chunk_take(vprof_self.chunks);
    vprof_helper_wake();
    if (trace->epoch != epoch) {
      chunk = NULL;  // a handler has forked, and this is the child
    }
    if (chunk != NULL) {
      own(chunk);
    }
    if (full != 0 && trace->epoch == epoch) {
      const struct vprof_chunk_header* filled = (const struct vprof_chunk_header*)full;
      atomic_fetch_add(&trace->filled, (filled->bytes - sizeof *filled) / kSlotBytes);
    }
    if (vprof_settings.ring != 0) {
      if (chunk != NULL) {
        vprof_ring_add(chunk);
      }
      vprof_ring_shrink(chunk == NULL);
    } else if (chunk != NULL && full != 0) {
      hand_over_full((struct vprof_chunk_header*)full);
    }
  }
  install(chunk);
  // With a ring, the oldest chunk has just been handed over and will be available at once.
  const bool hopeless = chunk == NULL && vprof_settings.ring == 0;
  vprof_self.retry_at = hopeless ? vprof_ticks() + kRetryTicks : 0;
  return chunk != NULL;
}

// Notes in the trace that records are missing here; the new chunk has room for that.
static void report_drops(void) {
  const uint64_t dropped = __atomic_exchange_n(&vprof_self.dropped, 0, __ATOMIC_RELAXED);
  if (dropped == 0) {
    return;
  }
  const uint64_t taken = vprof_take_slots(&vprof_thread_buffer, 1);
  if (vprof_free_slots(taken) < 1) {
    return;
  }
  const struct vprof_slot slot = vprof_slot_of(VPROF_EV_DROPPED, vprof_ticks(), dropped);
  vprof_store_slot(vprof_slot_address(taken), slot.word0, slot.word1);
}

// In the slow path it comes after the event that found no room, which ended before `start`.
void vprof_write_setup(uint64_t start) {
  const uint64_t taken = vprof_take_slots(&vprof_thread_buffer, 1);
  if (vprof_free_slots(taken) < 1) {
    return;
  }
  const struct vprof_slot slot = vprof_slot_of(VPROF_EV_SETUP, start, vprof_ticks() - start);
  vprof_store_slot(vprof_slot_address(taken), slot.word0, slot.word1);
}

// Fills what an event was given at the end of a chunk, if anything.
static void pad(uint64_t refused) {
  if (vprof_free_slots(refused) > 0) {
    vprof_store_slot(vprof_slot_address(refused), 0, VPROF_EV_PAD);
  }
}

static void give_back(uint64_t refused, unsigned slots) {
  uint64_t left = refused + (uint64_t)VPROF_RT_ONE_SLOT * slots;
  if (!__atomic_compare_exchange_n(&vprof_thread_buffer.cursor, &left, refused, false,
                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    pad(refused);
  }
}

// For a reservation that found no room and returned `refused`. Returns the address of the slots; 0:
// dropped.
static __attribute__((noinline)) uintptr_t reserve_slow(uint64_t refused, unsigned slots) {
  struct vprof_thread* self = &vprof_self;
  struct vprof_buffer* buffer = &vprof_thread_buffer;
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  const bool interrupted = self->busy != 0 && here < self->busy;
  // Asking for a chunk costs some microseconds. A program that records into a full file would pay
  // them for every record.
  if (interrupted || (self->retry_at != 0 && vprof_ticks() < self->retry_at)) {
    give_back(refused, slots);
    drop(slots);
    return 0;
  }
  const int errno_before = errno;
  const uint64_t start = vprof_ticks();
  uintptr_t at = 0;
  for (bool more = true; more && at == 0;) {
    pad(refused);
    self->busy = here;
    fence();
    const volatile struct vprof_buffer* now = buffer;
    if (vprof_free_slots(now->cursor) < (int)slots) {
      more = renew();
    }
    fence();
    self->busy = 0;
    fence();
    if (!more) {
      break;
    }
    report_drops();
    refused = vprof_take_slots(buffer, slots);
    if (vprof_free_slots(refused) >= (int)slots) {
      at = vprof_slot_address(refused);
    }
  }
  if (at == 0) {
    drop(slots);
  } else {
    vprof_write_setup(start);
  }
  errno = errno_before;
  return at;
}

uintptr_t vprof_reserve(unsigned slots) {
  const uint64_t taken = vprof_take_slots(&vprof_thread_buffer, slots);
  if (vprof_free_slots(taken) >= (int)slots) {
    return vprof_slot_address(taken);
  }
  return reserve_slow(taken, slots);
}

void vprof_write(const struct vprof_slot* slots, unsigned count) {
  vprof_write_at(vprof_reserve(count), slots, count);
}

void vprof_write_at(uintptr_t at, const struct vprof_slot* slots, unsigned count) {
  if (at == 0) {
    return;
  }
  for (unsigned i = count; i-- > 0;) {
    vprof_store_slot(at + (uintptr_t)i * kSlotBytes, slots[i].word0, slots[i].word1);
  }
}

uint64_t vprof_last_end(void) {
  const uint64_t cursor = vprof_thread_buffer.cursor;
  const int beyond = vprof_free_slots(cursor) < 0 ? vprof_free_slots(cursor) : 0;
  const struct vprof_slot* slots = (const struct vprof_slot*)vprof_slot_address(cursor) + beyond;
  const uintptr_t first = vprof_self.chunk + sizeof(struct vprof_chunk_header);
  for (int back = 1; back <= 4 && vprof_self.chunk != 0 && (uintptr_t)(slots - back) >= first;
       ++back) {
    const struct vprof_slot slot = slots[-back];
    const uint64_t id = slot.word1 & VPROF_ID_MASK;
    if (id == VPROF_EV_CONT) {
      continue;
    }
    const bool lasts = id < VPROF_EV_FIRST || id == VPROF_EV_PREEMPTED || id == VPROF_EV_SETUP ||
                       (id >= VPROF_EV_WAIT_FIRST && id <= VPROF_EV_WAIT_LAST);
    return slot.word0 + (lasts ? slot.word1 >> VPROF_ID_BITS : 0);
  }
  return 0;
}

void vprof_rt_frame(unsigned id, uint64_t start, uint64_t duration, uint64_t taken) {
  if (duration > VPROF_PAYLOAD_MAX) {
    // A DROPPED event of 0 records fills the slot, if there is one.
    if (vprof_free_slots(taken) > 0) {
      vprof_store_slot(vprof_slot_address(taken), start, VPROF_EV_DROPPED);
    }
    // The counters of two processors may differ by a few ticks. A frame that ends before it starts
    // took no time.
    if ((int64_t)duration < 0) {
      duration = 0;
    }
    const struct vprof_slot slots[2] = {vprof_slot_of(VPROF_EV_LONG_FRAME, start, id),
                                        vprof_slot_of(VPROF_EV_CONT, duration, 0)};
    vprof_write(slots, 2);
    return;
  }
  const uintptr_t at = reserve_slow(taken, 1);
  if (at != 0) {
    vprof_store_slot(at, start, duration << VPROF_ID_BITS | id);
  }
}

void vprof_rt_close(uint64_t* open, uint64_t* starts, unsigned* ids, unsigned slots) {
  // The exception may have come from an argument, before the announced function was entered.
  vprof_thread_buffer.entering = 0;
  for (;;) {
    unsigned latest = slots;
    for (unsigned i = 0; i < slots; ++i) {
      if ((open[i / 64] >> i % 64 & 1) != 0 && (latest == slots || starts[i] > starts[latest])) {
        latest = i;
      }
    }
    if (latest == slots) {
      return;
    }
    open[latest / 64] &= ~(UINT64_C(1) << latest % 64);
    vprof_record(ids[latest], starts[latest]);
  }
}
