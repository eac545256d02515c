/* What instrumented code says about the intervals and the synchronisation that the configuration
 * names. Part of scope.h.
 *
 * Declarations, first in a body and in this order; all take the values at entry:
 *   VPROF_INTERVAL(0);                       each execution of the function is an interval
 *   VPROF_ACQUIRE(0, lock);                  the function acquires the object, and may wait for it
 *   VPROF_EXIT_EVENT(END, 0, request);       BEGIN, END or SWITCH at every way out
 *   VPROF_ENTRY_EVENT(BEGIN, 0, request);    BEGIN, END or SWITCH at entry
 *   VPROF_ENTRY_LABEL(0, request, value);    labels the interval of this key
 *   VPROF_ENTRY_LABEL_CURRENT(0, value);     labels the interval this thread works for
 *   VPROF_ENTRY_LABEL_VIA(0, request, steps, value, ends)
 *   VPROF_ENTRY_LABEL_CURRENT_VIA(0, steps, value, ends)
 *                                            the same for a value behind pointers (values.h)
 *   VPROF_ENTRY_TRACE...                     the same four, for the trace context of the interval
 *   VPROF_RELEASE(0, lock);                  the function releases the object
 *   VPROF_ENQUEUE(0, task);                  the function hands the task over
 *   VPROF_ENTRY_DEQUEUE(0, task);            the function handles the task, which was taken before
 *
 * Statements, in generated wrappers:
 *   VPROF_EVENT(END, 0, result);             BEGIN, END or SWITCH now
 *   VPROF_DEQUEUE(0, result);                the task was taken; 0: there was none
 *
 * A label is a zero-terminated text or a number; its type decides. A null pointer is no label. In
 * C++ it may also be a string class.
 *
 * The first argument is the index in sites.json "intervals" or "sync". Keys, objects and tasks are
 * integers or pointers. Each macro calls into libvprof, which is cheap compared with the operation
 * it describes.
 */
#ifndef VPROF_RUNTIME_EVENTS_H
#define VPROF_RUNTIME_EVENTS_H

#include <vprof/runtime/record.h>
#include <vprof/runtime/values.h>

enum vprof_what { VPROF_WHAT_BEGIN, VPROF_WHAT_END, VPROF_WHAT_SWITCH };

struct vprof_interval_scope {
  /* 0: this activation started no interval: it is inside another one of the same definition, or
   * tracing is off. */
  vprof_u64 id;
  vprof_u64 previous;
  vprof_u64 previous_flags;
  unsigned def;
};

struct vprof_exit_event {
  vprof_u64 key;
  int what;
  unsigned def;
};

struct vprof_acquire_scope {
  vprof_u64 object;
  vprof_u64 start; /* 0: not timed */
  unsigned def;
  unsigned waits; /* how many waits this thread had recorded at entry */
};

/* The key of the calling thread's own interval of a definition: each BEGIN gives it a new id.
 * Neither a valid pointer nor a small integer. */
#define VPROF_THREAD_KEY ((vprof_u64)0x8000000000000001)

/* The object that a null pointer led to: nothing is recorded. Not 0, which may be a number of a
 * lock. */
#define VPROF_NO_OBJECT ((vprof_u64)0x8000000000000002)

/* Added to the index of an interval: what looks like a label is a trace context. */
#define VPROF_IS_TRACE_CONTEXT 0x80000000u

