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
 *   A thread writes to a chunk of its own. The only other code that can write here at the same time
 *   is a signal handler of the same thread, which runs in the middle of a record and finishes
 *   before the record continues. So reserving a slot must be atomic against the same thread only:
 *   one instruction that adds and returns the old value (on x86-64 `xadd` without `lock`, at a
 *   third of the price).
 *
 *   `cursor` is one word and has both the number of the next free slot (its address / 16) and how
 *   many slots of the chunk are free:
 *
 *     bits 20..63  the slot's number
 *     bits  0..19  2^19 - the free slots; so bit 19 is set if there are none
 *
 *   To take a slot is to add one to both. What the instruction returns says by itself whether the
 *   slot is in the chunk. Handlers may come before and after it, as many as they like, and may
 *   change the chunk each time: nothing else is looked at, so nothing can belong to another chunk.
 *   Whoever finds room owns the slot for good, and whoever finds none has no slot, also if memory
 *   behind the chunk is the thread's next chunk. A separate address of the chunk's end would be
 *   looked up before or after the addition, and two handlers can make any such order wrong.
 *
 *   The second word of a slot is stored last, with release: a slot whose second word is not zero is
 *   whole, also for a reader in another process, and after SIGKILL.
 *
 *   A thread without a chunk has no free slot. So its first record finds no room and takes the slow
 *   path, where everything else is decided (no trace wanted, file not made yet, disk full).
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
/* Of what is hardly ever called: calls of it are put among code that is never executed. */
#define VPROF_RT_COLD_API __attribute__((__visibility__("default"), __nothrow__, __cold__))
#define VPROF_RT_INLINE static __inline__ __attribute__((__always_inline__, __unused__))
#define VPROF_RT_UNLIKELY(vprof_x) __builtin_expect(!!(vprof_x), 0)
#define VPROF_RT_NEVER(vprof_x) VPROF_RT_UNLIKELY(vprof_x)
#define VPROF_RT_SELDOM(vprof_x) VPROF_RT_UNLIKELY(vprof_x)
#ifdef __has_builtin
#if __has_builtin(__builtin_expect_with_probability)
#undef VPROF_RT_NEVER
#undef VPROF_RT_SELDOM
#define VPROF_RT_NEVER(vprof_x) __builtin_expect_with_probability(!!(vprof_x), 0, 1.0)
#define VPROF_RT_SELDOM(vprof_x) __builtin_expect_with_probability(!!(vprof_x), 0, 0.99)
#endif
#endif

/* One byte per site: 0 off, 1 on; byte 0 is not a site. libvprof writes it (vprof_rt_set_site). In
 * a live run it is a file that the driver writes, too (frontier.h), at any time. An executable may
 * hold its own copy (a copy relocation), which everybody then uses. */
#define VPROF_RT_SITES 1048576
extern VPROF_RT_DATA unsigned char vprof_site_on[VPROF_RT_SITES];
/* The table that a site looks at. Code that is compiled with -fPIC reaches the data of another
 * module (executable or shared library) only by a load from the global offset table and a register,
 * in each function. So a module with such code has a table of its own, hidden, which libvprof keeps
 * like vprof_site_on. It is in assembler: all objects of a module define it, which takes no memory
 * in their files, and C++98 has no such variable. */
/* `table` is that of a module that is being loaded or unloaded. Each of its objects says so. */
VPROF_RT_API void vprof_rt_add_table(unsigned char* vprof_table);
VPROF_RT_API void vprof_rt_remove_table(unsigned char* vprof_table);
#if defined(__PIC__) && !defined(__PIE__) && !defined(VPROF_IN_RUNTIME)
extern __attribute__((__visibility__("hidden"))) unsigned char vprof_module_site_on[VPROF_RT_SITES];
__asm__(".hidden vprof_module_site_on\n\t.comm vprof_module_site_on,1048576,4096");
#define VPROF_SITE_TABLE vprof_module_site_on
static __attribute__((__constructor__, __no_instrument_function__)) void vprof_add_table(void) {
  vprof_rt_add_table(vprof_module_site_on);
}
static __attribute__((__destructor__, __no_instrument_function__)) void vprof_remove_table(void) {
  vprof_rt_remove_table(vprof_module_site_on);
}
#else
#define VPROF_SITE_TABLE vprof_site_on
#endif
/* 1: the processor's counter is not a clock. Constant after the constructor. */
extern VPROF_RT_DATA unsigned char vprof_no_counter;
/* 1: the program is armed for live runs. Without a driver nothing of it is to be recorded, whatever
 * its trace directory holds (frontier.h). 0 in libvprof; the objects of an armed program replace
 * that. */
