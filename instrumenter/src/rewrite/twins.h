// Twins: in an armed program, the sites of a function are in a copy of it.
//
//   before   int f(int a) { return g(a) + 1; }
//
//   after    int f_vprof_measured(int a);
//            int f(int a) { VPROF_GATE(9) { return f_vprof_measured(a); } { return g(a) + 1; }}
//            int f_vprof_measured(int a) { return VPROF_TWIN_EXPR(7) g(a) VPROF_EXPR_END + 1; }
//
// While all sites of a function are off, its original runs, as the compiler made it for the plain
// program, after one test. The gate of the function is a number like that of a site; whoever
// switches a site on, switches its gate on. (Full duplication, as in Arnold and Ryder, "A framework
// for reducing the cost of instrumented code", PLDI 2001, decided at the entry of each function.)
//
// A function of C++ may be a method or a template, in a header that 300 files include: no other
// name can be given to it everywhere. So the copy of its body is in the function itself.
//
//   before   int f(int a) { return g(a) + 1; }
//
//   after    int f(int a) { VPROF_BODY_GATE(9) {
//              return VPROF_VALUE(0,7) g(a) VPROF_VALUE_END(0) + 1;
//            } else { return g(a) + 1; }}
//
// In C, a copy calls the copies of `static` functions, so the originals have no more callers than
// in the plain program, and the compiler puts them in line as it did there. If only copies can
// reach the copy of a static function, it has no gate, unless it has events: those of its callers
// stand for it.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "rewrite/instrumentation.h"
#include "rewrite/text/twin_text.h"
#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

/// What is inserted for a function.
enum class Inserted : uint8_t {
  kNothing,
  kInBody,     ///< sites, all in its body
  kEvents,     ///< the same, with events among them
  kElsewhere,  ///< a wrapper, or sites in another file
};

/// The functions with a copy. None is in two of these.
struct Twins {
  std::set<const Function*> gated;   ///< with sites and a gate
  std::set<const Function*> copied;  ///< without sites; copies call it
  /// With sites, but without a gate: the gated functions through which it can be reached.
  std::map<const Function*, std::set<const Function*>> behind;
  /// Whose copies other copies call: `static` functions that are there whatever the compiler.
  std::set<const Function*> called;

  bool have_sites(const Function* f) const { return gated.contains(f) || behind.contains(f); }
  bool contain(const Function* f) const { return have_sites(f) || copied.contains(f); }
  /// Those whose gate must be open for the sites of `f`.
  std::set<const Function*> gates_of(const Function* f) const;
  std::set<const Function*> all() const;
};

/// Which functions get a copy. Of C, not the functions of headers. Nor those which are likely to
/// run already when a site is switched on, and for long, such as a main loop: a gate is only looked
/// at when a function is entered.
/// @param smallest_of_cxx the size of the smallest function of C++ that gets one
/// Error: a file cannot be read.
Result<Twins> choose_twins(const Program& program,
                           const std::function<Inserted(const Function&)>& inserted,
                           const ReadOriginal& read_original, uint32_t smallest_of_cxx);

/// The calls in a function with a copy that can reach the copy of the callee instead.
std::vector<CallOfCopy> calls_of_copies(const Program& program, const Twins& twins,
                                        const Function& f, const std::string& text);

}  // namespace vprof::instrumenter
