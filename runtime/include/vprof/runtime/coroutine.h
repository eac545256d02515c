/* What instrumented C++20 coroutines say. Part of scope.h.
 *
 *   VPROF_COROUTINE(4, 12);        first in a body: coroutine function 4 runs from here on, and
 *                                  between its suspensions; 12 is the site that times it, or 0
 *   VPROF_COROUTINE_INTERVAL(0);   next to it: each execution of the coroutine is an interval
 *
 *   VPROF_AWAIT(7, CALL, 5) co_await f(x) VPROF_AWAIT_END
 *                                  suspension 7. Coroutine function 5 is what it awaits
 *   VPROF_AWAIT_VALUE(7, HAND, 5, 6) co_await g(h(x), i(x)) VPROF_AWAIT_VALUE_END
 *                                  within a larger expression: notes at once that it goes on
 *   VPROF_AWAIT_VOID(7, CALL) co_await x VPROF_AWAIT_VOID_END
 *
 * CALL: the awaited coroutine begins because of the co_await. HAND: those named are handed to the
 * awaited operation, which may begin them while the co_await is evaluated. YIELD: a co_yield.
 *
 * The object of the guard lives in the coroutine's frame. It is made before the operand is
 * evaluated, and destroyed at the end of the full expression, on whatever thread that is: also when
 * an exception comes out of the co_await, and when the suspended coroutine is destroyed. Its own
 * destructors are then run for the coroutine, by whoever destroys it.
 */
#ifndef VPROF_RUNTIME_COROUTINE_H
#define VPROF_RUNTIME_COROUTINE_H

#include <vprof/runtime/record.h>

enum vprof_await { VPROF_AWAIT_IS_HAND, VPROF_AWAIT_IS_CALL, VPROF_AWAIT_IS_YIELD };

/* The coroutines that await this one, from the outermost to the innermost: the sites that time
 * them. A longer chain loses its outermost ones. */
enum { VPROF_COROUTINE_CALLERS = 8 };
struct vprof_callers {
  unsigned sites[VPROF_COROUTINE_CALLERS];
  unsigned count;
};

/* One execution of a coroutine. It is in the coroutine's frame, and only the thread that runs the
 * coroutine uses it. */
struct vprof_coroutine {
  vprof_u64 start;        /* ticks: when this thread began to run it; 0: it is suspended */
  vprof_u64 work_id;      /* while it is suspended: the interval that it works for; 0: none */
  vprof_u64 work_flags;   /* of that */
  vprof_u64 before_id;    /* while it runs: what the thread worked for before, and returns to */
  vprof_u64 before_flags; /* of that */
  struct vprof_coroutine*
      outer;           /* while it runs: the one that the thread runs around it, or NULL */
  unsigned function;   /* the number of the coroutine function */
  unsigned site;       /* the site that times it, or 0 */
  unsigned suspension; /* where it was suspended last */
  int awaits;          /* enum vprof_await of that */
  unsigned interval;   /* 1 + the definition of the interval that a coroutine began */
  int nested;          /* it runs inside its callers, whose frames are open */
  struct vprof_callers callers;
};

struct vprof_interval_scope;

#ifdef __cplusplus
extern "C" {
#endif

/* Any thread, any time. `expected` ends with 0. */
VPROF_RT_API void vprof_rt_coroutine_begin(struct vprof_coroutine* vprof_c);
VPROF_RT_API void vprof_rt_coroutine_suspend(struct vprof_coroutine* vprof_c,
                                             unsigned vprof_suspension, int vprof_awaits,
                                             const unsigned* vprof_expected);
VPROF_RT_API void vprof_rt_coroutine_resume(struct vprof_coroutine* vprof_c);
VPROF_RT_API void vprof_rt_coroutine_end(struct vprof_coroutine* vprof_c);
VPROF_RT_API void vprof_rt_coroutine_interval_begin(struct vprof_coroutine* vprof_c,
                                                    struct vprof_interval_scope* vprof_s);
VPROF_RT_API void vprof_rt_coroutine_interval_end(struct vprof_interval_scope* vprof_s);

#ifdef __cplusplus
} /* extern "C" */
#endif

