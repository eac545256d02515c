/* The hot path: how one frame gets into the trace.
 *
 *   scope entered   site's byte off?  -> nothing
 *                   on?               -> read the clock
 *   scope left      reserve a slot -> store the start -> store id and duration
 *
 * This header, and those that include it, are compiled into users' programs, before the user's own
 * feature macros and in every language mode from C89 and C++98 on. So they include nothing, use
 * only the GNU C that gcc and clang share, and prefix every name.
 *
 * Why a record is whole without a lock
 *
 *   A thread writes to a chunk of its own. `cursor` is the address of its next free slot, `end` the
 *   address just past the last one. The only other code that can write here at the same time is a
 *   signal handler of the same thread, which runs in the middle of a record and finishes before the
 *   record continues. So reserving a slot must be atomic against the same thread only: one
 *   instruction that adds and returns the old value (on x86-64 `xadd` without `lock`, at a third of
 *   the price). Two records never get the same slot, however deep signals nest. The second word is
 *   stored last, with release: a slot whose second word is not zero is whole, also for a reader in
 *   another process, and after SIGKILL.
 *
 *   A thread without a chunk has cursor = end = 0. So its first record finds no room and takes the
 *   slow path, where everything else is decided (no trace wanted, file not made yet, disk full).
 */
#ifndef VPROF_RUNTIME_RECORD_H
#define VPROF_RUNTIME_RECORD_H

#if !defined(__GNUC__)
#error "VProfiler needs gcc or clang"
#endif

#ifdef __cplusplus
extern "C" {
#endif

__extension__ typedef __UINT64_TYPE__ vprof_u64;
__extension__ typedef __INT64_TYPE__ vprof_i64;
__extension__ typedef __UINTPTR_TYPE__ vprof_address;

#define VPROF_RT_API __attribute__((__visibility__("default"), __nothrow__))
#define VPROF_RT_DATA __attribute__((__visibility__("default")))
#define VPROF_RT_INLINE static __inline__ __attribute__((__always_inline__, __unused__))
#define VPROF_RT_UNLIKELY(vprof_x) __builtin_expect(!!(vprof_x), 0)

/* One byte per site: 0 off, 1 on. Only libvprof writes it (vprof_rt_set_site). Byte 0 is not a
 * site: 1 means that the processor's counter is not a clock. An executable may hold its own copy (a
 * copy relocation), which everybody then uses. */
#define VPROF_RT_SITES 1048576
extern VPROF_RT_DATA unsigned char vprof_site_on[VPROF_RT_SITES];

struct vprof_buffer {
  vprof_address cursor;
  vprof_address end;
  /* Becomes 0 when the thread loses its processor (preempted.c); always 0 if the counter is not a
   * clock. Never NULL. */
  const volatile vprof_u64* running;
  /* A measured call announces the function it calls: the site of that function's scope, until the
   * scope is entered. 0: none. */
  unsigned entering;
};

/* Initial-exec: one instruction reaches it. Takes 32 bytes of static TLS, also if libvprof is
 * loaded by dlopen. */
__extension__ extern __thread struct vprof_buffer vprof_thread_buffer
    __attribute__((__visibility__("default"), __tls_model__("initial-exec")));

/* All of these: any thread, any time, signal handlers included. */

/* The time where the processor's counter is not a clock: CLOCK_MONOTONIC. */
VPROF_RT_API vprof_u64 vprof_rt_ticks(void);
/* Records a frame that found no room at `at`, or whose duration does not fit into a slot. */
VPROF_RT_API void vprof_rt_frame(unsigned vprof_id, vprof_u64 vprof_start, vprof_u64 vprof_duration,
                                 vprof_address vprof_at);
/* The time. If the thread has had no processor for a while, records that, but nothing before
 * `since`. */
VPROF_RT_API vprof_u64 vprof_rt_resumed(vprof_u64 vprof_since);
/* Records the sites whose bits are set in `open`, innermost first. */
VPROF_RT_API void vprof_rt_close(vprof_u64* vprof_open, vprof_u64* vprof_starts,
                                 unsigned* vprof_ids, unsigned vprof_slots);
/* Switches one site on or off. */
VPROF_RT_API void vprof_rt_set_site(unsigned vprof_id, int vprof_on);

VPROF_RT_INLINE vprof_u64 vprof_counter(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  vprof_u64 vprof_now;
  __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(vprof_now));
  return vprof_now;
#else
  return vprof_rt_ticks();
#endif
}

