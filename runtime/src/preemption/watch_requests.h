// Threads that cannot find out about their preemption themselves (preempted.c) ask the helper to
// watch them (switches.c).
#ifndef VPROF_WATCH_REQUESTS_H
#define VPROF_WATCH_REQUESTS_H

#include <stdint.h>

// Asks the helper to watch a thread. Any thread, also in signal handlers; never blocks. If too many
// ask at once, the thread is not watched, and counted.
void vprof_watch_request(uint32_t serial, uint32_t tid);

// Passes each request to `watch` and removes it. The helper only.
void vprof_watch_requests_take(void (*watch)(uint32_t tid, uint32_t serial));

#endif
