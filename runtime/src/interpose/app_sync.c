// The application's own locks and queues: from the configuration, and from annotations.
#include "interpose/waiters.h"
#include "recording/buffer.h"
#include "vprof/runtime/events.h"

// Without this the annotations are empty functions; two of them are defined below.
#define VPROF_ENABLED
#include "vprof/annotations.h"

// A shorter acquire in which no wait was recorded counts as uncontended.
enum { kLeastWaitsPerSecond = 1000000 };  // 1 us

static void write_sync(uint32_t event, uint64_t time, uint64_t duration, unsigned def,
                       uint64_t object) {
  const struct vprof_slot slots[3] = {
      vprof_slot_of(event, time, duration),
      vprof_slot_of(VPROF_EV_CONT, object, (uint64_t)def << VPROF_AUX_SYNC_SHIFT),
      vprof_slot_of(VPROF_EV_CONT, 0, 0)};
  vprof_write(slots, 3);
}

void vprof_rt_acquire_enter(struct vprof_acquire_scope* scope) {
  scope->waits = vprof_self.waits;
  const bool timed = scope->object != VPROF_NO_OBJECT && vprof_sync_on(VPROF_CLASS_APP);
  scope->start = timed ? vprof_event_time() : 0;
}

void vprof_rt_acquire_leave(struct vprof_acquire_scope* scope) {
  if (scope->start == 0 || !vprof_sync_on(VPROF_CLASS_APP)) {
    return;
  }
  const uint64_t took = vprof_now(&vprof_thread_buffer, scope->start) - scope->start;
  if (scope->waits == vprof_self.waits && took < vprof_ticks_per_second / kLeastWaitsPerSecond) {
    return;
  }
  write_sync(VPROF_EV_WAIT_APP, scope->start, took, scope->def, scope->object);
}

void vprof_rt_release(unsigned def, uint64_t object) {
  if (object != VPROF_NO_OBJECT && vprof_sync_on(VPROF_CLASS_APP)) {
    write_sync(VPROF_EV_RELEASE_APP, vprof_event_time(), 0, def, object);
  }
}

static void write_task(uint32_t event, unsigned def, uint64_t task) {
  if (!vprof_sync_on(VPROF_CLASS_APP) || task == 0) {
    return;
  }
  const struct vprof_slot slots[2] = {vprof_slot_of(event, vprof_event_time(), def),
                                      vprof_slot_of(VPROF_EV_CONT, task, 0)};
  vprof_write(slots, 2);
}

void vprof_rt_enqueue(unsigned def, uint64_t task) { write_task(VPROF_EV_ENQUEUE, def, task); }
void vprof_rt_dequeue(unsigned def, uint64_t task) {
  write_task(VPROF_EV_DEQUEUE, def, task);
  vprof_self.begun |= task != 0 ? VPROF_NO_BATCH : 0;  // it was ready when somebody else polled
}

// An annotation has no entry in sites.json.
VPROF_RT_API void vprof_task_created(uint64_t task) {
  write_task(VPROF_EV_ENQUEUE, VPROF_SYNC_TASK, task);
}
VPROF_RT_API void vprof_task_taken(uint64_t task) { vprof_rt_dequeue(VPROF_SYNC_TASK, task); }
