// Runs when libvprof is loaded, before almost all of the program's own constructors.
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/real.h"
#include "base/settings.h"
#include "interpose/waiters.h"
#include "preemption/preempted.h"
#include "recording/chunk_ring.h"
#include "recording/fork.h"
#include "recording/helper.h"
#include "storage/frontier.h"
#include "storage/module_tables.h"
#include "storage/sites.h"
#include "storage/trace.h"

static uint64_t new_family(void) {
  return (vprof_clock_read().realtime_ns << 20 ^ (uint64_t)vprof_trace.pid) | 1;
}

__attribute__((constructor)) static void start(void) {
  const int errno_before = errno;
  vprof_real_init();
  bool wanted = vprof_settings_read();
  if (wanted) {
    wanted = vprof_frontier_map() != VPROF_FRONTIER_REFUSED;
  }
  vprof_fork_init(wanted);
  if (wanted) {
    vprof_clock_init();
    vprof_helper_init();
    vprof_ring_init();
    vprof_trace.pid = getpid();
    vprof_settings.family = new_family();
    atomic_store(&vprof_trace.state, VPROF_READY);
    if (vprof_settings.sites || vprof_live()) {
      vprof_settings.sites = true;
      vprof_waiters_init();
      vprof_preemption_init();
    }
    if (vprof_settings.sites && !vprof_live()) {
      vprof_sites_select(getenv("VPROF_SITES"));
    }
    vprof_module_tables_start();
  }
  errno = errno_before;
}
