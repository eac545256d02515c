#include "preemption/watch_requests.h"

#include <stdatomic.h>

#include "base/settings.h"
#include "recording/helper.h"
#include "recording/hooks.h"
#include "storage/chunks.h"
#include "storage/trace.h"

// A mailbox: a thread puts {tid, serial} into a free place, the helper takes it out. 0: free.
enum { kPlaces = 256 };
static atomic_uint_fast64_t requests[kPlaces];
static atomic_bool any;

bool vprof_hook_helper_wanted(void) { return atomic_load(&any); }

void vprof_watch_request(uint32_t serial, uint32_t tid) {
  if (!vprof_settings.sites || (vprof_settings.classes & VPROF_CLASS_PREEMPTION) == 0) {
    return;
  }
  const uint64_t request = (uint64_t)tid << 32 | serial;
  for (unsigned i = 0; i < kPlaces; ++i) {
    uint64_t none = 0;
    const unsigned at = (serial + i) % kPlaces;
    if (atomic_load_explicit(&requests[at], memory_order_relaxed) == 0 &&
        atomic_compare_exchange_strong(&requests[at], &none, request)) {
      atomic_store(&any, true);
      vprof_helper_wake();
      return;
    }
  }
  vprof_count(&vprof_trace.header->unwatched, 1);
}

void vprof_watch_requests_take(void (*watch)(uint32_t tid, uint32_t serial)) {
  if (!atomic_exchange(&any, false)) {
    return;
  }
  for (unsigned i = 0; i < kPlaces; ++i) {
    if (atomic_load_explicit(&requests[i], memory_order_relaxed) == 0) {
      continue;
    }
    const uint64_t request = atomic_exchange(&requests[i], 0);
    if (request != 0) {
      watch((uint32_t)(request >> 32), (uint32_t)request);
    }
  }
}

void vprof_hook_forked(void) {
  atomic_store(&any, false);
  for (unsigned i = 0; i < kPlaces; ++i) {
    atomic_store(&requests[i], 0);
  }
}
