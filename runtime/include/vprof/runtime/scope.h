/* What instrumented code says. The instrumenter puts this header on line 1 of every file it
 * rewrites, and writes these macros:
 *
 *   VPROF_FUNCTION(12);                            first in a body: times the whole function
 *   VPROF_FUNCTION_N(12, 3);                       the same, with 3 slots for expressions (C++)
 *   VPROF_FRAME_N(3);                              only the slots
 *
 *   { VPROF_SITE(13); call(); }                    times a block
 *   VPROF_EXPR(14) f(x) VPROF_EXPR_END             times an expression (C)
 *   VPROF_LVALUE(14) M(x) VPROF_LVALUE_END = 1;    times an expression that is assigned to (C)
 *   VPROF_VALUE(0,15) f(x) VPROF_VALUE_END(0)      times an lvalue, a scalar, or an xvalue of class
 *                                                  type (C++)
 *   VPROF_VOID(1,16) f(x) VPROF_VOID_END(1,16)     times a void expression
 *   VPROF_GUARD(17) f(x) VPROF_GUARD_END           times to the end of the full expression: for
 *                                                  classes returned by value (C++)
 *
 *   VPROF_GATE(18) { return f_copy(x); }           first in a body whose sites are in a copy: runs
 *                                                  that while one of them is on (C)
 *   VPROF_BODY_GATE(18) { copy } else { body }     the same in one function (C++)
 *
 *   VPROF_UNIT("0123456789abcdef src/a.c")         after the #include: says in the object, and in
 *                                                  what is linked from it, which text was compiled
 *
 * The same for a call of a function that begins with VPROF_FUNCTION(12) or VPROF_FUNCTION_N(12, n):
 *
 *   VPROF_CALL(13, 12)           VPROF_CALL_EXPR(14, 12)       VPROF_CALL_VALUE(0,15, 12)
 *   VPROF_CALL_VOID(1,16, 12)    VPROF_CALL_GUARD(17, 12)
 *
 * In that copy: VPROF_TWIN_SITE(13), VPROF_TWIN_CALL_EXPR(14, 12) and so on.
 *
 * It also writes the macros of <vprof/runtime/events.h>. The user's text is always between a prefix
 * and a suffix, never in a macro argument, where __LINE__ would change and #if would be undefined.
 * Both languages have all macros but VPROF_EXPR, VPROF_CALL_EXPR and VPROF_LVALUE, so a rewritten
 * header works in both; in C the C++ forms are VPROF_EXPR.
 *
 * Guarantees
 *  - Only time is added. Value category, lifetime of temporaries, elision and overload resolution
 *    stay as they were. In C++ this rests on the comma operator: `leave((enter, expr))` is part of
 *    one full expression, as expr was. Why not `(enter, leave(expr))`: gcc may turn
 *    `(a, b) + (c, d)` into `a, c, b + d`, and does. The second site would then begin before the
 *    first one's call.
 *  - Every way out closes a scope: in C by the cleanup attribute, in C++ by destructors. longjmp
 *    closes none: the frames that it leaves are not recorded. Later frames are unaffected, with one
 *    exception: if longjmp leaves a call while its arguments are evaluated, one later entry of the
 *    announced function may be missing.
 *  - The frame object of a function closes sites that an exception leaves. If the exception is
 *    caught in the same function and the slot used again, the first time is discarded: nobody saw
 *    it end.
 *  - C++98 cannot pass on a value of any category, so VPROF_VALUE does not time there.
 */
#ifndef VPROF_RUNTIME_SCOPE_H
#define VPROF_RUNTIME_SCOPE_H

#include <vprof/runtime/record.h>

/* Clang cannot follow the value of a measured `try_lock()` back to the lock, and would say that
 * this is not held. The plain build has what it says about locks. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wthread-safety-analysis"
#endif

/* A section that takes no memory in the process. The driver reads it after each build. */
#define VPROF_UNIT(vprof_text)                     \
  __asm__(                                         \
      ".pushsection .vprof.units,\"\",%progbits\n" \
      ".asciz \"" vprof_text                       \
      "\"\n"                                       \
      ".popsection\n");

/* A plain load, which is one instruction with the test. The compiler may take it out of a loop that
 * stores nothing and calls nothing: a gate is looked at when a function is entered, not before it
 * is left. */
