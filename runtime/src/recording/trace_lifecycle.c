#include "recording/trace_lifecycle.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/raw_syscall.h"
#include "base/settings.h"
#include "recording/buffer.h"
#include "recording/helper.h"
#include "storage/pool.h"
#include "storage/sites.h"
#include "storage/trace.h"
#include "storage/trace_file.h"

enum { kPause = 50000 };  // ns

static void note_set_up(uint64_t began) {
  __atomic_store_n(&vprof_trace.header->set_up_ns, vprof_thread_processor_ns() - began,
                   __ATOMIC_RELAXED);
}

static bool start_now(void) {
  struct vprof_trace* trace = &vprof_trace;
  const uint64_t process_began = vprof_process_processor_ns();
  const uint64_t began = vprof_thread_processor_ns();
  vprof_clock_calibrate();
  // After a fork this is the parent's mapping: shared, so it would keep the blocks of its file.
  vprof_trace_file_unmap();
  const int fd = vprof_trace_file_make(process_began);
  if (fd < 0) {
    vprof_sites_give_up();
    atomic_store(&trace->state, VPROF_FAILED);
    return false;
  }
  atomic_store(&trace->next, VPROF_FILE_HEADER_BYTES);
  note_set_up(began);  // once open, another thread may record, and end the process before the rest
  atomic_store(&trace->state, VPROF_OPEN);
  vprof_count_early_drops();
  vprof_pool_start();
  vprof_helper_start(fd);
  close(fd);
  note_set_up(began);
  return true;
}

bool vprof_trace_start(void) {
  struct vprof_trace* trace = &vprof_trace;
  if (vprof_live()) {
    trace->undriven = vprof_undriven();
    if (vprof_frontier_check(vprof_monotonic_ns()) == UINT64_MAX) {
      return false;
    }
  }
  int state = VPROF_READY;
  if (atomic_compare_exchange_strong(&trace->state, &state, VPROF_STARTING)) {
    return start_now();
  }
  // Another thread is starting it. It cannot be one that this code interrupts, since a handler that
  // finds `busy` set does not come here; so it makes progress meanwhile.
  for (uint64_t patience = 4000 * vprof_settings.patience; state == VPROF_STARTING && patience > 0;
       --patience) {
    vprof_pause(kPause);
    state = atomic_load(&trace->state);
  }
  return state == VPROF_OPEN;
}

// A helper that is extending the file at this moment must not do so after the cut. It knows by now
// that it is to stop. If the disk hangs, the program's exit does not: it waits some 0.1 s.
static void wait_for_helper(void) {
  for (uint64_t patience = 2000 * vprof_settings.patience;
       atomic_load(&vprof_trace.extending) && patience > 0; --patience) {
    vprof_pause(kPause);
  }
}

static bool is_ours_to_finish(void) {
  // Under a seccomp filter not even getpid() is certain; a child under one has no trace.
  return atomic_load(&vprof_trace.state) == VPROF_OPEN &&
         (vprof_confined() || getpid() == vprof_trace.pid);
}

// Destructors run from the greatest number to the least. What a parent waits for is the event that
// its child ends (system_calls/child.c, 102), so this comes before it.
__attribute__((destructor(103))) static void finish_helper(void) {
  if (!is_ours_to_finish()) {
    return;
  }
  const uint64_t start = vprof_ticks();
  vprof_helper_finish();
  vprof_write_setup(start);
}

// The file is not cut. Without this, a server whose children live for milliseconds would have no
// processor time to compare the cost of recording with.
void vprof_trace_leave(void) {
  if (is_ours_to_finish() && !vprof_confined()) {
    vprof_trace_file_note_processor_time();
  }
}

__attribute__((destructor(101))) static void finish(void) {
  // Under a filter the file is not cut: it stays sparse, as after a kill, and the header says where
  // it ends.
  if (!is_ours_to_finish() || vprof_confined()) {
    return;
  }
  const uint64_t next = atomic_exchange(&vprof_trace.next, VPROF_CLOSED);
  if (next == VPROF_CLOSED) {
    return;
  }
  wait_for_helper();
  vprof_trace_file_cut(next);
}
