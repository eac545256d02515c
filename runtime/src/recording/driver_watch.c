#include "recording/driver_watch.h"

#include <stdbool.h>

#include "base/clock.h"
#include "recording/buffer.h"
#include "recording/hooks.h"
#include "storage/frontier.h"
#include "storage/pool.h"
#include "storage/trace.h"

enum { kSecond = 1000000000, kCountRound = kSecond / 4 };  // ns
enum { kMostThreads = 32 };

struct vprof_driver_watch vprof_driver_watch_begin(void) {
  const struct vprof_driver_watch watch = {vprof_trace.undriven, vprof_trace.header->start_ticks, 0,
                                           vprof_monotonic_ns(), 0};
  return watch;
}

// The time is read before it is asked whether there was a gap, and again after it is known that it
// is over. So all of the gap lies between two such times.
static void look_for_gap(struct vprof_driver_watch* watch, struct vprof_helper_output* out) {
  const uint64_t before = vprof_ticks();
  if (__atomic_load_n(&vprof_frontier->heartbeat_ns, __ATOMIC_ACQUIRE) == 0) {
    return;
  }
  const uint64_t undriven = vprof_undriven();
  if (undriven == watch->undriven) {
    watch->driven_ticks = before;
    return;
  }
  vprof_hook_helper_resume();
  const uint64_t after = vprof_ticks();
  const struct vprof_slot slots[2] = {vprof_slot_of(VPROF_EV_GAP, watch->driven_ticks, 0),
                                      vprof_slot_of(VPROF_EV_CONT, after, 0)};
  vprof_helper_write(out, slots, 2);
  watch->undriven = undriven;
  watch->driven_ticks = after;
}

// Records are counted when they have filled a chunk, which may have taken long, and the chunks of
// several threads may be full at the same time. So the process is above the limit when it is ahead
// of it by a chunk for each thread.
static void look_at_limit(struct vprof_driver_watch* watch, uint64_t now, uint64_t limit) {
  const uint64_t passed = now - watch->counted_ns;
  if (passed < kCountRound) {
    return;
  }
  const uint64_t filled = atomic_load(&vprof_trace.filled);
  const double allowed = (double)limit * (double)passed / kSecond;
  const double ahead = watch->ahead + (double)(filled - watch->filled) - allowed;
  uint64_t threads = __atomic_load_n(&vprof_trace.header->threads, __ATOMIC_RELAXED);
  threads = threads < kMostThreads ? threads : kMostThreads;
  const uint64_t slack = threads * (vprof_chunk_most_bytes() / sizeof(struct vprof_slot));
  const bool above = ahead > (double)slack;
  watch->ahead = ahead < 0 || above ? 0 : ahead;
  watch->filled = filled;
  watch->counted_ns = now;
  if (above) {
    vprof_frontier_enforce_limit();
  }
}

uint64_t vprof_driver_watch_round(struct vprof_driver_watch* watch, struct vprof_helper_output* out,
                                  uint64_t now) {
  const uint64_t dead = vprof_frontier_check(now);
  look_for_gap(watch, out);
  if (dead == UINT64_MAX) {
    return now + kSecond;
  }
  const uint64_t limit =
      __atomic_load_n(&vprof_frontier->most_records_per_second, __ATOMIC_RELAXED);
  if (limit == 0) {
    return dead;
  }
  look_at_limit(watch, now, limit);
  return dead < now + kCountRound ? dead : now + kCountRound;
}
