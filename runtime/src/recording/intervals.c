// Intervals: from annotations, and those that the configuration names.
//
// VPROF_INTERVAL scopes and longjmp. PostgreSQL leaves exec_simple_query by siglongjmp at every
// error, so a scope may never be closed. The thread keeps a list of its open scopes with their
// frame addresses. Stacks grow down: when a scope is entered whose frame is higher than that of a
// listed one, or which is the very same object, the listed one has been left. Its interval gets no
// END, since nobody knows when it ended, and is reported as incomplete. Until then the thread
// counts as working for it.
//
// On other stacks (coroutines, signal stacks) addresses say less. At worst a nested activation then
// becomes an interval or the other way round; no state is damaged.
#include "recording/intervals.h"

#include <string.h>

#include "recording/buffer.h"
#include "storage/trace.h"
#include "vprof/runtime/events.h"

// Without this the annotations are empty functions; they are defined below.
#define VPROF_ENABLED
#include "vprof/annotations.h"

enum { kPidShift = 40 };

static void store(uintptr_t at, struct vprof_slot slot) {
  vprof_store_slot(at, slot.word0, slot.word1);
}

// How many others the thread of an event loop has begun or resumed since its poll returned. Each
// descriptor that the poll found is good for one: what comes after that many was not ready then.
static uint64_t begun_before(uint64_t id) {
  struct vprof_thread* self = &vprof_self;
  const uint64_t count = self->begun & ~VPROF_NO_BATCH;
  if (id == 0) {
    return self->begun;
  }
  if (id == self->begun_last) {
    return self->begun - 1;
  }
  const uint64_t before = self->begun | (count >= self->ready ? VPROF_NO_BATCH : 0);
  self->begun_last = id;
  self->begun = before + 1;
  return before;
}

// An interval begins once there is room for its BEGIN: the first one of a thread makes its chunk,
// and the first one of a process the file. Of the thread of an event loop it is recorded since when
// the loop has been busy.
uint64_t vprof_mark_write(uint32_t event, unsigned def, uint64_t id, uint64_t payload) {
  const bool ends = event == VPROF_EV_END;
  const bool polled = !ends && vprof_self.polled != 0;
  uint64_t time = ends ? vprof_event_time() : 0;
  const uint64_t before = polled ? begun_before(id) : 0;
  const uintptr_t at = vprof_reserve(polled ? 3 : 2);
  if (at != 0) {
    time = ends ? time : vprof_event_time();
    const struct vprof_slot head = vprof_slot_of(event, time, payload);
    if (polled) {
      store(at + 2 * sizeof head, vprof_slot_of(VPROF_EV_CONT, vprof_self.polled, before));
    }
    store(at + sizeof head, vprof_slot_of(VPROF_EV_CONT, id, def));
    store(at, head);
  }
  return time;
}

