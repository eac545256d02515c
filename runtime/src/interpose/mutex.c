// Mutexes.
//
// Problem. A program may lock and unlock a mutex millions of times a second. A second call into
// libc each time would be the largest part of what profiling costs.
//
// So a plain mutex of glibc (type normal or recursive, not robust, no priority protocol) is
// acquired and released here, inlined, by exactly the steps that glibc takes. Its lock word is 0:
// free, 1: locked, 2: locked and somebody sleeps. glibc cannot change that, since processes with
// different versions of it may share a mutex. The lock word also tells whether somebody may have to
// be woken, so only a release that finds 2 looks for waiters (waiters.h) and calls libc.
//
// This holds whether or not anything is recorded, so that a baseline has the same locks.
//
// All other kinds of mutexes go to libc at each step, after an attempt that cannot block. While
// nothing is recorded, that is all: two thirds of what MariaDB locks is adaptive.
//
// Somebody else may take a mutex between its release and the moment when the thread that was woken
// runs. The time of that must be recorded, but an uncontended lock must not read the clock. So a
// release that finds a sleeper marks the mutex (mutex.h), and whoever finds the mark records when
// it got the mutex. Its own release is then recorded too, although the lock word may be 1 by then:
// the mark stays, and the release of a marked mutex takes the slow path.
//
// A thread that locks a recursive mutex which it holds, or unlocks one that it still holds then,
// neither gets nor gives up anything: it counts.
#define _GNU_SOURCE
#include "interpose/mutex.h"

enum { kFree = -1 };  // from attempt(): call the real function; it will not wait

#ifdef __GLIBC__
enum { kRobust = 16 };
enum { kUnlocked, kLocked };  // 2: somebody may sleep

static inline bool recursive(const pthread_mutex_t* mutex) {
  return (mutex->__data.__kind & PTHREAD_MUTEX_RECURSIVE_NP) != 0;
}

// mutex_owner is 0 until the thread has come to attempt() once.
static inline bool take_plain(pthread_mutex_t* mutex) {
  const uint32_t owner = vprof_self.mutex_owner;
  int expected = kUnlocked;
  if (owner == 0 || !vprof_mutex_plain(mutex) ||
      !__atomic_compare_exchange_n(&mutex->__data.__lock, &expected, kLocked, false,
                                   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    return false;
  }
  mutex->__data.__owner = (int)owner;
  mutex->__data.__count = recursive(mutex) ? 1 : 0;
  ++mutex->__data.__nusers;
  return true;
}

// Only this thread can have made itself the owner of a recursive mutex.
static inline bool holds_recursive(const pthread_mutex_t* mutex) {
  const uint32_t owner = vprof_self.mutex_owner;
  return owner != 0 && vprof_mutex_plain(mutex) && recursive(mutex) &&
         __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED) == (int)owner;
}

// If this thread holds the mutex already. (glibc reports the overflow of the count.)
static inline bool take_again(pthread_mutex_t* mutex) {
  if (!holds_recursive(mutex) || mutex->__data.__count == UINT32_MAX) {
    return false;
  }
  ++mutex->__data.__count;
  return true;
}

// If this thread still holds the mutex then.
static inline bool release_once(pthread_mutex_t* mutex) {
  if (!holds_recursive(mutex) || mutex->__data.__count < 2) {
    return false;
  }
  --mutex->__data.__count;
  return true;
}

static inline bool release_plain(pthread_mutex_t* mutex) {
  if (!vprof_mutex_plain(mutex) || mutex->__data.__spins != VPROF_MARK_NONE ||
      __atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) != kLocked) {
    return false;
  }
  const unsigned count = mutex->__data.__count;
  const int owner = mutex->__data.__owner;
  if (recursive(mutex) && (count != 1 || owner != (int)vprof_self.mutex_owner)) {
    return false;
  }
  mutex->__data.__count = 0;
  mutex->__data.__owner = 0;
  --mutex->__data.__nusers;
  // Not the value loaded above, although they are equal: the exchange would wait for that load,
  // which in turn waits for the locked instruction before it.
  int expected = kLocked;
  __asm__("" : "+r"(expected));
  if (__atomic_compare_exchange_n(&mutex->__data.__lock, &expected, kUnlocked, false,
                                  __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    return true;
  }
  // Somebody went to sleep in between. The mutex is still ours: undo, and take the slow path.
  ++mutex->__data.__nusers;
  mutex->__data.__owner = owner;
  mutex->__data.__count = count;
  return false;
}

// If a robust mutex is not recoverable, glibc's trylock leaves it locked for good, unlike its lock.
// So a robust mutex is only looked at: if nobody owns it, or this thread does, there will be no
// wait. (If somebody takes it at just that moment, the wait is not recorded.)
static __attribute__((noinline)) int look_at_robust(const pthread_mutex_t* mutex) {
  const uint32_t owner =
      (uint32_t)__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) & 0x3fffffff;
  return owner == 0 || owner == vprof_thread_id() ? kFree : EBUSY;
}
#else
static inline bool recursive(const pthread_mutex_t* mutex) { return (void)mutex, false; }
static inline bool holds_recursive(const pthread_mutex_t* mutex) { return (void)mutex, false; }
static inline bool take_plain(pthread_mutex_t* mutex) { return (void)mutex, false; }
static inline bool take_again(pthread_mutex_t* mutex) { return (void)mutex, false; }
static inline bool release_once(pthread_mutex_t* mutex) { return (void)mutex, false; }
static inline bool release_plain(pthread_mutex_t* mutex) { return (void)mutex, false; }
#endif

