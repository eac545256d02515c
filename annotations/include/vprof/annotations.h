/* Tells VProfiler what a request is. C and C++.
 *
 *   vprof_begin(id)          the interval (request, transaction) with this id begins, and this thread now works for it
 *   vprof_end(id)            it is complete
 *   vprof_switch(id)         this thread now works for that interval; 0: for nothing in particular
 *   vprof_label(id, "text")  what kind of interval it is, at most 63 bytes; reports tell kinds apart
 *   vprof_work(id, units)    it does so many units of work (rows, bytes, keys); several calls add up. Reports tell what part of the
 *                            variance goes with the amount of work. id 0: whatever interval this thread works for
 *   vprof_task_created(task) this thread hands a task on: puts it in a queue, posts it to a pool
 *   vprof_task_taken(task)   this thread takes it up
 *
 * A task is whatever number or pointer both sides know it by, cast to uint64_t; not 0. It may be used again once the task has been taken. With these two the
 * critical path of an interval goes on from the thread that took a task to the one that created it.
 *
 * Ids are any non-zero 64-bit numbers that are not used twice in a run; all processes of a run share them. A pointer will do as
 * long as it is not used again before vprof_end. Any thread or process may begin, end or switch to any interval: begin on the
 * thread that accepts a request, switch on each thread that goes on with it, end where it is answered. Nothing must be undone: a
 * thread that takes up other work switches to that. An interval that never ends is reported as incomplete.
 *
 * A C++ program may use objects that undo themselves:
 *
 *   vprof::interval request(id, "GET");   begin, label; end when the block is left, and back to what the thread worked for
 *   vprof::working_for task(id);          switch; back to what the thread worked for when the block is left
 *
 * Any thread may call them at any time, in signal handlers too. One call costs about as much as two readings of the clock (some
 * 30 ns). Without -DVPROF_ENABLED, which VProfiler sets for the copy it instruments, they compile to nothing; their
 * arguments are then evaluated only for their side effects.
 */
#ifndef VPROF_ANNOTATIONS_H
#define VPROF_ANNOTATIONS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef VPROF_ENABLED

/* In libvprof. */
void vprof_begin(uint64_t id);
void vprof_end(uint64_t id);
void vprof_switch(uint64_t id);
void vprof_label(uint64_t id, const char* text);
void vprof_work(uint64_t id, uint64_t units);
void vprof_task_created(uint64_t task);
void vprof_task_taken(uint64_t task);

/* What this thread works for, to be restored later. */
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