void vprof_count_begun(void) {
  if (atomic_load_explicit(&vprof_trace.state, memory_order_relaxed) != VPROF_OPEN) {
    return;
  }
  const uint32_t count = vprof_self.serial % VPROF_BEGUN_COUNTS;
  uint64_t* begun = &vprof_trace.header->begun[count].intervals;
  __atomic_store_n(begun, __atomic_load_n(begun, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

void vprof_work_for(uint64_t id, uint64_t flags) {
  vprof_self.work_id = id;
  vprof_self.work_flags = id != 0 ? flags : 0;
}

// What happened in a gap of a live run was not recorded. So what the thread works for since before
// it is not known; its own intervals may have ended and begun again.
static void notice_gap(void) {
  struct vprof_thread* self = &vprof_self;
  const uint64_t gaps = vprof_gaps();
  if (__builtin_expect(self->gaps == gaps, 1)) {
    return;
  }
  self->gaps = gaps;
  vprof_work_for(0, 0);
  self->polled = 0;
  memset(self->own, 0, sizeof self->own);
}

static void mark(int what, unsigned def, uint64_t id, uint64_t flags) {
  static const uint32_t events[] = {VPROF_EV_BEGIN, VPROF_EV_END, VPROF_EV_SWITCH};
  if (what < VPROF_WHAT_BEGIN || what > VPROF_WHAT_SWITCH) {
    return;
  }
  if (!vprof_active() || (id == 0 && what != VPROF_WHAT_SWITCH)) {
    return;
  }
  notice_gap();
  vprof_mark_write(events[what], def, id, flags);
  if (what != VPROF_WHAT_END) {
    vprof_work_for(id, flags);
  } else if (vprof_self.work_id == id) {
    vprof_work_for(0, 0);
  }
}

// A LABEL or a TRACE_CONTEXT.
static void text_of(uint32_t event, uint64_t id, uint64_t flags, const char* text) {
  if (!vprof_active() || id == 0 || text == NULL) {
    return;
  }
  if (event == VPROF_EV_TRACE_CONTEXT && text[0] == 0) {
    return;  // so libraries say that there is no span
  }
  struct vprof_slot slots[2 + (VPROF_LABEL_MAX + 7) / 8];
  const size_t length = strnlen(text, VPROF_LABEL_MAX);
  unsigned count = 0;
  slots[count++] = vprof_slot_of(event, vprof_ticks(), length);
  slots[count++] = vprof_slot_of(VPROF_EV_CONT, id, flags);
  for (size_t at = 0; at < length; at += 8) {
    uint64_t part = 0;
    for (size_t i = at; i < length && i < at + 8; ++i) {
      // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): i < strnlen(text)
      part |= (uint64_t)(unsigned char)text[i] << 8 * (i - at);
    }
    slots[count++] = vprof_slot_of(VPROF_EV_CONT, part, 0);
  }
  vprof_write(slots, count);
}

static void work(uint64_t id, uint64_t flags, uint64_t units) {
  if (!vprof_active() || id == 0 || units == 0) {
    return;
  }
  const struct vprof_slot slots[3] = {vprof_slot_of(VPROF_EV_WORK, vprof_ticks(), flags),
                                      vprof_slot_of(VPROF_EV_CONT, id, 0),
                                      vprof_slot_of(VPROF_EV_CONT, units, 0)};
  vprof_write(slots, 3);
}

static void number_of(uint32_t event, uint64_t id, uint64_t flags, int64_t number) {
  char text[24];
  char* at = text + sizeof text;
  *--at = 0;
  uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
  do {
    *--at = (char)('0' + rest % 10);
  } while ((rest /= 10) != 0);
  if (number < 0) {
    *--at = '-';
  }
  text_of(event, id, flags, at);
}

// The configuration asks for labels and for trace contexts by the same functions.
static uint32_t event_of(unsigned def) {
  return (def & VPROF_IS_TRACE_CONTEXT) != 0 ? VPROF_EV_TRACE_CONTEXT : VPROF_EV_LABEL;
}

// ---- annotations: ids are the same in all processes; the index in sites.json is 0

VPROF_RT_API void vprof_begin(uint64_t id) {
  vprof_count_begun();
  mark(VPROF_WHAT_BEGIN, 0, id, 0);
}
VPROF_RT_API void vprof_end(uint64_t id) { mark(VPROF_WHAT_END, 0, id, 0); }
VPROF_RT_API void vprof_switch(uint64_t id) { mark(VPROF_WHAT_SWITCH, 0, id, 0); }
VPROF_RT_API void vprof_label(uint64_t id, const char* text) {
  text_of(VPROF_EV_LABEL, id, 0, text);
}
VPROF_RT_API void vprof_work(uint64_t id, uint64_t units) {
  // The current interval may be one from the configuration, whose id is local to this process.
  const bool current = id == 0;
  notice_gap();
  work(current ? vprof_self.work_id : id, current ? vprof_self.work_flags : 0, units);
}

VPROF_RT_API void vprof_trace_context(uint64_t id, const char* traceparent) {
  const bool current = id == 0;
  notice_gap();
  text_of(VPROF_EV_TRACE_CONTEXT, current ? vprof_self.work_id : id,
          current ? vprof_self.work_flags : 0, traceparent);
}

VPROF_RT_API struct vprof_working_for vprof_current_work(void) {
  notice_gap();
  const struct vprof_working_for work = {vprof_self.work_id, vprof_self.work_flags};
  return work;
}

VPROF_RT_API void vprof_resume_work(struct vprof_working_for work) {
  if (work.id == vprof_self.work_id && work.flags == vprof_self.work_flags) {
    return;
  }
  mark(VPROF_WHAT_SWITCH, 0, work.id, work.flags);
}

// Pids have 22 bits.
uint64_t vprof_fresh_id(void) {
  static atomic_uint_fast64_t count;
  return ((uint64_t)(uint32_t)vprof_trace.pid << kPidShift | VPROF_RUNTIME_ID) +
         atomic_fetch_add(&count, 1) + 1;
}

bool vprof_is_own_id(uint64_t id) {
  return ((id >> kPidShift) & 0x3fffff) == ((uint64_t)(uint32_t)vprof_trace.pid & 0x3fffff);
}

// The id behind VPROF_THREAD_KEY. An END without an open interval gets an id that was never begun,
// and is reported as incomplete; so is one that a child of fork has inherited.
static uint64_t own_interval(int what, unsigned def) {
  struct vprof_own* own = vprof_self.own;
  for (unsigned i = 0; i < VPROF_OWN_INTERVALS; ++i) {
    if (vprof_self.own[i].id != 0 && vprof_self.own[i].def == def) {
      own = &vprof_self.own[i];
      break;
    }
    if (vprof_self.own[i].id == 0) {
      own = &vprof_self.own[i];
    }
  }
  const uint64_t open = own->def == def && vprof_is_own_id(own->id) ? own->id : 0;
  if (what == VPROF_WHAT_SWITCH) {
    return open;
  }
  const uint64_t id = what == VPROF_WHAT_END && open != 0 ? open : vprof_fresh_id();
  own->def = def;
  own->id = what == VPROF_WHAT_BEGIN ? id : 0;
  return id;
}

// ---- from the configuration

void vprof_rt_interval(int what, unsigned def, uint64_t key) {
  if (what == VPROF_WHAT_BEGIN) {
    vprof_count_begun();
  }
  if (key == VPROF_THREAD_KEY && vprof_active()) {
    notice_gap();
    key = own_interval(what, def);
  }
  mark(what, def, key, VPROF_INTERVAL_PROCESS_LOCAL);
}

// The id alone identifies the interval in the trace.
void vprof_rt_label(unsigned def, uint64_t key, const char* text) {
  text_of(event_of(def), key, VPROF_INTERVAL_PROCESS_LOCAL, text);
}

void vprof_rt_label_int(unsigned def, uint64_t key, int64_t number) {
  number_of(event_of(def), key, VPROF_INTERVAL_PROCESS_LOCAL, number);
}

void vprof_rt_label_current(unsigned def, const char* text) {
  notice_gap();
  text_of(event_of(def), vprof_self.work_id, vprof_self.work_flags, text);
}

void vprof_rt_label_current_int(unsigned def, int64_t number) {
  notice_gap();
  number_of(event_of(def), vprof_self.work_id, vprof_self.work_flags, number);
}

// Removes the activations that a longjmp has left. True: one of the same definition is still open.
static bool is_nested(const struct vprof_interval_scope* scope, uintptr_t frame) {
  struct vprof_thread* self = &vprof_self;
  while (self->activations > 0) {
    const struct vprof_activation* top = &self->activation[self->activations - 1];
    if (top->frame > frame || (top->frame == frame && top->scope != scope)) {
      break;
    }
    --self->activations;
  }
  for (uint32_t i = 0; i < self->activations; ++i) {
    if (self->activation[i].def == scope->def) {
      return true;
    }
  }
  return false;
}

void vprof_rt_interval_enter(struct vprof_interval_scope* scope, void* frame_address) {
  struct vprof_thread* self = &vprof_self;
  const uintptr_t frame = (uintptr_t)frame_address;
  scope->id = 0;
  vprof_count_begun();
  if (!vprof_active() || is_nested(scope, frame)) {
    return;
  }
  notice_gap();
  scope->id = vprof_fresh_id();
  scope->previous = self->work_id;
  scope->previous_flags = self->work_flags;
  if (self->activations < VPROF_ACTIVATIONS) {
    const struct vprof_activation activation = {frame, scope, scope->def};
    self->activation[self->activations++] = activation;
  }
  mark(VPROF_WHAT_BEGIN, scope->def, scope->id, VPROF_INTERVAL_PROCESS_LOCAL);
}

void vprof_rt_interval_leave(struct vprof_interval_scope* scope) {
  struct vprof_thread* self = &vprof_self;
  if (scope->id == 0 || !vprof_is_own_id(scope->id)) {
    return;  // not ours: a child of fork leaves its parent's interval
  }
  for (uint32_t i = self->activations; i-- > 0;) {
    if (self->activation[i].scope != scope) {
      continue;
    }
    self->activations = i;  // longjmp left those above it
    break;
  }
  mark(VPROF_WHAT_END, scope->def, scope->id, VPROF_INTERVAL_PROCESS_LOCAL);
  if (scope->previous != 0) {
    mark(VPROF_WHAT_SWITCH, scope->def, scope->previous, scope->previous_flags);
  }
}