// EBUSY: it would block. The attempt has the same effects as the lock: a recursive mutex counts up.
// An error-checking one returns EBUSY to its owner; the real lock then returns EDEADLK without
// waiting.
static int attempt(const struct vprof_real* real, pthread_mutex_t* mutex) {
  vprof_self.mutex_owner = vprof_thread_id();
  if (!vprof_sync_on(VPROF_CLASS_MUTEX)) {
    return kFree;
  }
#ifdef __GLIBC__
  if (__builtin_expect((mutex->__data.__kind & kRobust) != 0, 0)) {
    return look_at_robust(mutex);
  }
#endif
  return real->pthread_mutex_trylock(mutex);
}

// This thread has got the mutex without waiting. Returns 0, as the calls do.
static __attribute__((noinline)) int got(pthread_mutex_t* mutex) {
  const bool plain = vprof_mutex_plain(mutex);
  const bool marked = vprof_mutex_mark_of(mutex) != VPROF_MARK_NONE;
  vprof_mutex_mark(mutex, VPROF_MARK_NONE);
  if (!vprof_sync_on(VPROF_CLASS_MUTEX) || (plain && !marked)) {
    return 0;
  }
  const struct vprof_waiters* waiters = vprof_waiters_of((uintptr_t)mutex);
  const bool waited_for =
      atomic_load_explicit(&waiters->count, memory_order_relaxed) != 0 ||
      (plain && atomic_load_explicit(&waiters->returning, memory_order_relaxed) != 0);
  if (waited_for) {
    vprof_acquire_write(VPROF_EV_ACQUIRE_MUTEX, 0, (uintptr_t)mutex, vprof_mutex_shared(mutex));
    vprof_mutex_mark(mutex, VPROF_MARK_GOT_AHEAD);
  }
  return 0;
}

static inline int got_plain(pthread_mutex_t* mutex) {
  return __builtin_expect(vprof_mutex_mark_of(mutex) != VPROF_MARK_NONE, 0) ? got(mutex) : 0;
}

// The thread that waited has the mutex, and the end of its wait tells since when.
static inline int waited_for(pthread_mutex_t* mutex, int result) {
  if (result == 0) {
    vprof_mutex_mark(mutex, VPROF_MARK_NONE);
  }
  return result;
}

#define LOCK_SLOWLY(mutex, call)                          \
  if (take_again(mutex)) return 0;                        \
  const struct vprof_real* real = vprof_real_functions(); \
  const int tried = attempt(real, mutex);                 \
  if (tried == kFree) return call;                        \
  if (tried == 0) return got(mutex);                      \
  if (tried != EBUSY) return tried;                       \
  VPROF_BLOCK(MUTEX, mutex, vprof_mutex_shared(mutex), waited_for(mutex, call), result)

static inline bool left_to_libc(const pthread_mutex_t* mutex) {
  return !vprof_mutex_plain(mutex) && !vprof_sync_on(VPROF_CLASS_MUTEX);
}

static __attribute__((noinline)) int lock_slowly(pthread_mutex_t* mutex) {
  LOCK_SLOWLY(mutex, real->pthread_mutex_lock(mutex));
}

VPROF_RT_API int pthread_mutex_lock(pthread_mutex_t* mutex) {
  if (__builtin_expect(take_plain(mutex), 1)) {
    return got_plain(mutex);
  }
  if (left_to_libc(mutex)) {
    return vprof_real_functions()->pthread_mutex_lock(mutex);
  }
  return lock_slowly(mutex);
}

static __attribute__((noinline)) int try_slowly(pthread_mutex_t* mutex) {
  if (take_again(mutex)) {
    return 0;
  }
  const struct vprof_real* real = vprof_real_functions();
  const int tried = attempt(real, mutex);
  return tried == 0 ? got(mutex) : tried == kFree ? real->pthread_mutex_trylock(mutex) : tried;
}

VPROF_RT_API int pthread_mutex_trylock(pthread_mutex_t* mutex) {
  if (take_plain(mutex)) {
    return got_plain(mutex);
  }
  if (left_to_libc(mutex)) {
    return vprof_real_functions()->pthread_mutex_trylock(mutex);
  }
  return try_slowly(mutex);
}

VPROF_RT_API int pthread_mutex_timedlock(pthread_mutex_t* mutex, const struct timespec* limit) {
  if (take_plain(mutex)) {
    return got_plain(mutex);
  }
  LOCK_SLOWLY(mutex, real->pthread_mutex_timedlock(mutex, limit));
}

VPROF_RT_API int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                         const struct timespec* limit) {
  if (VPROF_REAL(pthread_mutex_clocklock) == NULL) {
    return ENOSYS;
  }
  if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) {
    return VPROF_REAL(pthread_mutex_clocklock)(mutex, clock, limit);
  }
  if (take_plain(mutex)) {
    return got_plain(mutex);
  }
  LOCK_SLOWLY(mutex, real->pthread_mutex_clocklock(mutex, clock, limit));
}

static __attribute__((noinline)) int unlock_slowly(pthread_mutex_t* mutex) {
  if (release_once(mutex)) {
    return 0;
  }
  const struct vprof_real* real = vprof_real_functions();
  if (vprof_mutex_plain(mutex) && recursive(mutex) && !holds_recursive(mutex) &&
      vprof_self.mutex_owner != 0) {
    return real->pthread_mutex_unlock(mutex);  // EPERM
  }
  struct vprof_release release;
  vprof_mutex_release_begin(&release, mutex);
  const int result = real->pthread_mutex_unlock(mutex);
  vprof_release_end(&release, VPROF_EV_RELEASE_MUTEX, result);
  return result;
}

VPROF_RT_API int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  if (__builtin_expect(release_plain(mutex), 1)) {
    return 0;
  }
  if (left_to_libc(mutex) && vprof_self.returned_with != (uintptr_t)mutex) {
    return vprof_real_functions()->pthread_mutex_unlock(mutex);
  }
  return unlock_slowly(mutex);
}
