// libc's own versions of the functions that libvprof interposes on. A function that this libc lacks is NULL.
#ifndef VPROF_REAL_H
#define VPROF_REAL_H

#include <pthread.h>
#include <semaphore.h>
#include <sys/types.h>
#include <time.h>

// name, symbol version that is wanted first ("": the default), parameters
#define VPROF_REAL_FUNCTIONS(X)                                                                  \
  X(int, pthread_mutex_lock, "", (pthread_mutex_t*))                                             \
  X(int, pthread_mutex_trylock, "", (pthread_mutex_t*))                                          \
  X(int, pthread_mutex_timedlock, "", (pthread_mutex_t*, const struct timespec*))                \
  X(int, pthread_mutex_clocklock, "", (pthread_mutex_t*, clockid_t, const struct timespec*))     \
  X(int, pthread_mutex_unlock, "", (pthread_mutex_t*))                                           \
  X(int, pthread_rwlock_rdlock, "", (pthread_rwlock_t*))                                         \
  X(int, pthread_rwlock_tryrdlock, "", (pthread_rwlock_t*))                                      \
  X(int, pthread_rwlock_timedrdlock, "", (pthread_rwlock_t*, const struct timespec*))            \
  X(int, pthread_rwlock_clockrdlock, "", (pthread_rwlock_t*, clockid_t, const struct timespec*)) \
  X(int, pthread_rwlock_wrlock, "", (pthread_rwlock_t*))                                         \
  X(int, pthread_rwlock_trywrlock, "", (pthread_rwlock_t*))                                      \
  X(int, pthread_rwlock_timedwrlock, "", (pthread_rwlock_t*, const struct timespec*))            \
  X(int, pthread_rwlock_clockwrlock, "", (pthread_rwlock_t*, clockid_t, const struct timespec*)) \
  X(int, pthread_rwlock_unlock, "", (pthread_rwlock_t*))                                         \
  X(int, pthread_cond_wait, "GLIBC_2.3.2", (pthread_cond_t*, pthread_mutex_t*))                  \
  X(int, pthread_cond_timedwait, "GLIBC_2.3.2",                                                  \
    (pthread_cond_t*, pthread_mutex_t*, const struct timespec*))                                 \
  X(int, pthread_cond_clockwait, "",                                                             \
    (pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*))                      \
  X(int, pthread_cond_signal, "GLIBC_2.3.2", (pthread_cond_t*))                                  \
  X(int, pthread_cond_broadcast, "GLIBC_2.3.2", (pthread_cond_t*))                               \
  X(int, pthread_create, "", (pthread_t*, const pthread_attr_t*, void* (*)(void*), void*))       \
  X(int, pthread_join, "", (pthread_t, void**))                                                  \
  X(int, pthread_tryjoin_np, "", (pthread_t, void**))                                            \
  X(int, pthread_timedjoin_np, "", (pthread_t, void**, const struct timespec*))                  \
  X(int, pthread_clockjoin_np, "", (pthread_t, void**, clockid_t, const struct timespec*))       \
  X(int, sem_wait, "", (sem_t*))                                                                 \
  X(int, sem_trywait, "", (sem_t*))                                                              \
  X(int, sem_timedwait, "", (sem_t*, const struct timespec*))                                    \
  X(int, sem_clockwait, "", (sem_t*, clockid_t, const struct timespec*))                         \
  X(int, sem_post, "", (sem_t*))                                                                 \
  X(pid_t, _Fork, "", (void))

struct vprof_real {
#define VPROF_REAL_MEMBER(result, name, version, parameters) result(*name) parameters;
  VPROF_REAL_FUNCTIONS(VPROF_REAL_MEMBER)
#undef VPROF_REAL_MEMBER
};

extern struct vprof_real vprof_real;
void vprof_real_init(void);

// Other libraries' constructors may lock before ours has run, so everybody asks. Threads that look up at once find the same.
static inline const struct vprof_real* vprof_real_functions(void) {
  if (__builtin_expect(__atomic_load_n(&vprof_real.pthread_mutex_lock, __ATOMIC_ACQUIRE) == NULL,
                       0))
    vprof_real_init();
  return &vprof_real;
}

#endif