#if defined(__cplusplus) && defined(__cpp_impl_coroutine)

#include <vprof/runtime/events.h>

extern "C++" {
namespace vprof {

template <unsigned... vprof_functions>
struct vprof_expected {
  static constexpr unsigned vprof_list[] = {vprof_functions..., 0};
};

class coroutine : vprof_not_copied {  // NOLINT(readability-identifier-naming): as in scope.h
 public:
  coroutine(unsigned vprof_function, unsigned vprof_site) : vprof_state_() {
    vprof_state_.function = vprof_function;
    vprof_state_.site = vprof_site;
    vprof_rt_coroutine_begin(&vprof_state_);
  }
  ~coroutine() { vprof_rt_coroutine_end(&vprof_state_); }
  vprof_coroutine* vprof_get() { return &vprof_state_; }

  /* The value of a co_await, as VPROF_VALUE passes it on. */
  template <class T>
  typename vprof_passed<T>::vprof_type vprof_resumed(T&& vprof_value) noexcept {
    vprof_rt_coroutine_resume(&vprof_state_);
    return static_cast<typename vprof_passed<T>::vprof_type>(vprof_value);
  }
  void vprof_resumed() noexcept { vprof_rt_coroutine_resume(&vprof_state_); }

 private:
  vprof_coroutine vprof_state_;
};

class suspension : vprof_not_copied {  // NOLINT(readability-identifier-naming)
 public:
  suspension(coroutine& vprof_of, unsigned vprof_suspension, int vprof_awaits,
             const unsigned* vprof_expected)
      : vprof_state_(vprof_of.vprof_get()) {
    vprof_rt_coroutine_suspend(vprof_state_, vprof_suspension, vprof_awaits, vprof_expected);
  }
  ~suspension() { vprof_rt_coroutine_resume(vprof_state_); }

 private:
  vprof_coroutine* vprof_state_;
};

struct vprof_coroutine_interval : vprof_not_copied {
  vprof_coroutine_interval(coroutine& vprof_of, unsigned vprof_def) {
    vprof_state.def = vprof_def;
    vprof_rt_coroutine_interval_begin(vprof_of.vprof_get(), &vprof_state);
  }
  ~vprof_coroutine_interval() { vprof_rt_coroutine_interval_end(&vprof_state); }
  vprof_interval_scope vprof_state;
};

}  // namespace vprof
}  // extern "C++"

#define VPROF_COROUTINE(vprof_function, vprof_site) \
  ::vprof::coroutine vprof_coroutine_state(vprof_function, vprof_site)
#define VPROF_COROUTINE_INTERVAL(vprof_def) \
  ::vprof::vprof_coroutine_interval vprof_interval_##vprof_def(vprof_coroutine_state, vprof_def)

/* VPROF_AWAIT_IS_* is put together where the word is still as written: the program may have a macro
 * of that name. */
#define VPROF_RT_AWAIT(vprof_number, vprof_what, ...)                                     \
  (static_cast<void>(::vprof::suspension(vprof_coroutine_state, vprof_number, vprof_what,    \
                                         ::vprof::vprof_expected<__VA_ARGS__>::vprof_list)),
#define VPROF_AWAIT(vprof_number, vprof_what, ...) \
  VPROF_RT_AWAIT(vprof_number, VPROF_AWAIT_IS_##vprof_what, __VA_ARGS__)
#define VPROF_AWAIT_END )
#define VPROF_AWAIT_VALUE(vprof_number, vprof_what, ...) \
  vprof_coroutine_state.vprof_resumed(                   \
      VPROF_RT_AWAIT(vprof_number, VPROF_AWAIT_IS_##vprof_what, __VA_ARGS__)
#define VPROF_AWAIT_VALUE_END ))
#define VPROF_AWAIT_VOID(vprof_number, vprof_what, ...) \
  VPROF_RT_AWAIT(vprof_number, VPROF_AWAIT_IS_##vprof_what, __VA_ARGS__)
#define VPROF_AWAIT_VOID_END , vprof_coroutine_state.vprof_resumed())

#endif

#endif