#ifdef __cplusplus
extern "C" {
#endif

/* Any thread, any time, signal handlers included. They do nothing while tracing is off. */
VPROF_RT_API void vprof_rt_interval(int vprof_what, unsigned vprof_def, vprof_u64 vprof_key);
VPROF_RT_API void vprof_rt_label(unsigned vprof_def, vprof_u64 vprof_key, const char* vprof_text);
VPROF_RT_API void vprof_rt_label_int(unsigned vprof_def, vprof_u64 vprof_key,
                                     vprof_i64 vprof_number);
VPROF_RT_API void vprof_rt_label_current(unsigned vprof_def, const char* vprof_text);
VPROF_RT_API void vprof_rt_label_current_int(unsigned vprof_def, vprof_i64 vprof_number);
VPROF_RT_API void vprof_rt_release(unsigned vprof_def, vprof_u64 vprof_object);
VPROF_RT_API void vprof_rt_enqueue(unsigned vprof_def, vprof_u64 vprof_task);
VPROF_RT_API void vprof_rt_dequeue(unsigned vprof_def, vprof_u64 vprof_task);

/* The frame address of the caller distinguishes activations that a longjmp has left from open
 * ones. */
VPROF_RT_API void vprof_rt_interval_enter(struct vprof_interval_scope* vprof_s,
                                          void* vprof_frame_address);
VPROF_RT_API void vprof_rt_interval_leave(struct vprof_interval_scope* vprof_s);
VPROF_RT_API void vprof_rt_acquire_enter(struct vprof_acquire_scope* vprof_s);
VPROF_RT_API void vprof_rt_acquire_leave(struct vprof_acquire_scope* vprof_s);

VPROF_RT_INLINE void vprof_exit_event_leave(struct vprof_exit_event* vprof_e) {
  vprof_rt_interval(vprof_e->what, vprof_e->def, vprof_e->key);
}

#ifdef __cplusplus
} /* extern "C" */

extern "C++" {
namespace vprof {

template <class T>
__attribute__((__always_inline__)) inline vprof_u64 vprof_key(T* vprof_pointer) {
  return reinterpret_cast<vprof_address>(vprof_pointer);
}
template <class T>
__attribute__((__always_inline__)) inline vprof_u64 vprof_key(const T& vprof_integer) {
  return static_cast<vprof_u64>(vprof_integer);
}

/* Labels: a text of any character type, a class with c_str(), or a number, which includes
 * enumerations and bool. */
template <bool vprof_is_class>
struct vprof_label_of;

template <>
struct vprof_label_of<true> {
  template <class T>
  static __attribute__((__always_inline__)) inline void vprof_record(unsigned vprof_def,
                                                                     vprof_u64 vprof_key,
                                                                     const T& vprof_string) {
    vprof_rt_label(vprof_def, vprof_key, vprof_string.c_str());
  }
  template <class T>
  static __attribute__((__always_inline__)) inline void vprof_record_current(
      unsigned vprof_def, const T& vprof_string) {
    vprof_rt_label_current(vprof_def, vprof_string.c_str());
  }
};

template <>
struct vprof_label_of<false> {
  template <class T>
  static __attribute__((__always_inline__)) inline void vprof_record(unsigned vprof_def,
                                                                     vprof_u64 vprof_key,
                                                                     const T& vprof_number) {
    vprof_rt_label_int(vprof_def, vprof_key, static_cast<vprof_i64>(vprof_number));
  }
  template <class T>
  static __attribute__((__always_inline__)) inline void vprof_record_current(
      unsigned vprof_def, const T& vprof_number) {
    vprof_rt_label_current_int(vprof_def, static_cast<vprof_i64>(vprof_number));
  }
};

template <class T>
__attribute__((__always_inline__)) inline void vprof_add_label(unsigned vprof_def,
                                                               vprof_u64 vprof_key, T* vprof_text) {
  vprof_rt_label(vprof_def, vprof_key, reinterpret_cast<const char*>(vprof_text));
}
template <class T>
__attribute__((__always_inline__)) inline void vprof_add_label(unsigned vprof_def,
                                                               vprof_u64 vprof_key,
                                                               const T& vprof_value) {
  vprof_label_of<__is_class(T)>::vprof_record(vprof_def, vprof_key, vprof_value);
}
template <class T>
__attribute__((__always_inline__)) inline void vprof_add_label_current(unsigned vprof_def,
                                                                       T* vprof_text) {
  vprof_rt_label_current(vprof_def, reinterpret_cast<const char*>(vprof_text));
}
template <class T>
__attribute__((__always_inline__)) inline void vprof_add_label_current(unsigned vprof_def,
                                                                       const T& vprof_value) {
  vprof_label_of<__is_class(T)>::vprof_record_current(vprof_def, vprof_value);
}

/* Base of the guards below. */
struct vprof_not_copied {
  __attribute__((__always_inline__)) vprof_not_copied() {}

 private:
  vprof_not_copied(const vprof_not_copied&);
  vprof_not_copied& operator=(const vprof_not_copied&);
};

struct vprof_interval_guard : vprof_not_copied {
  explicit __attribute__((__always_inline__)) vprof_interval_guard(unsigned vprof_def) {
    vprof_state.def = vprof_def;
    vprof_rt_interval_enter(&vprof_state, __builtin_frame_address(0));
  }
  __attribute__((__always_inline__)) ~vprof_interval_guard() {
    vprof_rt_interval_leave(&vprof_state);
  }
  vprof_interval_scope vprof_state;
};

struct vprof_acquire_guard : vprof_not_copied {
  __attribute__((__always_inline__)) vprof_acquire_guard(unsigned vprof_def,
                                                         vprof_u64 vprof_object) {
    vprof_state.def = vprof_def;
    vprof_state.object = vprof_object;
    vprof_rt_acquire_enter(&vprof_state);
  }
  __attribute__((__always_inline__)) ~vprof_acquire_guard() {
    vprof_rt_acquire_leave(&vprof_state);
  }
  vprof_acquire_scope vprof_state;
};

struct vprof_exit_guard : vprof_not_copied {
  __attribute__((__always_inline__)) vprof_exit_guard(int vprof_what, unsigned vprof_def,
                                                      vprof_u64 vprof_key) {
    vprof_state.key = vprof_key;
    vprof_state.what = vprof_what;
    vprof_state.def = vprof_def;
  }
  __attribute__((__always_inline__)) ~vprof_exit_guard() { vprof_exit_event_leave(&vprof_state); }
  vprof_exit_event vprof_state;
};

}  // namespace vprof
}  // extern "C++"

