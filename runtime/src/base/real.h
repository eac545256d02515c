// libc's own versions of the functions that libvprof interposes on.
#ifndef VPROF_REAL_H
#define VPROF_REAL_H

#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>

struct sembuf;
struct io_uring;
struct io_uring_cqe;
struct __kernel_timespec;

// result, name, preferred symbol version ("": the default), parameters
#define VPROF_REAL_FUNCTIONS(X)                                                                   \
  X(int, pthread_mutex_lock, "", (pthread_mutex_t*))                                              \
  X(int, pthread_mutex_trylock, "", (pthread_mutex_t*))                                           \
  X(int, pthread_mutex_timedlock, "", (pthread_mutex_t*, const struct timespec*))                 \
  X(int, pthread_mutex_clocklock, "", (pthread_mutex_t*, clockid_t, const struct timespec*))      \
  X(int, pthread_mutex_unlock, "", (pthread_mutex_t*))                                            \
  X(int, pthread_rwlock_rdlock, "", (pthread_rwlock_t*))                                          \
  X(int, pthread_rwlock_tryrdlock, "", (pthread_rwlock_t*))                                       \
  X(int, pthread_rwlock_timedrdlock, "", (pthread_rwlock_t*, const struct timespec*))             \
  X(int, pthread_rwlock_clockrdlock, "", (pthread_rwlock_t*, clockid_t, const struct timespec*))  \
  X(int, pthread_rwlock_wrlock, "", (pthread_rwlock_t*))                                          \
  X(int, pthread_rwlock_trywrlock, "", (pthread_rwlock_t*))                                       \
  X(int, pthread_rwlock_timedwrlock, "", (pthread_rwlock_t*, const struct timespec*))             \
  X(int, pthread_rwlock_clockwrlock, "", (pthread_rwlock_t*, clockid_t, const struct timespec*))  \
  X(int, pthread_rwlock_unlock, "", (pthread_rwlock_t*))                                          \
  X(int, pthread_cond_wait, "GLIBC_2.3.2", (pthread_cond_t*, pthread_mutex_t*))                   \
  X(int, pthread_cond_timedwait, "GLIBC_2.3.2",                                                   \
    (pthread_cond_t*, pthread_mutex_t*, const struct timespec*))                                  \
  X(int, pthread_cond_clockwait, "",                                                              \
    (pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*))                       \
  X(int, pthread_cond_signal, "GLIBC_2.3.2", (pthread_cond_t*))                                   \
  X(int, pthread_cond_broadcast, "GLIBC_2.3.2", (pthread_cond_t*))                                \
  X(int, pthread_create, "", (pthread_t*, const pthread_attr_t*, void* (*)(void*), void*))        \
  X(int, pthread_join, "", (pthread_t, void**))                                                   \
  X(int, pthread_tryjoin_np, "", (pthread_t, void**))                                             \
  X(int, pthread_timedjoin_np, "", (pthread_t, void**, const struct timespec*))                   \
  X(int, pthread_clockjoin_np, "", (pthread_t, void**, clockid_t, const struct timespec*))        \
  X(int, sem_wait, "", (sem_t*))                                                                  \
  X(int, sem_trywait, "", (sem_t*))                                                               \
  X(int, sem_timedwait, "", (sem_t*, const struct timespec*))                                     \
  X(int, sem_clockwait, "", (sem_t*, clockid_t, const struct timespec*))                          \
  X(int, sem_post, "", (sem_t*))                                                                  \
  X(pid_t, _Fork, "", (void))                                                                     \
  X(int, pthread_spin_lock, "", (pthread_spinlock_t*))                                            \
  X(int, pthread_spin_trylock, "", (pthread_spinlock_t*))                                         \
  X(int, pthread_spin_unlock, "", (pthread_spinlock_t*))                                          \
  X(int, pthread_barrier_wait, "", (pthread_barrier_t*))                                          \
  X(int, pthread_once, "", (pthread_once_t*, void (*)(void)))                                     \
  X(void, call_once, "", (once_flag*, void (*)(void)))                                            \
  X(int, mtx_lock, "", (mtx_t*))                                                                  \
  X(int, mtx_trylock, "", (mtx_t*))                                                               \
  X(int, mtx_timedlock, "", (mtx_t*, const struct timespec*))                                     \
  X(int, mtx_unlock, "", (mtx_t*))                                                                \
  X(int, cnd_wait, "", (cnd_t*, mtx_t*))                                                          \
  X(int, cnd_timedwait, "", (cnd_t*, mtx_t*, const struct timespec*))                             \
  X(int, cnd_signal, "", (cnd_t*))                                                                \
  X(int, cnd_broadcast, "", (cnd_t*))                                                             \
  X(int, thrd_create, "", (thrd_t*, thrd_start_t, void*))                                         \
  X(int, thrd_join, "", (thrd_t, int*))                                                           \
  X(int, thrd_sleep, "", (const struct timespec*, struct timespec*))                              \
  X(int, nanosleep, "", (const struct timespec*, struct timespec*))                               \
  X(int, clock_nanosleep, "GLIBC_2.17",                                                           \
    (clockid_t, int, const struct timespec*, struct timespec*))                                   \
  X(unsigned, sleep, "", (unsigned))                                                              \
  X(int, usleep, "", (unsigned))                                                                  \
  X(int, sched_yield, "", (void))                                                                 \
  X(void, thrd_yield, "", (void))                                                                 \
  X(long, syscall, "", (long, ...))                                                               \
  X(int, chroot, "", (const char*))                                                               \
  X(int, prctl, "", (int, unsigned long, unsigned long, unsigned long, unsigned long))            \
  X(int, semop, "", (int, struct sembuf*, size_t))                                                \
  X(int, semtimedop, "", (int, struct sembuf*, size_t, const struct timespec*))                   \
  X(int, semctl, "", (int, int, int, ...))                                                        \
  X(int, msgsnd, "", (int, const void*, size_t, int))                                             \
  X(ssize_t, msgrcv, "", (int, void*, size_t, long, int))                                         \
  X(int, mq_send, "", (mqd_t, const char*, size_t, unsigned))                                     \
  X(int, mq_timedsend, "", (mqd_t, const char*, size_t, unsigned, const struct timespec*))        \
  X(ssize_t, mq_receive, "", (mqd_t, char*, size_t, unsigned*))                                   \
  X(ssize_t, mq_timedreceive, "", (mqd_t, char*, size_t, unsigned*, const struct timespec*))      \
  X(ssize_t, read, "", (int, void*, size_t))                                                      \
  X(ssize_t, readv, "", (int, const struct iovec*, int))                                          \
  X(ssize_t, pread, "", (int, void*, size_t, off_t))                                              \
  X(ssize_t, pread64, "", (int, void*, size_t, off_t))                                            \
  X(ssize_t, preadv, "", (int, const struct iovec*, int, off_t))                                  \
  X(ssize_t, recv, "", (int, void*, size_t, int))                                                 \
  X(ssize_t, recvfrom, "", (int, void*, size_t, int, struct sockaddr*, socklen_t*))               \
  X(ssize_t, recvmsg, "", (int, struct msghdr*, int))                                             \
  X(int, accept, "", (int, struct sockaddr*, socklen_t*))                                         \
  X(int, accept4, "", (int, struct sockaddr*, socklen_t*, int))                                   \
  X(ssize_t, write, "", (int, const void*, size_t))                                               \
  X(ssize_t, writev, "", (int, const struct iovec*, int))                                         \
  X(ssize_t, pwrite, "", (int, const void*, size_t, off_t))                                       \
  X(ssize_t, pwrite64, "", (int, const void*, size_t, off_t))                                     \
  X(ssize_t, pwritev, "", (int, const struct iovec*, int, off_t))                                 \
  X(ssize_t, send, "", (int, const void*, size_t, int))                                           \
  X(ssize_t, sendto, "", (int, const void*, size_t, int, const struct sockaddr*, socklen_t))      \
  X(ssize_t, sendmsg, "", (int, const struct msghdr*, int))                                       \
  X(int, connect, "", (int, const struct sockaddr*, socklen_t))                                   \
  X(int, fsync, "", (int))                                                                        \
  X(int, fdatasync, "", (int))                                                                    \
  X(int, msync, "", (void*, size_t, int))                                                         \
  X(ssize_t, __read_chk, "", (int, void*, size_t, size_t))                                        \
  X(ssize_t, __pread_chk, "", (int, void*, size_t, off_t, size_t))                                \
  X(ssize_t, __pread64_chk, "", (int, void*, size_t, off_t, size_t))                              \
  X(ssize_t, __recv_chk, "", (int, void*, size_t, size_t, int))                                   \
  X(ssize_t, __recvfrom_chk, "", (int, void*, size_t, size_t, int, struct sockaddr*, socklen_t*)) \
  X(int, eventfd_read, "", (int, uint64_t*))                                                      \
  X(int, eventfd_write, "", (int, uint64_t))                                                      \
  X(int, poll, "", (struct pollfd*, nfds_t, int))                                                 \
  X(int, __poll_chk, "", (struct pollfd*, nfds_t, int, size_t))                                   \
  X(int, ppoll, "", (struct pollfd*, nfds_t, const struct timespec*, const sigset_t*))            \
  X(int, __ppoll_chk, "",                                                                         \
    (struct pollfd*, nfds_t, const struct timespec*, const sigset_t*, size_t))                    \
  X(int, select, "", (int, fd_set*, fd_set*, fd_set*, struct timeval*))                           \
  X(int, pselect, "", (int, fd_set*, fd_set*, fd_set*, const struct timespec*, const sigset_t*))  \
  X(int, epoll_wait, "", (int, struct epoll_event*, int, int))                                    \
  X(int, epoll_pwait, "", (int, struct epoll_event*, int, int, const sigset_t*))                  \
  X(int, epoll_pwait2, "",                                                                        \
    (int, struct epoll_event*, int, const struct timespec*, const sigset_t*))                     \
  X(int, epoll_ctl, "", (int, int, int, struct epoll_event*))                                     \
  X(int, signalfd, "", (int, const sigset_t*, int))                                               \
  X(int, timerfd_create, "", (int, int))                                                          \
  X(int, socketpair, "", (int, int, int, int*))                                                   \
  X(int, close, "", (int))                                                                        \
  X(int, flock, "", (int, int))                                                                   \
  X(int, lockf, "", (int, int, off_t))                                                            \
  X(int, lockf64, "", (int, int, off_t))                                                          \
  X(int, fcntl, "", (int, int, ...))                                                              \
  X(int, fcntl64, "", (int, int, ...))                                                            \
  X(int, dup2, "", (int, int))                                                                    \
  X(int, dup3, "", (int, int, int))                                                               \
  X(int, kill, "", (pid_t, int))                                                                  \
  X(int, sigqueue, "", (pid_t, int, const union sigval))                                          \
  X(int, pthread_kill, "", (pthread_t, int))                                                      \
  X(int, tgkill, "", (pid_t, pid_t, int))                                                         \
  X(int, sigsuspend, "", (const sigset_t*))                                                       \
  X(int, sigwait, "", (const sigset_t*, int*))                                                    \
  X(int, sigwaitinfo, "", (const sigset_t*, siginfo_t*))                                          \
  X(int, sigtimedwait, "", (const sigset_t*, siginfo_t*, const struct timespec*))                 \
  X(int, pause, "", (void))                                                                       \
  X(pid_t, wait, "", (int*))                                                                      \
  X(pid_t, waitpid, "", (pid_t, int*, int))                                                       \
  X(pid_t, wait3, "", (int*, int, struct rusage*))                                                \
  X(pid_t, wait4, "", (pid_t, int*, int, struct rusage*))                                         \
  X(int, waitid, "", (idtype_t, id_t, siginfo_t*, int))                                           \
  X(void, _exit, "", (int))                                                                       \
  X(void, _Exit, "", (int))                                                                       \
  X(int, __io_uring_get_cqe, "",                                                                  \
    (struct io_uring*, struct io_uring_cqe**, unsigned, unsigned, sigset_t*))                     \
  X(int, io_uring_wait_cqes, "",                                                                  \
    (struct io_uring*, struct io_uring_cqe**, unsigned, struct __kernel_timespec*, sigset_t*))    \
  X(int, io_uring_wait_cqe_timeout, "",                                                           \
    (struct io_uring*, struct io_uring_cqe**, struct __kernel_timespec*))                         \
  X(int, io_uring_submit_and_wait, "", (struct io_uring*, unsigned))                              \
  X(int, io_uring_submit_and_wait_timeout, "",                                                    \
    (struct io_uring*, struct io_uring_cqe**, unsigned, struct __kernel_timespec*, sigset_t*))    \
  X(void, GOMP_parallel, "", (void (*)(void*), void*, unsigned, unsigned))                        \
  X(void, GOMP_parallel_sections, "", (void (*)(void*), void*, unsigned, unsigned, unsigned))     \
  X(void, GOMP_parallel_loop_static, "",                                                          \
    (void (*)(void*), void*, unsigned, long, long, long, long, unsigned))                         \
  X(void, GOMP_parallel_loop_dynamic, "",                                                         \
    (void (*)(void*), void*, unsigned, long, long, long, long, unsigned))                         \
  X(void, GOMP_parallel_loop_guided, "",                                                          \
    (void (*)(void*), void*, unsigned, long, long, long, long, unsigned))                         \
  X(void, GOMP_parallel_loop_nonmonotonic_dynamic, "",                                            \
    (void (*)(void*), void*, unsigned, long, long, long, long, unsigned))                         \
  X(void, GOMP_parallel_loop_nonmonotonic_guided, "",                                             \
    (void (*)(void*), void*, unsigned, long, long, long, long, unsigned))                         \
  X(void, GOMP_parallel_loop_runtime, "",                                                         \
    (void (*)(void*), void*, unsigned, long, long, long, unsigned))                               \
  X(void, GOMP_parallel_loop_nonmonotonic_runtime, "",                                            \
    (void (*)(void*), void*, unsigned, long, long, long, unsigned))                               \
  X(void, GOMP_parallel_loop_maybe_nonmonotonic_runtime, "",                                      \
    (void (*)(void*), void*, unsigned, long, long, long, unsigned))                               \
  X(void, GOMP_barrier, "", (void))                                                               \
  X(void, GOMP_loop_end, "", (void))                                                              \
  X(void, GOMP_sections_end, "", (void))                                                          \
  X(void, GOMP_critical_start, "", (void))                                                        \
  X(void, GOMP_critical_end, "", (void))                                                          \
  X(void, GOMP_critical_name_start, "", (void**))                                                 \
  X(void, GOMP_critical_name_end, "", (void**))                                                   \
  X(void, omp_set_lock, "", (void*))                                                              \
  X(int, omp_test_lock, "", (void*))                                                              \
  X(void, omp_unset_lock, "", (void*))                                                            \
  X(void, omp_set_nest_lock, "", (void*))                                                         \
  X(int, omp_test_nest_lock, "", (void*))                                                         \
  X(void, omp_unset_nest_lock, "", (void*))

// A function that this libc lacks, or whose library the program does not use, is NULL.
struct vprof_real {
#define VPROF_REAL_MEMBER(result, name, version, parameters) result(*name) parameters;
  VPROF_REAL_FUNCTIONS(VPROF_REAL_MEMBER)
#undef VPROF_REAL_MEMBER
};

extern struct vprof_real vprof_real;

// Looks all of them up. Concurrent calls are harmless: they find the same addresses. It calls
// dlsym(), so it is not safe in a signal handler; the constructor has called it by then.
void vprof_real_init(void);

// Any thread, also before our constructor: other libraries' constructors may take locks earlier.
static inline const struct vprof_real* vprof_real_functions(void) {
  if (__builtin_expect(__atomic_load_n(&vprof_real.pthread_mutex_lock, __ATOMIC_ACQUIRE) == NULL,
                       0)) {
    vprof_real_init();
  }
  return &vprof_real;
}

#endif
