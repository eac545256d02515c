#define _GNU_SOURCE
#include "interpose/waiters.h"

#include <errno.h>
#include <sys/mman.h>

#include "preemption/preempted.h"

struct vprof_waiters* vprof_waiters;

void vprof_waiters_init(void) {
  void* table = mmap(NULL, (sizeof(struct vprof_waiters) << VPROF_WAITERS_BITS) + VPROF_PAGE_BYTES,
                     PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (table != MAP_FAILED) {
    vprof_waiters = table;
  }
}

struct vprof_wait vprof_wait_begin(uint32_t event, uint64_t object, bool shared) {
  const struct vprof_wait wait = {.waiters = vprof_waiters_of(object),
                                  .start = vprof_event_time(),
                                  .object = object,
                                  .aux = shared ? VPROF_AUX_SHARED : 0,
                                  .event = event};
  atomic_fetch_add(&wait.waiters->count, 1);
  return wait;
}

static void write_slots(const struct vprof_wait* wait, uint64_t end, uint64_t sequence) {
  const int errno_before = errno;
  const uint64_t start = wait->start;
  const struct vprof_slot slots[4] = {
      vprof_slot_of(wait->event, start, end > start ? end - start : 0),
      vprof_slot_of(VPROF_EV_CONT, wait->object, wait->aux),
      vprof_slot_of(VPROF_EV_CONT, sequence, wait->limit),
      vprof_slot_of(VPROF_EV_CONT, wait->mutex, wait->mutex_aux)};
  vprof_write(slots, wait->mutex != 0 ? 4 : 3);
  ++vprof_self.waits;
  errno = errno_before;
}

void vprof_wait_write(const struct vprof_wait* wait, uint64_t end) {
  const uint64_t object = wait->object;
  write_slots(wait, end, object != 0 ? atomic_load(&vprof_waiters_of(object)->sequence) : 0);
}

struct vprof_wait vprof_call_begin(uint32_t event, uint64_t object, bool shared) {
  struct vprof_wait wait = vprof_wait_begin(event, object, shared);
  wait.least_us = VPROF_LEAST_WAIT_US;
  return wait;
}

void vprof_wait_end(struct vprof_wait* wait) {
  const uint64_t sequence = atomic_load(&wait->waiters->sequence);
  const uint64_t now = vprof_ticks();
  atomic_fetch_sub(&wait->waiters->count, 1);
  if (wait->mutex != 0) {
    atomic_fetch_sub(&vprof_waiters_of(wait->mutex)->returning, 1);
  }
  const bool waited =
      wait->event != 0 && now - wait->start >= vprof_ticks_per_second / 1000000 * wait->least_us;
  if (waited) {
    write_slots(wait, now, sequence);
  }
  // A condition wait may block for the condition and then for its mutex.
  const bool several = wait->event == VPROF_EV_WAIT_FILE || wait->event == VPROF_EV_WAIT_COND;
  const enum vprof_waited how = several ? VPROF_WAITED_OFTEN : VPROF_WAITED_ONCE;
  vprof_wait_over(now - wait->start, waited ? how : VPROF_WAITED_UNRECORDED);
}

void vprof_acquire_write(uint32_t event, uint64_t payload, uint64_t object, bool shared) {
  const int errno_before = errno;
  const struct vprof_slot slots[2] = {
      vprof_slot_of(event, vprof_ticks(), payload),
      vprof_slot_of(VPROF_EV_CONT, object, shared ? VPROF_AUX_SHARED : 0)};
  vprof_write(slots, 2);
  errno = errno_before;
}

void vprof_release_take(struct vprof_release* release) {
  release->sequence = atomic_fetch_add(&release->waiters->sequence, 1) + 1;
  release->time = vprof_ticks();
}

void vprof_release_write(const struct vprof_release* release, uint32_t event, uint64_t payload) {
  const int errno_before = errno;
  const struct vprof_slot slots[3] = {vprof_slot_of(event, release->time, payload),
                                      vprof_slot_of(VPROF_EV_CONT, release->object, release->aux),
                                      vprof_slot_of(VPROF_EV_CONT, release->sequence, 0)};
  vprof_write(slots, 3);
  errno = errno_before;
}
