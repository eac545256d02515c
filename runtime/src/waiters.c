#define _GNU_SOURCE
#include "waiters.h"

#include <errno.h>
#include <sys/mman.h>

struct vprof_waiters* vprof_waiters;

void vprof_waiters_init(void) {
  void* table = mmap(NULL, sizeof(struct vprof_waiters) << VPROF_WAITERS_BITS,
                     PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (table != MAP_FAILED) vprof_waiters = table;
}

struct vprof_wait vprof_wait_begin(uint32_t event, uint64_t object, bool shared) {
  const struct vprof_wait wait = {vprof_waiters_of(object), vprof_ticks(), object,
                                  shared ? VPROF_AUX_SHARED : 0, event};
  atomic_fetch_add(&wait.waiters->count, 1);
  return wait;
}

void vprof_wait_end(struct vprof_wait* wait) {
  const uint64_t sequence = atomic_load(&wait->waiters->sequence);
  const uint64_t now = vprof_ticks();
  atomic_fetch_sub(&wait->waiters->count, 1);
  if (wait->event == 0) return;
  const int errno_before = errno;
  const struct vprof_slot slots[3] = {
      vprof_slot_of(wait->event, wait->start, now > wait->start ? now - wait->start : 0),
      vprof_slot_of(VPROF_EV_CONT, wait->object, wait->aux),
      vprof_slot_of(VPROF_EV_CONT, sequence, 0)};
  vprof_write(slots, 3);
  ++vprof_self.waits;
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
