// Linked after libvprof and before libc, so libvprof takes these for libc's functions. A scenario
// can therefore act at exactly the moment it is about: between the runtime's steps and the real
// call, on either side of it.
#define _GNU_SOURCE
#include "gate.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

PUBLIC void (*vprof_test_gate)(const char* function, int is_over);

static void pass(const char* function, int is_over) {
  if (vprof_test_gate != NULL) {
    vprof_test_gate(function, is_over);
  }
}

#define GATE(name, parameters, ...)                             \
  PUBLIC int name parameters {                                  \
    static int(*real) parameters;                               \
    if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, #name); \
    pass(#name, 0);                                             \
    const int result = real(__VA_ARGS__);                       \
    pass(#name, 1);                                             \
    return result;                                              \
  }

GATE(pthread_mutex_lock, (pthread_mutex_t * mutex), mutex)
GATE(pthread_mutex_trylock, (pthread_mutex_t * mutex), mutex)
GATE(pthread_mutex_unlock, (pthread_mutex_t * mutex), mutex)
GATE(pthread_spin_lock, (pthread_spinlock_t * lock), lock)
GATE(fsync, (int fd), fd)
GATE(eventfd_read, (int fd, eventfd_t* count), fd, count)
GATE(eventfd_write, (int fd, eventfd_t count), fd, count)
// Calls that return a number of bytes.
#define GATE_BYTES(name, parameters, ...)                       \
  PUBLIC ssize_t name parameters {                              \
    static ssize_t(*real) parameters;                           \
    if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, #name); \
    pass(#name, 0);                                             \
    const ssize_t result = real(__VA_ARGS__);                   \
    pass(#name, 1);                                             \
    return result;                                              \
  }

GATE_BYTES(recv, (int fd, void* to, size_t n, int flags), fd, to, n, flags)
GATE_BYTES(send, (int fd, const void* from, size_t n, int flags), fd, from, n, flags)
GATE(epoll_wait, (int epoll, struct epoll_event* events, int n, int limit), epoll, events, n, limit)
