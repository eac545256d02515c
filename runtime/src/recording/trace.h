// The inside of libvprof: one trace for each process, one buffer for each thread.
//
//   record.h (inlined) ──no room──▶ buffer.c ──▶ pool.c ──none ready──▶ chunks.c ◀── pool.c ◀── helper.c
//   intervals.c, app_sync.c, interpose_*.c ──events──▶ buffer.c
//
//   buffer.c      slots of the thread's chunk; when it is full, the next one
//   trace_file.c  the file, mapped whole
//   chunks.c      pieces of it, with their pages present
//   pool.c        chunks ready ahead of need
//   helper.c      the thread that makes them ready, and takes snapshots of the clocks
//   preempted.c   when a thread had no processor, as it finds out by itself
//   switches.c    ... and as the helper learns from the kernel, where threads cannot
//
// Everything here may be called in a signal handler, inside the program's malloc, and before the
// constructor has run, unless it says otherwise. So nothing allocates, takes a lock that it could
// hold already, or waits for long.
#ifndef VPROF_TRACE_H
#define VPROF_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "vprof/runtime/record.h"
#include "vprof/runtime/trace_format.h"

enum vprof_state {
  VPROF_OFF,       // no trace is wanted, or the constructor has not run
  VPROF_READY,     // wanted; the first record makes the file
  VPROF_STARTING,  // a thread is making it
  VPROF_OPEN,
  VPROF_FAILED  // it could not be made; all sites are off
};

enum { VPROF_CHUNK_CLASSES = 4, VPROF_POOL_SLOTS = 64, VPROF_PATH_MAX = 4096 };

// The trace of this process. Zero at start; after fork the child begins with a fresh one (fork.c).
struct vprof_trace {
  atomic_int state;  // enum vprof_state
  pid_t pid;
  uint32_t epoch;  // how many forks led here: tells a slow path that it woke up in another process

  // Written while STARTING, constant while OPEN.
  char* base;
  uint64_t capacity;
  struct vprof_file_header* header;
  dev_t device;
  ino_t inode;
  char path[VPROF_PATH_MAX + 64];

  atomic_uint_fast64_t next;           // where the next chunk begins; VPROF_CLOSED: no more
  atomic_bool full;                    // no room or no disk: do not try again
  atomic_uint_fast64_t dropped_early;  // slots dropped while there was no header to count them in
  atomic_uint next_serial;

  // Chunks that the helper has made ready, by size class.
  _Atomic(struct vprof_chunk_header*) pool[VPROF_CHUNK_CLASSES][VPROF_POOL_SLOTS];
  atomic_uint pool_target[VPROF_CHUNK_CLASSES];
  _Atomic(struct vprof_chunk_header*)
      used[VPROF_POOL_SLOTS];  // to be cleared and used again (ring)
  atomic_uint helper_idle;     // futex: 1 while the helper sleeps
  uint64_t extended;           // up to here the file has blocks; the helper's
  atomic_bool extending;       // the helper may be giving it some, or writing behind its end
  atomic_bool finishing;       // the process ends: what the helper has to write must be written now
  atomic_uint_fast64_t slow_until;  // CLOCK_MONOTONIC in ns: the disk has been found slow
};
#define VPROF_CLOSED UINT64_MAX

// What the environment asks for; constant after the constructor.
struct vprof_settings {
  char directory[VPROF_PATH_MAX];
  uint64_t capacity;
  uint64_t window;   // bytes a trace has before full chunks are written out
  uint64_t ring;     // bytes that each thread keeps; 0: all
  uint64_t family;   // the same in all children by fork
  bool sites;        // false: intervals only
  uint32_t classes;  // enum vprof_class: the waits that are recorded
  uint64_t patience;  // factor on every time limit of the runtime; 1 unless a test forbids limits
};

struct vprof_activation {  // an open VPROF_INTERVAL of this thread
  uintptr_t frame;
  const void* scope;
  unsigned def;
};
enum { VPROF_ACTIVATIONS = 8 };

// The open interval of a kind that is known by its thread.
enum { VPROF_OWN_INTERVALS = 8 };
struct vprof_own {
  uint64_t id;  // 0: none
  unsigned def;
};