VPROF_RT_INLINE vprof_u64 vprof_ticks(void) {
  if (VPROF_RT_UNLIKELY(vprof_site_on[0])) {
    return vprof_rt_ticks();
  }
  return vprof_counter();
}

/* Adds to the cursor and returns what it was: atomic against signal handlers of this thread. */
VPROF_RT_INLINE vprof_address vprof_advance(struct vprof_buffer* vprof_b, vprof_address vprof_by) {
#if defined(__x86_64__) && !defined(__ILP32__)
  __asm__ __volatile__("xaddq %0, %1" : "+r"(vprof_by), "+m"(vprof_b->cursor) : : "cc");
  return vprof_by;
#else
  return __atomic_fetch_add(&vprof_b->cursor, vprof_by, __ATOMIC_RELAXED);
#endif
}

VPROF_RT_INLINE void vprof_store_slot(vprof_address vprof_at, vprof_u64 vprof_word0,
                                      vprof_u64 vprof_word1) {
  vprof_u64* vprof_slot_words = (vprof_u64*)vprof_at;
  __atomic_store_n(&vprof_slot_words[0], vprof_word0, __ATOMIC_RELAXED);
  __atomic_store_n(&vprof_slot_words[1], vprof_word1, __ATOMIC_RELEASE);
}

/* Reads the clock before the mark: if the processor is lost in between, vprof_rt_resumed()
 * notices. */
VPROF_RT_INLINE vprof_u64 vprof_now(const struct vprof_buffer* vprof_b, vprof_u64 vprof_since) {
  vprof_u64 vprof_time = vprof_counter();
  if (VPROF_RT_UNLIKELY(*vprof_b->running == 0)) {
    return vprof_rt_resumed(vprof_since);
  }
  return vprof_time;
}

VPROF_RT_INLINE void vprof_record_to(struct vprof_buffer* vprof_b, unsigned vprof_id,
                                     vprof_u64 vprof_start) {
  vprof_u64 vprof_duration = vprof_now(vprof_b, vprof_start) - vprof_start;
  vprof_address vprof_at;
  vprof_at = vprof_advance(vprof_b, 16);
  if (VPROF_RT_UNLIKELY((vprof_at >= vprof_b->end) | (vprof_duration >> 40 != 0))) {
    vprof_rt_frame(vprof_id, vprof_start, vprof_duration, vprof_at);
    return;
  }
  vprof_store_slot(vprof_at, vprof_start, vprof_duration << 24 | vprof_id);
}

/* The time a frame of this site starts; 0 if the site is off. */
VPROF_RT_INLINE vprof_u64 vprof_start_of(unsigned vprof_id) {
  if (!vprof_site_on[vprof_id]) {
    return 0;
  }
  return vprof_now(&vprof_thread_buffer, 0);
}

VPROF_RT_INLINE void vprof_record(unsigned vprof_id, vprof_u64 vprof_start) {
  vprof_record_to(&vprof_thread_buffer, vprof_id, vprof_start);
}

/* A function that is called from a measured call site is timed there; its own scope would repeat
 * that. */
VPROF_RT_INLINE vprof_u64 vprof_start_of_function(unsigned vprof_id) {
  if (vprof_thread_buffer.entering == vprof_id) {
    vprof_thread_buffer.entering = 0;
    return 0;
  }
  return vprof_start_of(vprof_id);
}

VPROF_RT_INLINE vprof_u64 vprof_start_of_call(unsigned vprof_id, unsigned vprof_function) {
  vprof_u64 vprof_start = vprof_start_of(vprof_id);
  if (vprof_start) {
    vprof_thread_buffer.entering = vprof_function;
  }
  return vprof_start;
}

/* If the call never reached the announced scope, a later one must not be mistaken for it. */
VPROF_RT_INLINE void vprof_record_call(unsigned vprof_id, vprof_u64 vprof_start) {
  vprof_thread_buffer.entering = 0;
  vprof_record(vprof_id, vprof_start);
}

#ifdef __cplusplus
}
#endif

#endif
