// What a statically linked program gets in place of libvprof: nothing is recorded.
//
// A build may link one helper statically, from objects that are instrumented for the sake of
// others. The runtime cannot be in it: it stands between a program and libc, which is possible only
// for the dynamic linker. So it is linked with this archive, which has the same names.
#include "vprof/runtime/coroutine.h"
#include "vprof/runtime/events.h"
#include "vprof/runtime/record.h"

#define VPROF_ENABLED
#include <vprof/annotations.h>

static const volatile vprof_u64 not_running = 0;

unsigned char vprof_site_on[VPROF_RT_SITES];
unsigned char vprof_no_counter;
__attribute__((weak)) unsigned char vprof_armed;
__thread struct vprof_buffer vprof_thread_buffer = {VPROF_RT_NO_ROOM, &not_running, 0};

vprof_u64 vprof_rt_ticks(void) { return 0; }

void vprof_rt_frame(unsigned id, vprof_u64 start, vprof_u64 duration, vprof_u64 taken) {
  (void)id, (void)start, (void)duration, (void)taken;
}

vprof_u64 vprof_rt_resumed(vprof_u64 since) { return since; }

void vprof_rt_close(vprof_u64* open, vprof_u64* starts, unsigned* ids, unsigned n) {
  (void)open, (void)starts, (void)ids, (void)n;
}

void vprof_rt_set_site(unsigned id, int on) { (void)id, (void)on; }

void vprof_rt_add_table(unsigned char* table) { (void)table; }

void vprof_rt_remove_table(unsigned char* table) { (void)table; }

void vprof_rt_interval(int what, unsigned def, vprof_u64 key) { (void)what, (void)def, (void)key; }

void vprof_rt_label(unsigned def, vprof_u64 key, const char* text) {
  (void)def, (void)key, (void)text;
}

void vprof_rt_label_int(unsigned def, vprof_u64 key, vprof_i64 number) {
  (void)def, (void)key, (void)number;
}

void vprof_rt_label_current(unsigned def, const char* text) { (void)def, (void)text; }

void vprof_rt_label_current_int(unsigned def, vprof_i64 number) { (void)def, (void)number; }

void vprof_rt_release(unsigned def, vprof_u64 object) { (void)def, (void)object; }

void vprof_rt_enqueue(unsigned def, vprof_u64 task) { (void)def, (void)task; }

void vprof_rt_dequeue(unsigned def, vprof_u64 task) { (void)def, (void)task; }

void vprof_rt_interval_enter(struct vprof_interval_scope* scope, void* frame_address) {
  (void)scope, (void)frame_address;
}

void vprof_rt_interval_leave(struct vprof_interval_scope* scope) { (void)scope; }

void vprof_rt_acquire_enter(struct vprof_acquire_scope* scope) { (void)scope; }

void vprof_rt_acquire_leave(struct vprof_acquire_scope* scope) { (void)scope; }

void vprof_begin(uint64_t id) { (void)id; }

void vprof_end(uint64_t id) { (void)id; }

void vprof_switch(uint64_t id) { (void)id; }

void vprof_label(uint64_t id, const char* text) { (void)id, (void)text; }

void vprof_work(uint64_t id, uint64_t units) { (void)id, (void)units; }

void vprof_trace_context(uint64_t id, const char* traceparent) { (void)id, (void)traceparent; }

void vprof_task_created(uint64_t task) { (void)task; }

void vprof_task_taken(uint64_t task) { (void)task; }

struct vprof_working_for vprof_current_work(void) { return (struct vprof_working_for){0}; }

void vprof_resume_work(struct vprof_working_for work) { (void)work; }

void vprof_rt_coroutine_begin(struct vprof_coroutine* coroutine) { (void)coroutine; }

void vprof_rt_coroutine_suspend(struct vprof_coroutine* coroutine, unsigned suspension, int awaits,
                                const unsigned* expected) {
  (void)coroutine, (void)suspension, (void)awaits, (void)expected;
}

void vprof_rt_coroutine_resume(struct vprof_coroutine* coroutine) { (void)coroutine; }

void vprof_rt_coroutine_end(struct vprof_coroutine* coroutine) { (void)coroutine; }

void vprof_rt_coroutine_interval_begin(struct vprof_coroutine* coroutine,
                                       struct vprof_interval_scope* scope) {
  (void)coroutine, (void)scope;
}

void vprof_rt_coroutine_interval_end(struct vprof_interval_scope* scope) { (void)scope; }