extern VPROF_RT_DATA unsigned char vprof_armed;
#ifdef VPROF_ARMED
VPROF_RT_DATA __attribute__((__weak__)) unsigned char vprof_armed = 1;
#endif

struct vprof_buffer {
  vprof_u64 cursor; /* the next free slot and the number of free slots; see above */
  /* Becomes 0 when the thread loses its processor (preempted.c); always 0 if the counter is not a
   * clock. Never NULL. */
  const volatile vprof_u64* running;
  /* A measured call announces the function it calls: the site of that function's scope, until the
   * scope is entered. 0: none. */
  unsigned entering;
};

/* Initial-exec: one instruction reaches it. Takes 24 bytes of static TLS, also if libvprof is
 * loaded by dlopen. */
__extension__ extern __thread struct vprof_buffer vprof_thread_buffer
    __attribute__((__visibility__("default"), __tls_model__("initial-exec")));

/* All of these: any thread, any time, signal handlers included. */

/* The time where the processor's counter is not a clock: CLOCK_MONOTONIC. */
VPROF_RT_COLD_API vprof_u64 vprof_rt_ticks(void);
/* Records a frame that found no room, or whose duration does not fit into a slot. `taken` is what
 * vprof_take_slots() returned. */
VPROF_RT_COLD_API void vprof_rt_frame(unsigned vprof_id, vprof_u64 vprof_start,
                                      vprof_u64 vprof_duration, vprof_u64 vprof_taken);
/* The time. If the thread has had no processor for a while, records that, but nothing before
 * `since`. */
VPROF_RT_COLD_API vprof_u64 vprof_rt_resumed(vprof_u64 vprof_since);
/* Records the sites whose bits are set in `open`, innermost first. */
VPROF_RT_COLD_API void vprof_rt_close(vprof_u64* vprof_open, vprof_u64* vprof_starts,
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
  if (VPROF_RT_UNLIKELY(vprof_no_counter)) {
    return vprof_rt_ticks();
  }
  return vprof_counter();
}

#define VPROF_RT_NO_ROOM 0x80000u
#define VPROF_RT_ONE_SLOT 0x100001u

/* `slots` free ones from this address on, which is a multiple of 16. */
VPROF_RT_INLINE vprof_u64 vprof_cursor_at(vprof_address vprof_first, unsigned vprof_slots) {
  return ((vprof_u64)vprof_first >> 4 << 20) + VPROF_RT_NO_ROOM - vprof_slots;
}

/* Takes the next slots and returns the cursor as it was: the first slot and how many were free.
 * Atomic against signal handlers of this thread. */
VPROF_RT_INLINE vprof_u64 vprof_take_slots(struct vprof_buffer* vprof_b, unsigned vprof_slots) {
  vprof_u64 vprof_by = (vprof_u64)VPROF_RT_ONE_SLOT * vprof_slots;
#if defined(__x86_64__)
  __asm__ __volatile__("xaddq %0, %1" : "+r"(vprof_by), "+m"(vprof_b->cursor) : : "cc");
  return vprof_by;
#else
  return __atomic_fetch_add(&vprof_b->cursor, vprof_by, __ATOMIC_RELAXED);
#endif
}

/* Below 0: more slots have been asked for than there were. */
VPROF_RT_INLINE int vprof_free_slots(vprof_u64 vprof_cursor) {
  return (int)VPROF_RT_NO_ROOM - (int)(vprof_cursor & (2 * VPROF_RT_NO_ROOM - 1));
}

