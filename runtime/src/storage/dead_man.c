// Order. The number of gaps grows before heartbeat_ns becomes 0, and that before the sites are off,
// and that before the count of times that they were switched off. So a thread that finds somebody
// driving again also finds the new number of gaps. And a driver that was only slow, and stores its
// heartbeat and its sites while this is going on, finds the count changed at its next heartbeat and
// stores its sites again.
//
// Of several processes that find the driver dead, one stores the 0. It may be killed before it has
// switched the sites off. So every process that finds that nobody drives looks at the sites, and
// stores only to those that are on.
#include "storage/dead_man.h"

enum { kPage = 4096, kWord = sizeof(uint64_t) };

static uint64_t* word_of(const struct vprof_dead_man* man, uint32_t at) {
  return (uint64_t*)(man->sites + at);
}

static bool is_off(const struct vprof_dead_man* man, uint32_t page) {
  uint64_t any = 0;
  for (uint32_t at = page; at < page + kPage; at += kWord) {
    any |= __atomic_load_n(word_of(man, at), __ATOMIC_RELAXED);
  }
  return any == 0;
}

bool vprof_dead_man_switch_off(const struct vprof_dead_man* man) {
  bool any = false;
  for (uint32_t page = 0; page < VPROF_FRONTIER_SITES; page += kPage) {
    if (is_off(man, page)) {
      continue;  // perhaps a hole in the file, for which a full disk has no room
    }
    if (!man->prepare(man->sites + page)) {
      return false;
    }
    for (uint32_t at = page; at < page + kPage; at += kWord) {
      if (__atomic_load_n(word_of(man, at), __ATOMIC_RELAXED) != 0) {
        __atomic_store_n(word_of(man, at), 0, __ATOMIC_RELAXED);
      }
    }
    any = true;
  }
  if (any) {
    if (!man->prepare(man->header)) {
      return false;
    }
    __atomic_fetch_add(&man->header->switched_off, 1, __ATOMIC_RELEASE);
  }
  return true;
}

// A heartbeat from the future is no better: the clock of another machine, or garbage.
static bool is_stale(const struct vprof_dead_man* man, uint64_t heartbeat, uint64_t now) {
  const uint64_t age = now > heartbeat ? now - heartbeat : heartbeat - now;
  return age > man->stale_ns;
}

enum vprof_dead_man_result vprof_dead_man_check(const struct vprof_dead_man* man, uint64_t now) {
  struct vprof_frontier_header* header = man->header;
  uint64_t heartbeat = __atomic_load_n(&header->heartbeat_ns, __ATOMIC_ACQUIRE);
  if (heartbeat != 0 && !is_stale(man, heartbeat, now)) {
    return VPROF_DEAD_MAN_DRIVEN;
  }
  if (heartbeat != 0) {
    if (!man->prepare(header)) {
      return VPROF_DEAD_MAN_STUCK;
    }
    __atomic_fetch_add(&header->gaps, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&header->undriven, 1, __ATOMIC_RELAXED);
    if (!__atomic_compare_exchange_n(&header->heartbeat_ns, &heartbeat, 0, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE) &&
        heartbeat != 0) {
      return VPROF_DEAD_MAN_DRIVEN;  // it was only slow: a gap of no length
    }
  }
  return vprof_dead_man_switch_off(man) ? VPROF_DEAD_MAN_UNDRIVEN : VPROF_DEAD_MAN_STUCK;
}
