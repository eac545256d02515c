// C++20 coroutines: which interval and which frames go with a coroutine from thread to thread.
//
//   thread 1   begin |==== f ====| co_await g()
//                                 begin |== g ==| co_await timer     g is awaited by f
//   thread 2                                       resume |== g ==| end
//                                                          resume |== f ==| end
//
// From where a coroutine begins or goes on to where it is suspended is one frame of its function,
// recorded when it is suspended. Around it come frames of the same length for the coroutines that
// await it. So g is below f also where no f is on the stack. The frame ends, and the thread leaves
// the interval, before the operand of the co_await is evaluated: what happens in between can be
// seen only by the awaitable, whose type must stay what it is.
//
// Who awaits whom. A coroutine that begins while the operand of a co_await is evaluated, or right
// after that, is awaited by the coroutine that came to the co_await if the text says so: the
// operand is a call of it (CALL), or contains one (HAND) and the stack shows that the co_await is
// still being evaluated. Another coroutine that happens to begin then is none of its business.
//
// A thread that has waited or polled since then has left the co_await. The same holds if it has
// resumed another coroutine.
#include <string.h>

#include "recording/buffer.h"
#include "recording/intervals.h"
#include "storage/trace.h"
#include "vprof/runtime/coroutine.h"
#include "vprof/runtime/events.h"

// A frame that ended at `end`, as vprof_record_to() writes it.
static void write_frame(unsigned site, uint64_t start, uint64_t end) {
  if (!vprof_site_on[site]) {
    return;
  }
  const uint64_t duration = end - start;
  const uint64_t taken = vprof_take_slots(&vprof_thread_buffer, 1);
  if (vprof_free_slots(taken) < 1 || duration > VPROF_PAYLOAD_MAX) {
    vprof_rt_frame(site, start, duration, taken);
    return;
  }
  vprof_store_slot(vprof_slot_address(taken), start, duration << VPROF_ID_BITS | site);
}

static void add_caller(struct vprof_callers* callers, unsigned site) {
  if (site == 0) {
    return;
  }
  if (callers->count == VPROF_COROUTINE_CALLERS) {
    memmove(callers->sites, callers->sites + 1, (VPROF_COROUTINE_CALLERS - 1) * sizeof(unsigned));
    --callers->count;
  }
  callers->sites[callers->count++] = site;
}

static void forget_awaiting(void) {
  for (int i = 0; i < VPROF_AWAITING; ++i) {
    vprof_self.awaiting[i].coroutine = NULL;
  }
}

// The payload of a mark: where the interval was left.
static uint64_t payload_of_mark(uint64_t flags, unsigned place) {
  return (flags & VPROF_INTERVAL_PROCESS_LOCAL) | VPROF_INTERVAL_COROUTINE |
         (uint64_t)place << VPROF_SUSPENSION_SHIFT;
}

// From now on the thread runs the coroutine, and works for what it works for. `place`: 1 + the
// suspension that ends with it; 0: none.
static void run(struct vprof_coroutine* c, unsigned place) {
  struct vprof_thread* const self = &vprof_self;
  const uint64_t id = c->work_id;
  const uint64_t flags = c->work_flags;
  c->before_id = self->work_id;
  c->before_flags = self->work_flags;
  c->outer = self->coroutine;
  self->coroutine = c;
  c->start = 0;
  if (id != self->work_id || flags != self->work_flags) {
    c->start = vprof_mark_write(VPROF_EV_SWITCH, 0, id, payload_of_mark(flags, place));
    vprof_work_for(id, flags);
  }
  if (c->start == 0) {
    c->start = vprof_event_time();
  }
}

// The thread has run the coroutine up to now, and returns to what it did before.
static void leave(struct vprof_coroutine* c) {
  struct vprof_thread* const self = &vprof_self;
  const uint64_t now = vprof_now(&vprof_thread_buffer, c->start);
  write_frame(c->site, c->start, now);
  for (unsigned i = c->nested ? 0 : c->callers.count; i-- > 0;) {
    write_frame(c->callers.sites[i], c->start, now);
  }
  c->start = 0;
  c->nested = 0;
  c->work_id = self->work_id;
  c->work_flags = self->work_flags;
  if (self->coroutine == c) {
    self->coroutine = c->outer;
  }
  if (c->before_id != self->work_id || c->before_flags != self->work_flags) {
    vprof_mark_write(VPROF_EV_SWITCH, 0, c->before_id, payload_of_mark(c->before_flags, 0));
    vprof_work_for(c->before_id, c->before_flags);
  }
}

// Whether the co_await names the function, and it has not begun yet. One that is named twice may
// begin twice.
static bool begins_for(struct vprof_awaiting* a, unsigned function) {
  for (unsigned i = 0; a->expected[i] != 0 && i < 64; ++i) {
    const uint64_t bit = UINT64_C(1) << i;
    if (a->expected[i] == function && (a->begun & bit) == 0) {
      a->begun |= a->awaits == VPROF_AWAIT_IS_CALL ? ~UINT64_C(0) : bit;
      return true;
    }
  }
  return false;
}

// The thread is still where it came to the co_await, as far as it has recorded anything since.
static bool is_fresh(const struct vprof_awaiting* a) {
  return a->coroutine != NULL && a->polled == vprof_self.polled && a->waits == vprof_self.waits;
}

