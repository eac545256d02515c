// When a thread could have run and had no processor, as the helper learns it from the kernel. For
// threads that cannot find out themselves (preempted.h).
#ifndef VPROF_SWITCHES_H
#define VPROF_SWITCHES_H

#include <stdint.h>

// Asks the helper to watch a thread. Any thread, also in signal handlers; never blocks. If too many
// ask at once, the thread is not watched, and counted.
void vprof_switches_ask(uint32_t serial, uint32_t tid);

#endif
