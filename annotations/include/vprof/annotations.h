/* Tells VProfiler what a request is. C and C++.
 *
 *   vprof_begin(id)          the interval (request, transaction) with this id begins; this thread
 *                            now works for it
 *   vprof_end(id)            it is complete
 *   vprof_switch(id)         this thread now works for that interval; 0: for none
 *   vprof_label(id, "text")  its kind, at most 63 bytes; reports tell the kinds apart
 *   vprof_work(id, units)    it does this many units of work (rows, bytes, keys); several calls add
 *                            up. Reports say how much of the variance goes with the amount of work.
 *                            With id 0: the interval this thread works for
 *   vprof_trace_context(id, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
 *                            it belongs to this trace: a W3C traceparent, whose span is the parent
 *                            of the interval, or only the 32 digits of a trace id. Reports name the
 *                            trace, and exports put the interval into it. A null pointer and an
 *                            empty text are none. With id 0: the interval this thread works for
 *   vprof_task_created(task) this thread hands a task over: puts it in a queue, posts it to a pool
 *   vprof_task_taken(task)   this thread takes it
 *
 * Ids are non-zero 64-bit numbers, each used once in a run; all processes of a run share them. A
 * pointer will do if it is not reused before vprof_end. Any thread or process may begin, end or
 * switch to any interval: begin on the thread that accepts a request, switch on each thread that
 * continues it, end where it is answered. Nothing has to be undone: a thread that turns to other
 * work switches to that. An interval that never ends is reported as incomplete.
 *
 * A task is any number or pointer that both sides know, cast to uint64_t, except 0. It may be
 * reused once the task has been taken. With these two calls the critical path of an interval
 * continues from the thread that took a task to the thread that created it.
 *
 * In C++ two guards do the bookkeeping:
 *
 *   vprof::interval request(id, "GET");   begins and labels the interval. At the end of the block
 *                                         it ends, and the thread returns to its previous one
 *   vprof::working_for task(id);          switches. At the end of the block the thread returns to
 *                                         its previous interval
 *
 * Any thread may call them at any time, also in signal handlers. One call costs about as much as
 * two clock readings (some 30 ns). Without -DVPROF_ENABLED, which VProfiler sets for the copy it
 * instruments, they compile to nothing but the side effects of their arguments.
 */
#ifndef VPROF_ANNOTATIONS_H
#define VPROF_ANNOTATIONS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef VPROF_ENABLED

/* Defined in libvprof. */
void vprof_begin(uint64_t id);
void vprof_end(uint64_t id);
void vprof_switch(uint64_t id);
void vprof_label(uint64_t id, const char* text);
void vprof_work(uint64_t id, uint64_t units);
void vprof_trace_context(uint64_t id, const char* traceparent);
void vprof_task_created(uint64_t task);
void vprof_task_taken(uint64_t task);

/* What this thread works for. Take it to restore it later. */
struct vprof_working_for {
  uint64_t id;
  uint64_t flags;
};
struct vprof_working_for vprof_current_work(void);
void vprof_resume_work(struct vprof_working_for work);

#else

static __inline__ void vprof_begin(uint64_t id) { (void)id; }
static __inline__ void vprof_end(uint64_t id) { (void)id; }
static __inline__ void vprof_switch(uint64_t id) { (void)id; }
static __inline__ void vprof_label(uint64_t id, const char* text) {
  (void)id;
  (void)text;
}
static __inline__ void vprof_work(uint64_t id, uint64_t units) {
  (void)id;
  (void)units;
}
static __inline__ void vprof_trace_context(uint64_t id, const char* traceparent) {
  (void)id;
  (void)traceparent;
}
static __inline__ void vprof_task_created(uint64_t task) { (void)task; }
static __inline__ void vprof_task_taken(uint64_t task) { (void)task; }

#endif

#ifdef __cplusplus
} /* extern "C" */

extern "C++" {
namespace vprof {

/* Lower case, as the standard library's guards are. NOLINTBEGIN(readability-identifier-naming) */

class interval {
 public:
#ifdef VPROF_ENABLED
  explicit interval(uint64_t id) : id_(id), before_(vprof_current_work()) { vprof_begin(id); }
  interval(uint64_t id, const char* label) : id_(id), before_(vprof_current_work()) {
    vprof_begin(id);
    vprof_label(id, label);
  }
  ~interval() {
    vprof_end(id_);
    vprof_resume_work(before_);
  }
#else
  explicit interval(uint64_t) {}
  interval(uint64_t, const char*) {}
  ~interval() {}
#endif

 private:
  interval(const interval&);
  interval& operator=(const interval&);
#ifdef VPROF_ENABLED
  uint64_t id_;
  vprof_working_for before_;
#endif
};

class working_for {
 public:
#ifdef VPROF_ENABLED
  explicit working_for(uint64_t id) : before_(vprof_current_work()) { vprof_switch(id); }
  ~working_for() { vprof_resume_work(before_); }
#else
  explicit working_for(uint64_t) {}
  ~working_for() {}
#endif

 private:
  working_for(const working_for&);
  working_for& operator=(const working_for&);
#ifdef VPROF_ENABLED
  vprof_working_for before_;
#endif
};

/* NOLINTEND(readability-identifier-naming) */

}  // namespace vprof
}  // extern "C++"
#endif

#endif