#define VPROF_GATE(vprof_id) if (VPROF_RT_RARELY(VPROF_SITE_TABLE[vprof_id]))

/* The compiler is to think of the copy as of what runs seldom, but not never: that it would make as
 * small as it can, with calls of all that is in line elsewhere. */
#define VPROF_BODY_GATE(vprof_id) if (VPROF_RT_SELDOM(VPROF_SITE_TABLE[vprof_id]))

/* Around the copy of a function and its declarations. The user has seen the warnings of its text
 * before, and what is called by several copies is declared for each. */
#define VPROF_TWIN_BEGIN                                                     \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wall\"") \
      _Pragma("GCC diagnostic ignored \"-Wredundant-decls\"")                \
          _Pragma("GCC diagnostic ignored \"-Wpedantic\"")
#define VPROF_TWIN_END _Pragma("GCC diagnostic pop")

/* Of the copy, which is optimised like any other function, but stands with what is never
 * executed. */
#define VPROF_TWIN __attribute__((__noinline__, __section__(".text.unlikely.vprof")))
/* Of the copy of an `inline` function, or of one without sites that a copy calls. */
#define VPROF_COPY __attribute__((__unused__))

#ifdef __cplusplus

/* A rewritten header may be included inside `extern "C"`. */
extern "C++" {
namespace vprof {

class scope {  // NOLINT(readability-identifier-naming): lower case, as in annotations.h
 public:
  explicit __attribute__((__always_inline__)) scope(unsigned vprof_id)
      : vprof_start_(vprof_start_of(vprof_id)), vprof_id_(vprof_id) {}
  __attribute__((__always_inline__)) ~scope() {
    if (VPROF_RT_RARELY(vprof_start_)) {
      vprof_record(vprof_id_, vprof_start_);
    }
  }

 protected:
  __attribute__((__always_inline__)) scope(unsigned vprof_id, vprof_u64 vprof_start)
      : vprof_start_(vprof_start), vprof_id_(vprof_id) {}

 private:
  scope(const scope&);
  scope& operator=(const scope&);
  vprof_u64 vprof_start_;
  unsigned vprof_id_;
};

class function_scope : scope {  // NOLINT(readability-identifier-naming)
 public:
  explicit __attribute__((__always_inline__)) function_scope(unsigned vprof_id)
      : scope(vprof_id, vprof_start_of_function(vprof_id)) {}
};

class call_scope {  // NOLINT(readability-identifier-naming)
 public:
  __attribute__((__always_inline__)) call_scope(unsigned vprof_id, unsigned vprof_function)
      : vprof_start_(vprof_start_of_call(vprof_id, vprof_function)), vprof_id_(vprof_id) {}
  __attribute__((__always_inline__)) ~call_scope() {
    if (VPROF_RT_RARELY(vprof_start_)) {
      vprof_record_call(vprof_id_, vprof_start_);
    }
  }

 private:
  call_scope(const call_scope&);
  call_scope& operator=(const call_scope&);
  vprof_u64 vprof_start_;
  unsigned vprof_id_;
};

#if __cplusplus >= 201103L
/* What VPROF_VALUE passes on for an argument deduced as T. An lvalue and an object of class type
 * stay what they are. A scalar is passed by value: in `const int& r = f();` a reference would
 * outlive it. */
template <class T, bool vprof_is_object>
struct vprof_passed_as {
  typedef T vprof_type;
};
template <class T>
struct vprof_passed_as<T, true> {
  typedef T&& vprof_type;
};
template <class T>
struct vprof_passed {
  typedef typename vprof_passed_as<T, __is_class(T) || __is_union(T)>::vprof_type vprof_type;
};
template <class T>
struct vprof_passed<T&> {
  typedef T& vprof_type;
};
template <class T, decltype(sizeof(0)) vprof_n>
struct vprof_passed<T[vprof_n]> {
  typedef T (&&vprof_type)[vprof_n];
};
#endif

/* A site may have been switched off meanwhile. Or it is off, an exception left it which its own
 * function caught, and it was entered again: the slot holds the time of the first entry. */
VPROF_RT_IF_ON void vprof_leave_slot(unsigned vprof_id, vprof_u64 vprof_start) {
  vprof_thread_buffer.entering = 0;
  if (vprof_is_on(vprof_id)) {
    vprof_record_to(&vprof_thread_buffer, vprof_id, vprof_start);
  }
}

/* The timed expressions of one function. Those of one full expression have a slot each; those of
 * different ones share slots, since only one of them runs at a time. A slot's bit is set while its
 * expression runs. A site that is off leaves its slot as it is. So does one that finds another
 * site's time there, which an exception has left.
 *
 * No address of a slot leaves the function. So the compiler keeps slots in registers, and none at
 * all on the path on which all sites are off: there it knows that all bits are 0. Of many slots
 * that would make it keep as many variables along as many branches: with 400 in the actions of a
 * parser, gcc takes a minute and a half, with 750 more than half an hour. So those stay in memory,
 * since an (empty) assembler statement may have set them. */
template <unsigned vprof_n>
class frame {  // NOLINT(readability-identifier-naming)
 public:
  __attribute__((__always_inline__)) frame() {
    if (vprof_n > kMostInRegisters) {
      __asm__("" : "=m"(vprof_slots_));
    }
    for (unsigned vprof_i = 0; vprof_i < kWords; ++vprof_i) {
      vprof_slots_.vprof_open[vprof_i] = 0;
    }
  }
  __attribute__((__always_inline__)) ~frame() {
    vprof_u64 vprof_any = 0;
    for (unsigned vprof_i = 0; vprof_i < kWords; ++vprof_i) {
      vprof_any |= vprof_slots_.vprof_open[vprof_i];
    }
    if (VPROF_RT_RARELY(vprof_any)) {
      vprof_slots vprof_left = vprof_slots_;
      vprof_rt_close(vprof_left.vprof_open, vprof_left.vprof_starts, vprof_left.vprof_ids, vprof_n);
    }
  }
  __attribute__((__always_inline__)) void vprof_enter(unsigned vprof_i, unsigned vprof_id) {
    if (VPROF_RT_RARELY(vprof_is_on(vprof_id))) {
      vprof_fill(vprof_i, vprof_id, vprof_time_site());
    }
  }
  __attribute__((__always_inline__)) void vprof_enter_call(unsigned vprof_i, unsigned vprof_id,
                                                           unsigned vprof_function) {
    if (VPROF_RT_RARELY(vprof_is_on(vprof_id))) {
      vprof_fill(vprof_i, vprof_id, vprof_time_call(vprof_function));
    }
  }
  __attribute__((__always_inline__)) void vprof_leave(unsigned vprof_i, unsigned vprof_id) {
    vprof_u64& vprof_word = vprof_slots_.vprof_open[vprof_i / 64];
    if (VPROF_RT_RARELY(vprof_word & vprof_bit(vprof_i)) &&
        vprof_slots_.vprof_ids[vprof_i] == vprof_id) {
      vprof_word &= ~vprof_bit(vprof_i);
      vprof_leave_slot(vprof_id, vprof_slots_.vprof_starts[vprof_i]);
    }
  }
#if __cplusplus >= 201103L
  template <class T>
  __attribute__((__always_inline__)) typename vprof_passed<T>::vprof_type vprof_leave(
      unsigned vprof_i, unsigned vprof_id, T&& vprof_value) noexcept {
    vprof_leave(vprof_i, vprof_id);
    return static_cast<typename vprof_passed<T>::vprof_type>(vprof_value);
  }
#endif

 private:
  enum { kWords = (vprof_n + 63) / 64, kMostInRegisters = 32 };
  struct vprof_slots {
    vprof_u64 vprof_open[kWords];
    vprof_u64 vprof_starts[vprof_n];
    unsigned vprof_ids[vprof_n];
  };
  static __attribute__((__always_inline__)) vprof_u64 vprof_bit(unsigned vprof_i) {
    return static_cast<vprof_u64>(1) << vprof_i % 64;
  }
  __attribute__((__always_inline__)) void vprof_fill(unsigned vprof_i, unsigned vprof_id,
                                                     vprof_u64 vprof_time) {
    vprof_slots_.vprof_open[vprof_i / 64] |= vprof_bit(vprof_i);
    vprof_slots_.vprof_ids[vprof_i] = vprof_id;
    vprof_slots_.vprof_starts[vprof_i] = vprof_time;
  }
  frame(const frame&);
  frame& operator=(const frame&);
  vprof_slots vprof_slots_;
};

}  // namespace vprof
}  // extern "C++"