#define VPROF_RT_KEY(vprof_k) ::vprof::vprof_key(vprof_k)
#define VPROF_RT_LABEL(vprof_def, vprof_k, vprof_v) \
  ::vprof::vprof_add_label(vprof_def, VPROF_RT_KEY(vprof_k), vprof_v)
#define VPROF_RT_LABEL_CURRENT(vprof_def, vprof_v) \
  ::vprof::vprof_add_label_current(vprof_def, vprof_v)

#define VPROF_INTERVAL(vprof_def) \
  ::vprof::vprof_interval_guard vprof_interval_##vprof_def __attribute__((__unused__)) (vprof_def)
#define VPROF_ACQUIRE(vprof_def, vprof_object)           \
  ::vprof::vprof_acquire_guard vprof_acquire_##vprof_def \
      __attribute__((__unused__)) (vprof_def, VPROF_RT_KEY(vprof_object))
#define VPROF_EXIT_EVENT(vprof_what, vprof_def, vprof_k)          \
  ::vprof::vprof_exit_guard vprof_exit_##vprof_what##_##vprof_def \
      __attribute__((__unused__)) (VPROF_WHAT_##vprof_what, vprof_def, VPROF_RT_KEY(vprof_k))

#else /* C */

#define VPROF_RT_KEY(vprof_k) ((vprof_u64)(vprof_address)(vprof_k))
/* Both branches must compile for every type, hence the cast of a text through an integer; only one
 * of them is left even without
 * optimization. Unlike _Generic, this works in every dialect of C and for pointers to any type. */
#define VPROF_RT_IS_POINTER(vprof_v) (__builtin_classify_type(vprof_v) == 5)
#define VPROF_RT_TEXT(vprof_v) ((const char*)(vprof_address)(vprof_v))
#define VPROF_RT_NUMBER(vprof_v) ((vprof_i64)(vprof_v))
#define VPROF_RT_LABEL(vprof_def, vprof_k, vprof_v)                               \
  (VPROF_RT_IS_POINTER(vprof_v)                                                   \
       ? vprof_rt_label(vprof_def, VPROF_RT_KEY(vprof_k), VPROF_RT_TEXT(vprof_v)) \
       : vprof_rt_label_int(vprof_def, VPROF_RT_KEY(vprof_k), VPROF_RT_NUMBER(vprof_v)))
#define VPROF_RT_LABEL_CURRENT(vprof_def, vprof_v)                                          \
  (VPROF_RT_IS_POINTER(vprof_v) ? vprof_rt_label_current(vprof_def, VPROF_RT_TEXT(vprof_v)) \
                                : vprof_rt_label_current_int(vprof_def, VPROF_RT_NUMBER(vprof_v)))

VPROF_RT_INLINE struct vprof_exit_event vprof_exit_event_of(int vprof_what, unsigned vprof_def,
                                                            vprof_u64 vprof_key) {
  struct vprof_exit_event vprof_e;
  vprof_e.key = vprof_key;
  vprof_e.what = vprof_what;
  vprof_e.def = vprof_def;
  return vprof_e;
}

VPROF_RT_INLINE struct vprof_acquire_scope vprof_acquire_of(unsigned vprof_def,
                                                            vprof_u64 vprof_object) {
  struct vprof_acquire_scope vprof_s;
  vprof_s.def = vprof_def;
  vprof_s.object = vprof_object;
  vprof_rt_acquire_enter(&vprof_s);
  return vprof_s;
}

#define VPROF_INTERVAL(vprof_def)                                                               \
  struct vprof_interval_scope vprof_interval_##vprof_def                                        \
      __attribute__((__cleanup__(vprof_rt_interval_leave), __unused__)) = {0, 0, 0, vprof_def}; \
  VPROF_RT_AT_ENTRY(                                                                            \
      vprof_interval_begun_##vprof_def,                                                         \
      vprof_rt_interval_enter(&vprof_interval_##vprof_def, __builtin_frame_address(0)))
#define VPROF_ACQUIRE(vprof_def, vprof_object)                           \
  struct vprof_acquire_scope vprof_acquire_##vprof_def                   \
      __attribute__((__cleanup__(vprof_rt_acquire_leave), __unused__)) = \
          vprof_acquire_of(vprof_def, VPROF_RT_KEY(vprof_object))
#define VPROF_EXIT_EVENT(vprof_what, vprof_def, vprof_k)                 \
  struct vprof_exit_event vprof_exit_##vprof_what##_##vprof_def          \
      __attribute__((__cleanup__(vprof_exit_event_leave), __unused__)) = \
          vprof_exit_event_of(VPROF_WHAT_##vprof_what, vprof_def, VPROF_RT_KEY(vprof_k))

#endif

/* Makes a call a declaration, so that the user's own declarations may follow in C89. */
#define VPROF_RT_AT_ENTRY(vprof_name, vprof_call) \
  int vprof_name __attribute__((__unused__)) = (vprof_call, 0)

#define VPROF_ENTRY_EVENT(vprof_what, vprof_def, vprof_k)   \
  VPROF_RT_AT_ENTRY(vprof_entry_##vprof_what##_##vprof_def, \
                    vprof_rt_interval(VPROF_WHAT_##vprof_what, vprof_def, VPROF_RT_KEY(vprof_k)))
#define VPROF_ENTRY_LABEL(vprof_def, vprof_k, vprof_v) \
  VPROF_RT_AT_ENTRY(vprof_label_##vprof_def, VPROF_RT_LABEL(vprof_def, vprof_k, vprof_v))
#define VPROF_ENTRY_LABEL_CURRENT(vprof_def, vprof_v) \
  VPROF_RT_AT_ENTRY(vprof_label_##vprof_def, VPROF_RT_LABEL_CURRENT(vprof_def, vprof_v))
#define VPROF_ENTRY_LABEL_VIA(vprof_def, vprof_k, vprof_steps, vprof_v, vprof_ends) \
  VPROF_RT_AT_ENTRY(                                                                \
      vprof_label_##vprof_def,                                                      \
      VPROF_IF_SET(vprof_steps, VPROF_RT_LABEL(vprof_def, vprof_k, vprof_v), vprof_ends))
#define VPROF_ENTRY_LABEL_CURRENT_VIA(vprof_def, vprof_steps, vprof_v, vprof_ends) \
  VPROF_RT_AT_ENTRY(                                                               \
      vprof_label_##vprof_def,                                                     \
      VPROF_IF_SET(vprof_steps, VPROF_RT_LABEL_CURRENT(vprof_def, vprof_v), vprof_ends))
#define VPROF_RT_TRACE(vprof_def) ((vprof_def) | VPROF_IS_TRACE_CONTEXT)
#define VPROF_ENTRY_TRACE(vprof_def, vprof_k, vprof_v) \
  VPROF_RT_AT_ENTRY(vprof_trace_##vprof_def,           \
                    VPROF_RT_LABEL(VPROF_RT_TRACE(vprof_def), vprof_k, vprof_v))
#define VPROF_ENTRY_TRACE_CURRENT(vprof_def, vprof_v) \
  VPROF_RT_AT_ENTRY(vprof_trace_##vprof_def,          \
                    VPROF_RT_LABEL_CURRENT(VPROF_RT_TRACE(vprof_def), vprof_v))
#define VPROF_ENTRY_TRACE_VIA(vprof_def, vprof_k, vprof_steps, vprof_v, vprof_ends)          \
  VPROF_RT_AT_ENTRY(                                                                         \
      vprof_trace_##vprof_def,                                                               \
      VPROF_IF_SET(vprof_steps, VPROF_RT_LABEL(VPROF_RT_TRACE(vprof_def), vprof_k, vprof_v), \
                   vprof_ends))
#define VPROF_ENTRY_TRACE_CURRENT_VIA(vprof_def, vprof_steps, vprof_v, vprof_ends)          \
  VPROF_RT_AT_ENTRY(                                                                        \
      vprof_trace_##vprof_def,                                                              \
      VPROF_IF_SET(vprof_steps, VPROF_RT_LABEL_CURRENT(VPROF_RT_TRACE(vprof_def), vprof_v), \
                   vprof_ends))
#define VPROF_RELEASE(vprof_def, vprof_object) \
  VPROF_RT_AT_ENTRY(vprof_release_##vprof_def, \
                    vprof_rt_release(vprof_def, VPROF_RT_KEY(vprof_object)))
#define VPROF_ENQUEUE(vprof_def, vprof_task)   \
  VPROF_RT_AT_ENTRY(vprof_enqueue_##vprof_def, \
                    vprof_rt_enqueue(vprof_def, VPROF_RT_KEY(vprof_task)))
#define VPROF_ENTRY_DEQUEUE(vprof_def, vprof_task) \
  VPROF_RT_AT_ENTRY(vprof_dequeue_##vprof_def,     \
                    vprof_rt_dequeue(vprof_def, VPROF_RT_KEY(vprof_task)))

#define VPROF_EVENT(vprof_what, vprof_def, vprof_k) \
  vprof_rt_interval(VPROF_WHAT_##vprof_what, vprof_def, VPROF_RT_KEY(vprof_k))
#define VPROF_DEQUEUE(vprof_def, vprof_task) vprof_rt_dequeue(vprof_def, VPROF_RT_KEY(vprof_task))

#endif