// What a thread knew when it last asked how long it has had a processor.
struct vprof_preemption {
  uint64_t* mark;  // the kernel clears it; NULL: not watched
  uint64_t ticks;
  uint64_t processor_ns;
  uint64_t waited;       // ticks in recorded waits since then
  uint32_t unasked;      // such waits
  uint32_t wait_ns;      // what one takes of the processor
  uint32_t learnt;       // from so many
  uint64_t gave_up;      // switches so far: it waited,
  uint64_t lost;         // or could have run
  uint64_t waits;        // that it has told of since those were counted, and in which it gave up
  uint32_t alarms;       // the mark was cleared, and no time was lost; so often in a row
  uint64_t first_alarm;  // ticks
};

// What a thread has beside its buffer. Zero for a new thread; fork resets it in the child.
struct vprof_thread {
  uintptr_t busy;   // frame address of the slow path this thread is in; 0: in none
  uintptr_t chunk;  // address of the current chunk
  struct vprof_chunk_header* oldest;  // ring: first of the chunks this thread keeps
  struct vprof_chunk_header* newest;
  uint64_t kept;  // ring: bytes of these chunks
  uintptr_t end_before_fork;
  uintptr_t busy_before_fork;
  uint64_t dropped;   // slots, since the last EV_DROPPED
  uint64_t retry_at;  // ticks: there was no chunk to be had, and until then nobody asks for one
  uint64_t work_id;   // the interval this thread works for
  uint64_t work_flags;
  uint32_t serial;
  uint32_t chunks;
  uint32_t tid;
  uint32_t waits;        // recorded so far
  uint32_t mutex_owner;  // tid once it is needed by interpose_mutex.c; 0: not yet
  uint32_t activations;
  struct vprof_preemption preemption;
  struct vprof_activation activation[VPROF_ACTIVATIONS];
  struct vprof_own own[VPROF_OWN_INTERVALS];
};

extern struct vprof_trace vprof_trace;
extern struct vprof_settings vprof_settings;
extern __thread struct vprof_thread vprof_self __attribute__((tls_model("initial-exec")));

// environment.c
static inline bool vprof_active(void) {
  const int state = atomic_load_explicit(&vprof_trace.state, memory_order_relaxed);
  return state != VPROF_OFF && state != VPROF_FAILED;
}
void vprof_all_sites(int on);

// clock.c
extern int vprof_clock_kind;             // enum vprof_clock
extern uint64_t vprof_ticks_per_second;  // first estimate, set by the time a trace is open
void vprof_clock_init(void);             // constructor only
void vprof_clock_calibrate(void);        // at most 1 ms
struct vprof_clock_reading {
  uint64_t ticks, monotonic_ns, realtime_ns;
};
struct vprof_clock_reading vprof_clock_read(void);
uint64_t vprof_monotonic_ns(void);
uint64_t vprof_record_cost_x256(void);  // ticks * 256, measured on the stack

// chunks.c
// A chunk with a header but for its owner, all its pages present. NULL: no room (then vprof_trace.full) or closed.
struct vprof_chunk_header* vprof_chunk_prepare(uint32_t bytes);
struct vprof_chunk_header* vprof_chunk_prepare_timed(
    uint32_t bytes);               // and notes if the disk is slow
void vprof_chunks_extend(int fd);  // the helper's; -1: cannot
bool vprof_disk_is_slow(void);
// Offset, a multiple of `align`; 0: no room, or closed.
uint64_t vprof_file_allocate(uint32_t bytes, uint32_t align);
void vprof_file_publish(uint64_t end);
void vprof_count(uint64_t* counter, uint64_t by);

// Both at once: wherever the program is killed, a chunk has an owner or none.
static inline void vprof_chunk_set_owner(struct vprof_chunk_header* chunk, uint32_t serial,
                                         uint32_t tid) {
  _Static_assert(offsetof(struct vprof_chunk_header, tid) ==
                     offsetof(struct vprof_chunk_header, thread_serial) + sizeof tid,
                 "one word");
  const uint32_t owner[2] = {serial, tid};
  uint64_t word = 0;
  __builtin_memcpy(&word, owner, sizeof word);
  __atomic_store_n((uint64_t*)&chunk->thread_serial, word, __ATOMIC_RELEASE);
}

struct vprof_pool {  // what the helper knows
  int fd;            // of the trace
  bool archives;
  uint64_t archive_ns, fresh_ns;     // what a large chunk takes, the two ways
  uint64_t copies_next, copies_end;  // in the file: where full chunks are written out to
};