#define VPROF_SITE(vprof_id) \
  ::vprof::scope vprof_scope_##vprof_id __attribute__((__unused__)) (vprof_id)
#define VPROF_FUNCTION(vprof_id) \
  ::vprof::function_scope vprof_scope_##vprof_id __attribute__((__unused__)) (vprof_id)
#define VPROF_CALL(vprof_id, vprof_function) \
  ::vprof::call_scope vprof_scope_##vprof_id __attribute__((__unused__)) (vprof_id, vprof_function)
#define VPROF_FRAME_N(vprof_n) ::vprof::frame<vprof_n> vprof_frame __attribute__((__unused__))
#define VPROF_FUNCTION_N(vprof_id, vprof_n) \
  VPROF_FUNCTION(vprof_id);                 \
  VPROF_FRAME_N(vprof_n)

#if __cplusplus >= 201103L
#define VPROF_VALUE(vprof_slot, vprof_id) \
  vprof_frame.vprof_leave(vprof_slot, vprof_id, (vprof_frame.vprof_enter(vprof_slot, vprof_id),
#define VPROF_CALL_VALUE(vprof_slot, vprof_id, vprof_function) \
  vprof_frame.vprof_leave(vprof_slot, vprof_id, \
      (vprof_frame.vprof_enter_call(vprof_slot, vprof_id, vprof_function),
#define VPROF_VALUE_END(vprof_slot) ))
#else
#define VPROF_VALUE(vprof_slot, vprof_id) (
#define VPROF_CALL_VALUE(vprof_slot, vprof_id, vprof_function) (
#define VPROF_VALUE_END(vprof_slot) )
#endif
#define VPROF_VOID(vprof_slot, vprof_id) (vprof_frame.vprof_enter(vprof_slot, vprof_id),
#define VPROF_CALL_VOID(vprof_slot, vprof_id, vprof_function) \
  (vprof_frame.vprof_enter_call(vprof_slot, vprof_id, vprof_function),
#define VPROF_VOID_END(vprof_slot, vprof_id) , vprof_frame.vprof_leave(vprof_slot, vprof_id))
#define VPROF_GUARD(vprof_id) (static_cast<void>(::vprof::scope(vprof_id)),
#define VPROF_CALL_GUARD(vprof_id, vprof_function) \
  (static_cast<void>(::vprof::call_scope(vprof_id, vprof_function)),
#define VPROF_GUARD_END )

#else /* C */

struct vprof_scope {
  vprof_u64 start;
  unsigned id;
};

VPROF_RT_INLINE struct vprof_scope vprof_scope_since(unsigned vprof_id, vprof_u64 vprof_start) {
  struct vprof_scope vprof_s;
  vprof_s.start = vprof_start;
  vprof_s.id = vprof_id;
  return vprof_s;
}

VPROF_RT_INLINE void vprof_scope_leave(struct vprof_scope* vprof_s) {
  if (VPROF_RT_RARELY(vprof_s->start)) {
    vprof_record(vprof_s->id, vprof_s->start);
  }
}

VPROF_RT_INLINE void vprof_call_leave(struct vprof_scope* vprof_s) {
  if (VPROF_RT_RARELY(vprof_s->start)) {
    vprof_record_call(vprof_s->id, vprof_s->start);
  }
}

/* A copy runs only while something in it is measured. So a site in it may cost a little while it is
 * off, but should compile fast: the compiler sees two calls and no branch. */
#define VPROF_IN_TWIN                                                                   \
  static __attribute__((__section__(".text.unlikely.vprof"), __noinline__, __nothrow__, \
                        __no_instrument_function__, __unused__))

VPROF_IN_TWIN vprof_u64 vprof_twin_start_of(unsigned vprof_id) { return vprof_start_of(vprof_id); }

VPROF_IN_TWIN vprof_u64 vprof_twin_start_of_function(unsigned vprof_id) {
  return vprof_start_of_function(vprof_id);
}

VPROF_IN_TWIN vprof_u64 vprof_twin_start_of_call(unsigned vprof_id, unsigned vprof_function) {
  return vprof_start_of_call(vprof_id, vprof_function);
}

VPROF_IN_TWIN void vprof_twin_record(unsigned vprof_id, vprof_u64 vprof_start) {
  if (vprof_start) {
    vprof_record(vprof_id, vprof_start);
  }
}

VPROF_IN_TWIN void vprof_twin_record_call(unsigned vprof_id, vprof_u64 vprof_start) {
  if (vprof_start) {
    vprof_record_call(vprof_id, vprof_start);
  }
}

VPROF_RT_INLINE void vprof_twin_scope_leave(struct vprof_scope* vprof_s) {
  vprof_twin_record(vprof_s->id, vprof_s->start);
}

VPROF_RT_INLINE void vprof_twin_call_leave(struct vprof_scope* vprof_s) {
  vprof_twin_record_call(vprof_s->id, vprof_s->start);
}

#define VPROF_SCOPE(vprof_id, vprof_start, vprof_leave)       \
  struct vprof_scope vprof_scope_##vprof_id                   \
      __attribute__((__cleanup__(vprof_leave), __unused__)) = \
          vprof_scope_since(vprof_id, vprof_start)
#define VPROF_SITE(vprof_id) VPROF_SCOPE(vprof_id, vprof_start_of(vprof_id), vprof_scope_leave)
#define VPROF_FUNCTION(vprof_id) \
  VPROF_SCOPE(vprof_id, vprof_start_of_function(vprof_id), vprof_scope_leave)
#define VPROF_FUNCTION_N(vprof_id, vprof_n) VPROF_FUNCTION(vprof_id)
#define VPROF_CALL(vprof_id, vprof_function) \
  VPROF_SCOPE(vprof_id, vprof_start_of_call(vprof_id, vprof_function), vprof_call_leave)
#define VPROF_TWIN_SITE(vprof_id) \
  VPROF_SCOPE(vprof_id, vprof_twin_start_of(vprof_id), vprof_twin_scope_leave)
#define VPROF_TWIN_FUNCTION(vprof_id) \
  VPROF_SCOPE(vprof_id, vprof_twin_start_of_function(vprof_id), vprof_twin_scope_leave)
#define VPROF_TWIN_CALL(vprof_id, vprof_function) \
  VPROF_SCOPE(vprof_id, vprof_twin_start_of_call(vprof_id, vprof_function), vprof_twin_call_leave)
/* A declaration, so that further declarations may follow in C89. */
#define VPROF_FRAME_N(vprof_n) struct vprof_no_frame

#define VPROF_EXPR(vprof_id) (__extension__({ VPROF_SITE(vprof_id);
#define VPROF_CALL_EXPR(vprof_id, vprof_function) \
  (__extension__({ VPROF_CALL(vprof_id, vprof_function);
#define VPROF_EXPR_END \
  ;                    \
  }))
#define VPROF_TWIN_EXPR(vprof_id) (__extension__({ VPROF_TWIN_SITE(vprof_id);
#define VPROF_TWIN_CALL_EXPR(vprof_id, vprof_function) \
  (__extension__({ VPROF_TWIN_CALL(vprof_id, vprof_function);
#define VPROF_LVALUE(vprof_id) (*VPROF_EXPR(vprof_id) &
#define VPROF_TWIN_LVALUE(vprof_id) (*VPROF_TWIN_EXPR(vprof_id) &
#define VPROF_LVALUE_END VPROF_EXPR_END)
#define VPROF_VALUE(vprof_slot, vprof_id) VPROF_EXPR(vprof_id)
#define VPROF_CALL_VALUE(vprof_slot, vprof_id, vprof_function) \
  VPROF_CALL_EXPR(vprof_id, vprof_function)
#define VPROF_VALUE_END(vprof_slot) VPROF_EXPR_END
#define VPROF_VOID(vprof_slot, vprof_id) VPROF_EXPR(vprof_id)
#define VPROF_CALL_VOID(vprof_slot, vprof_id, vprof_function) \
  VPROF_CALL_EXPR(vprof_id, vprof_function)
#define VPROF_VOID_END(vprof_slot, vprof_id) VPROF_EXPR_END
#define VPROF_GUARD(vprof_id) VPROF_EXPR(vprof_id)
#define VPROF_CALL_GUARD(vprof_id, vprof_function) VPROF_CALL_EXPR(vprof_id, vprof_function)
#define VPROF_GUARD_END VPROF_EXPR_END

#endif

#include <vprof/runtime/coroutine.h>
#include <vprof/runtime/events.h>

#endif