// The co_await because of which this function begins. NULL: none. `here`: an address in the stack
// frame of the function, which is below that of the co_await if that is still being evaluated.
static struct vprof_awaiting* awaiting_of(unsigned function, uintptr_t here) {
  for (int i = 0; i < VPROF_AWAITING; ++i) {
    struct vprof_awaiting* const a = &vprof_self.awaiting[i];
    if (is_fresh(a) && (a->awaits == VPROF_AWAIT_IS_CALL || here < a->frame) &&
        begins_for(a, function)) {
      return a;
    }
  }
  return NULL;
}

static void continue_for(struct vprof_coroutine* c, const struct vprof_awaiting* a) {
  c->work_id = a->work_id;
  c->work_flags = a->work_flags;
  c->interval = a->interval;
  c->callers = a->callers;
}

void vprof_rt_coroutine_begin(struct vprof_coroutine* c) {
  if (!vprof_active()) {
    return;
  }
  const struct vprof_coroutine* const around = vprof_self.coroutine;
  struct vprof_awaiting* const a = awaiting_of(c->function, (uintptr_t)__builtin_frame_address(0));
  unsigned place = 0;
  if (a != NULL) {
    continue_for(c, a);
    place = a->suspension + 1;
  } else {
    forget_awaiting();
    c->work_id = vprof_self.work_id;
    c->work_flags = vprof_self.work_flags;
    if (around != NULL) {
      c->interval = around->interval;
      c->callers = around->callers;
      add_caller(&c->callers, around->site);
    }
    c->nested = 1;
  }
  run(c, place);
}

void vprof_rt_coroutine_suspend(struct vprof_coroutine* c, unsigned suspension, int awaits,
                                const unsigned* expected) {
  if (!vprof_active()) {
    return;
  }
  if (c->start ==
      0) {  // it goes on in the middle of an expression, or since tracing was switched on
    vprof_rt_coroutine_resume(c);
  }
  struct vprof_thread* const self = &vprof_self;
  struct vprof_awaiting a = {
      .coroutine = c,
      .work_id = self->work_id,
      .work_flags = self->work_flags,
      .frame = (uintptr_t)__builtin_frame_address(0),
      .expected = expected,
      .polled = self->polled,
      .waits = self->waits,
      .suspension = suspension,
      .awaits = awaits,
      .interval = c->interval,
      .callers = c->callers,
  };
  add_caller(&a.callers, c->site);
  c->suspension = suspension;
  c->awaits = awaits;
  leave(c);
  if (awaits == VPROF_AWAIT_IS_YIELD) {
    return;  // what resumes after a yield is not part of it
  }
  self->awaiting[1] = self->awaiting[0];
  self->awaiting[0] = a;
}

// A generator works for whoever takes its next value: a coroutine that has just awaited it, or what
// the thread does anyway.
static void serve(struct vprof_coroutine* c) {
  const struct vprof_awaiting* const a = &vprof_self.awaiting[0];
  c->nested = !is_fresh(a);
  if (c->nested) {
    c->work_id = vprof_self.work_id;
    c->work_flags = vprof_self.work_flags;
    return run(c, 0);
  }
  continue_for(c, a);
  run(c, a->suspension + 1);
}

void vprof_rt_coroutine_resume(struct vprof_coroutine* c) {
  if (c->start != 0 || !vprof_active()) {
    return;
  }
  if (c->awaits == VPROF_AWAIT_IS_YIELD) {
    return serve(c);
  }
  forget_awaiting();
  run(c, c->suspension + 1);
}

void vprof_rt_coroutine_end(struct vprof_coroutine* c) {
  if (c->start != 0 && vprof_active()) {
    leave(c);
  }
}

// A coroutine inside another one of its definition is part of that.
void vprof_rt_coroutine_interval_begin(struct vprof_coroutine* c,
                                       struct vprof_interval_scope* scope) {
  scope->id = 0;
  vprof_count_begun();
  if (!vprof_active() || (c->interval == scope->def + 1 && vprof_self.work_id != 0)) {
    return;
  }
  scope->id = vprof_fresh_id();
  scope->previous = vprof_self.work_id;
  scope->previous_flags = vprof_self.work_flags;
  c->interval = scope->def + 1;
  vprof_mark_write(VPROF_EV_BEGIN, scope->def, scope->id,
                   payload_of_mark(VPROF_INTERVAL_PROCESS_LOCAL, 0));
  vprof_work_for(scope->id, VPROF_INTERVAL_PROCESS_LOCAL);
}

void vprof_rt_coroutine_interval_end(struct vprof_interval_scope* scope) {
  if (scope->id == 0 || !vprof_is_own_id(scope->id) || !vprof_active()) {
    return;
  }
  vprof_mark_write(VPROF_EV_END, scope->def, scope->id,
                   payload_of_mark(VPROF_INTERVAL_PROCESS_LOCAL, 0));
  vprof_work_for(scope->previous, scope->previous_flags);
  if (scope->previous != 0) {
    vprof_mark_write(VPROF_EV_SWITCH, scope->def, scope->previous,
                     payload_of_mark(scope->previous_flags, 0));
  }
}