VPROF_RT_INLINE vprof_address vprof_slot_address(vprof_u64 vprof_cursor) {
  return (vprof_address)(vprof_cursor >> 20 << 4);
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
  vprof_u64 vprof_taken = vprof_take_slots(vprof_b, 1);
  if (VPROF_RT_UNLIKELY(((vprof_taken & VPROF_RT_NO_ROOM) | vprof_duration >> 40) != 0)) {
    vprof_rt_frame(vprof_id, vprof_start, vprof_duration, vprof_taken);
    return;
  }
  vprof_store_slot(vprof_slot_address(vprof_taken), vprof_start, vprof_duration << 24 | vprof_id);
}

/* What a site does that is on. Most sites of a program are off, or are passed seldom; a program can
 * have hundreds of thousands. So all of it is behind a branch that is never expected to be taken,
 * and there are two forms of it:
 *
 *   in line     without a call: for plans with few sites, most of which are passed often
 *   cold        VPROF_COLD_SITES is defined: in a few functions of the unit. The compiler puts the
 *               branches among code that is never executed. What is left between the user's
 *               instructions is the test of the byte: 13 to 24 bytes and no register. And it thinks
 *               of the functions around a site as about as small as they were, so it still puts
 *               them in line
 *
 * The byte is tested before anything of the thread is read, by an atomic load: each time a site is
 * passed, also in a loop. */
#ifdef VPROF_COLD_SITES
#define VPROF_RT_IF_ON \
  static               \
      __attribute__((__cold__, __noinline__, __nothrow__, __no_instrument_function__, __unused__))
#define VPROF_RT_RARELY(vprof_x) VPROF_RT_NEVER(vprof_x)
#else
#define VPROF_RT_IF_ON VPROF_RT_INLINE
#define VPROF_RT_RARELY(vprof_x) VPROF_RT_UNLIKELY(vprof_x)
#endif

VPROF_RT_IF_ON vprof_u64 vprof_time_site(void) { return vprof_now(&vprof_thread_buffer, 0); }

/* A function that is called from a measured call site is timed there; its own scope would repeat
 * that. */
VPROF_RT_IF_ON vprof_u64 vprof_time_function(unsigned vprof_id) {
  if (vprof_thread_buffer.entering == vprof_id) {
    vprof_thread_buffer.entering = 0;
    return 0;
  }
  return vprof_now(&vprof_thread_buffer, 0);
}

VPROF_RT_IF_ON vprof_u64 vprof_time_call(unsigned vprof_function) {
  vprof_u64 vprof_time = vprof_now(&vprof_thread_buffer, 0);
  vprof_thread_buffer.entering = vprof_function;
  return vprof_time;
}

VPROF_RT_IF_ON void vprof_record(unsigned vprof_id, vprof_u64 vprof_start) {
  vprof_record_to(&vprof_thread_buffer, vprof_id, vprof_start);
}

/* If the call never reached the announced scope, a later one must not be mistaken for it. */
VPROF_RT_IF_ON void vprof_record_call(unsigned vprof_id, vprof_u64 vprof_start) {
  vprof_thread_buffer.entering = 0;
  vprof_record_to(&vprof_thread_buffer, vprof_id, vprof_start);
}

VPROF_RT_INLINE unsigned char vprof_is_on(unsigned vprof_id) {
  return __atomic_load_n(&VPROF_SITE_TABLE[vprof_id], __ATOMIC_RELAXED);
}

/* The time a frame of this site starts; 0 if the site is off. */
VPROF_RT_INLINE vprof_u64 vprof_start_of(unsigned vprof_id) {
  return VPROF_RT_RARELY(vprof_is_on(vprof_id)) ? vprof_time_site() : 0;
}

VPROF_RT_INLINE vprof_u64 vprof_start_of_function(unsigned vprof_id) {
  return VPROF_RT_RARELY(vprof_is_on(vprof_id)) ? vprof_time_function(vprof_id) : 0;
}

VPROF_RT_INLINE vprof_u64 vprof_start_of_call(unsigned vprof_id, unsigned vprof_function) {
  return VPROF_RT_RARELY(vprof_is_on(vprof_id)) ? vprof_time_call(vprof_function) : 0;
}

#ifdef __cplusplus
}
#endif

#endif