// archive.c; the helper's
enum vprof_reuse { VPROF_REUSE_NOW, VPROF_REUSE_NEVER, VPROF_REUSE_FAILED };
bool vprof_archive_possible(int fd);
// Makes a full chunk empty again. NEVER: it stays what it is. FAILED: it does, too, and so will others.
enum vprof_reuse vprof_archive(struct vprof_pool* pool, struct vprof_chunk_header* chunk);

// pool.c
extern const uint32_t vprof_chunk_bytes[VPROF_CHUNK_CLASSES];
void vprof_pool_start(void);
void vprof_pool_fill(struct vprof_pool* pool);
bool vprof_pool_lacks(void);
// The chunk for a thread that has had `chunks` so far. NULL: none left.
struct vprof_chunk_header* vprof_chunk_take(uint32_t chunks);
// A chunk that its thread does not need any more. False: it stays what it is.
bool vprof_chunk_hand_over(struct vprof_chunk_header* chunk);

// trace_file.c
bool vprof_trace_start(void);  // true: the trace is open. Waits for another thread that is starting
                               // it, a bounded time.

// helper.c
void vprof_helper_init(void);     // constructor only
void vprof_helper_start(int fd);  // of the trace; the helper has its own copy of it
void vprof_helper_wake(void);     // if it sleeps
void vprof_helper_finish(void);   // waits until it has written what it has, a bounded time
struct vprof_helper_output {      // its own chunk
  struct vprof_chunk_header* chunk;
  uint32_t chunks;
  uint32_t slots;
};
// Writes an event there. False: no room.
bool vprof_helper_write(struct vprof_helper_output* out, const struct vprof_slot* slots,
                        unsigned count);

// preempted.c
extern uint64_t vprof_unwatched;    // not 0, unless the counter is no clock
void vprof_preemption_init(void);   // constructor only
void vprof_preemption_watch(void);  // from this thread's first chunk on
void vprof_preemption_look(void);   // now and then, so that the clocks cannot drift apart
// At the end of a call that may have waited: the time in it is not looked at again.
void vprof_preemption_waited(uint64_t took, bool recorded, bool several);

static inline bool vprof_lost_processor(void) { return *vprof_thread_buffer.running == 0; }
// At its beginning: what was lost before is not a part of it. Returns the time.
static inline uint64_t vprof_wait_start(void) { return vprof_now(&vprof_thread_buffer, 0); }
// At its end. `several`: such a wait may give the processor up more than once.
static inline void vprof_wait_over(uint64_t took, bool recorded, bool several) {
  if (__builtin_expect(vprof_lost_processor(), 0)) {
    vprof_preemption_waited(took, recorded, several);
  }
}

// switches.c
void vprof_switches_ask(uint32_t serial, uint32_t tid);  // any thread: watch this one
bool vprof_switches_asked(void);                         // and the helper has not looked yet
void vprof_switches_forget(void);                        // in a child of fork
struct vprof_switches {                                  // the helper's
  struct vprof_watched* watched;  // NULL: nothing is watched, or nothing can be
  unsigned count;
  int sandbox;  // seccomp mode at the start
  uint64_t pause;
  uint64_t next, next_check, last;  // CLOCK_MONOTONIC, ns
};
void vprof_switches_start(struct vprof_switches* all);
// Returns when it wants to be called again, ns; UINT64_MAX: not before somebody asks.
uint64_t vprof_switches_drain(struct vprof_switches* all, struct vprof_helper_output* out,
                              uint64_t now);

// buffer.c
// Writes the slots as one event: adjacent, the head last, so that a head means a whole event.
// Dropped and counted if there is no room.
void vprof_write(const struct vprof_slot* slots, unsigned count);
// Ticks; 0: not known.
uint64_t vprof_last_end(void);
void vprof_count_early_drops(void);
uint32_t vprof_thread_serial(void);
uint32_t vprof_thread_id(void);

static inline struct vprof_slot vprof_slot_of(uint32_t id, uint64_t word0, uint64_t payload) {
  const struct vprof_slot slot = {
      word0, id | (payload > VPROF_PAYLOAD_MAX ? VPROF_PAYLOAD_MAX : payload) << VPROF_ID_BITS};
  return slot;
}

// fork.c
void vprof_fork_init(void);    // constructor only
void vprof_notice_fork(void);  // in a child whose trace is still its parent's: makes it a fresh one

// waiters.c
void vprof_waiters_init(void);  // constructor only

// real.c
void vprof_real_init(void);

#endif
