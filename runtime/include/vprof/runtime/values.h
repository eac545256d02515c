/* Values that the configuration names, read without ever following a null pointer. Part of
 * events.h.
 *
 * `arg:0->cmd->name` becomes one step for each access that needs an object, then the rest:
 *
 *   VPROF_STEP(vprof_k1, (c)) VPROF_STEP(vprof_k2, vprof_k1->cmd) ... vprof_k2->name ... }}
 *
 * A step evaluates its expression once and names the result; what follows runs only if that refers
 * to an object. So an overloaded operator has its effects once, and a pointer that another thread
 * sets to null meanwhile does no harm.
 *
 *   VPROF_STEP(name, pointer)         before `->` and `*`: a pointer, or in C++ a smart pointer, an
 *                                     optional, an iterator
 *   VPROF_STEP_AT(name, array, n)     before `[n]`: the same, or a container, which must have that
 *                                     element
 *
 * Each opens a brace, which `ends` closes:
 *
 *   VPROF_VIA(none, steps, k, ends)   the key, object or task k; `none` if a step led nowhere
 *   VPROF_IF_SET(steps, call, ends)   calls only if every step led somewhere
 */
#ifndef VPROF_RUNTIME_VALUES_H
#define VPROF_RUNTIME_VALUES_H

#include <vprof/runtime/record.h>

#ifdef __cplusplus

extern "C++" {
namespace vprof {

template <bool vprof_is>
struct vprof_choice {};

/* What T offers. Works in C++98 as well, where a class cannot be asked otherwise. */
template <class T>
struct vprof_offers {
  typedef char vprof_yes;
  struct vprof_no {
    char vprof_two[2];
  };
  template <unsigned long vprof_size>
  struct vprof_sized {};
  template <class U>
  static U& vprof_object();
  template <class U>
  static vprof_yes vprof_is_pointer(U*);
  static vprof_no vprof_is_pointer(...);

  template <class U>
  static vprof_yes vprof_test_bool(vprof_sized<sizeof(vprof_object<U>() ? 1 : 2)>*);
  template <class U>
  static vprof_no vprof_test_bool(...);
  template <class U>
  static vprof_yes vprof_test_arrow(
      vprof_choice<sizeof(vprof_is_pointer(vprof_object<U>().operator->())) == 1>*);
  template <class U>
  static vprof_no vprof_test_arrow(...);
  template <class U>
  static vprof_yes vprof_test_map(typename U::mapped_type*);
  template <class U>
  static vprof_no vprof_test_map(...);
  template <class U>
  static vprof_yes vprof_test_size(vprof_sized<sizeof(vprof_object<U>().size())>*);
  template <class U>
  static vprof_no vprof_test_size(...);

  enum {
    kBool = sizeof(vprof_test_bool<T>(0)) == 1,
    kArrow = sizeof(vprof_test_arrow<T>(static_cast<vprof_choice<true>*>(0))) == 1,
    kMap = sizeof(vprof_test_map<T>(0)) == 1,
    kSize = sizeof(vprof_test_size<T>(0)) == 1
  };
};

/* Pointers, arrays, and classes that can be tested; else what operator-> returns; else nothing is
 * known. */
template <class T>
__attribute__((__always_inline__)) inline bool vprof_is_set(T& vprof_x, vprof_choice<true>) {
  return vprof_x ? true : false;
}
template <class T>
__attribute__((__always_inline__)) inline bool vprof_arrow_is_set(T& vprof_x, vprof_choice<true>) {
  return vprof_x.operator->() != 0;
}
template <class T>
__attribute__((__always_inline__)) inline bool vprof_arrow_is_set(T&, vprof_choice<false>) {
  return true;
}
template <class T>
__attribute__((__always_inline__)) inline bool vprof_is_set(T& vprof_x, vprof_choice<false>) {
  return vprof_arrow_is_set(vprof_x, vprof_choice<vprof_offers<T>::kArrow>());
}
template <class T>
__attribute__((__always_inline__)) inline bool vprof_is_set(T& vprof_x) {
  return vprof_is_set(vprof_x, vprof_choice<vprof_offers<T>::kBool>());
}

/* A map has the element if it has the key, another container if it is large enough. */
template <class T, class N>
__attribute__((__always_inline__)) inline bool vprof_is_within(T& vprof_x, const N& vprof_n,
                                                               vprof_choice<true>) {
  return static_cast<vprof_u64>(vprof_n) < static_cast<vprof_u64>(vprof_x.size());
}
template <class T, class N>
__attribute__((__always_inline__)) inline bool vprof_is_within(T& vprof_x, const N&,
                                                               vprof_choice<false>) {
  return vprof_is_set(vprof_x);
}
template <class T, class N>
__attribute__((__always_inline__)) inline bool vprof_has(T& vprof_x, const N& vprof_n,
                                                         vprof_choice<true>) {
  return vprof_x.count(vprof_n) != 0;
}
template <class T, class N>
__attribute__((__always_inline__)) inline bool vprof_has(T& vprof_x, const N& vprof_n,
                                                         vprof_choice<false>) {
  return vprof_is_within(vprof_x, vprof_n, vprof_choice<vprof_offers<T>::kSize>());
}
template <class T, class N>
__attribute__((__always_inline__)) inline bool vprof_has(T& vprof_x, const N& vprof_n) {
  return vprof_has(vprof_x, vprof_n, vprof_choice<vprof_offers<T>::kMap>());
}

}  // namespace vprof
}  // extern "C++"

#define VPROF_RT_IS_SET(vprof_x) ::vprof::vprof_is_set(vprof_x)
#define VPROF_RT_HAS(vprof_x, vprof_n) ::vprof::vprof_has(vprof_x, vprof_n)
#if __cplusplus >= 201103L
#define VPROF_RT_NAMED(vprof_name, vprof_x) auto&& vprof_name = vprof_x
#else
#define VPROF_RT_NAMED(vprof_name, vprof_x) __typeof__(vprof_x)& vprof_name = vprof_x
#endif

#else /* C */

#define VPROF_RT_IS_SET(vprof_x) ((vprof_x) != 0)
#define VPROF_RT_HAS(vprof_x, vprof_n) ((vprof_x) != 0)
/* An array becomes a pointer. */
#define VPROF_RT_NAMED(vprof_name, vprof_x) __auto_type vprof_name = vprof_x

#endif

/* Braces, so that each name is declared first in a block, as C89 wants it. */
#define VPROF_STEP(vprof_name, vprof_x)  \
  {                                      \
    VPROF_RT_NAMED(vprof_name, vprof_x); \
    if (VPROF_RT_IS_SET(vprof_name))
#define VPROF_STEP_AT(vprof_name, vprof_x, vprof_n) \
  {                                                 \
    VPROF_RT_NAMED(vprof_name, vprof_x);            \
    if (VPROF_RT_HAS(vprof_name, vprof_n))

#define VPROF_IF_SET(vprof_steps, vprof_call, vprof_ends) \
  __extension__({                                         \
    vprof_steps { vprof_call; }                           \
    vprof_ends 0;                                         \
  })
#define VPROF_VIA(vprof_none, vprof_steps, vprof_k, vprof_ends) \
  __extension__({                                               \
    vprof_u64 vprof_via = vprof_none;                           \
    vprof_steps { vprof_via = VPROF_RT_KEY(vprof_k); }          \
    vprof_ends vprof_via;                                       \
  })

#endif
