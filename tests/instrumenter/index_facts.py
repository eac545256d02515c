#!/usr/bin/env python3
"""What the index says about small programs: which functions may be called through what, which lambdas can be measured,
which loops spin, and that a unit is read whatever its compiler. Standard headers are declared here, as far as needed,
unless a test is about them."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

OPTIONS = None

STD = """
namespace std {
class thread { public: template <class F, class... A> explicit thread(F&& f, A&&... a) { run(f); } template <class F> void run(F&); };
template <class T> struct vector { template <class... A> void emplace_back(A&&... a); T* begin(); T* end(); };
template <class S> class function;
template <class R, class... A> class function<R(A...)> {
 public:
  function() = default;
  template <class F> function(F f) { keep(f); }
  template <class F> function& operator=(F) { return *this; }
  template <class F> void keep(F&);
  R operator()(A... a) const;
};
template <class F> void for_each(int*, int*, F f);
template <class T> struct atomic {
  T load() const; T exchange(T); operator T() const; bool compare_exchange_weak(T&, T); void store(T);
};
namespace this_thread { void yield(); }
}
void leaf(int);
inline void work(int n) { leaf(n); leaf(n + 1); }
"""


class Index(unittest.TestCase):
    def setUp(self):
        self.work = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.work)

    def index(self, text, *flags, name="a.cpp", compiler="g++", headers=STD, more=()):
        """The functions of a program, by name: of the file `name`, and of those in `more`, which are compiled if
        they are no headers."""
        mirror = os.path.join(self.work, "mirror")
        outside = os.path.join(self.work, "include")
        for folder in (mirror, outside):
            os.makedirs(folder, exist_ok=True)
        with open(os.path.join(outside, "outside.h"), "w") as f:
            f.write("#pragma GCC system_header\n" + headers)
        with open(os.path.join(mirror, name), "w") as f:
            f.write("#include <outside.h>\n" + text)
        for other, content in dict(more).items():
            with open(os.path.join(mirror, other), "w") as f:
                f.write(content)
        compiled = [name, *(other for other in dict(more) if not other.endswith(".h"))]
        database = os.path.join(self.work, "compile_commands.json")
        command = [compiler, "-I" + outside, *flags, "-c"]
        with open(database, "w") as f:
            json.dump([{"directory": mirror, "file": one, "arguments": [*command, one]} for one in compiled], f)
        out = os.path.join(self.work, "index.json")
        done = subprocess.run([OPTIONS.instrument, "index", "--compile-commands", database, "--mirror", mirror, "--pristine",
                               os.path.join(self.work, "pristine"), "--cache", os.path.join(self.work, "cache"), "--out", out],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(out) as f:
            program = json.load(f)
        self.assertEqual([u["error"] for u in program["units"] if "error" in u], [])
        return {f["name"]: f for f in program["functions"]}

    def test_copies(self):
        functions = self.index("""
int g(int);
void leave(int) __attribute__((noreturn));
int plain(int x) { return g(x); }
int counts(int x) { static int n; return g(x) + n++; }
int hidden(int x) { return ({ static int n; n += x; }); }
int computed(int x) { void *p = &&out; if (x) goto *p; g(x); out: return x; }
int barrier(int x) { __asm__ volatile("" ::: "memory"); return g(x); }
int instruction(int x) { __asm__ goto("jmp %l0" : : : : out); g(x); out: return x; }
int labelled(int x) { __asm__ volatile("here: nop"); return g(x); }
int directive(int x) { __asm__ volatile(".globl g"); return g(x); }
int frame(int x) { return __builtin_return_address(0) ? g(x) : 0; }
__attribute__((constructor)) void early(void) { g(1); }
__attribute__((format(printf, 1, 2))) int before(const char *f, int x) { return g(x); }
int stopped(int x) __attribute__((constructor));
inline int common(int x) { return g(x); }
static inline int own(int x) { return g(x); }
_Noreturn void fatal(int x) { g(x); leave(x); }
int varies(int x, ...) { return g(x); }
int old(x, y) int x; int y; { return g(x + y); }
int older(x) { return g(x); }
int nothing() { return g(1); }
int main(void) { return plain(1) + own(2); }
""", "-std=gnu89", name="a.c", compiler="gcc", headers="")
        self.assertEqual(sorted(name for name, f in functions.items() if f.get("unique")),
                         ["common", "computed", "counts", "directive", "early", "fatal", "frame", "hidden", "labelled", "main", "old", "older", "varies"])

    def test_bodies_that_may_not_stand_twice(self):
        functions = self.index("""
struct Value { int n; ~Value(); };
template <class T> struct Box { T n; T get() { return n; } void set(T x) { leaf(1); n = x; } };
#define ONCE do { static bool done; if (!done) leaf(1); done = true; } while (0)
int plain(int x) { leaf(x); switch (x) { case 1: return 2; default: break; } return 3; }
Value &refers(Value &v) { leaf(1); return v; }
int varies(int x, ...) { leaf(x); return x; }
[[noreturn]] void fatal(int x) { for (;;) leaf(x); }
Value by_value() { Value v; leaf(v.n); return v; }
auto deduced() { leaf(1); return 1; }
decltype(auto) deduced_as_written() { leaf(1); return 1; }
void counts() { static int n; leaf(++n); }
void reads() { static int n; leaf(n); }
void in_thread() { thread_local int n; leaf(n); }
void once(int x) { leaf(x); ONCE; }
void labelled(int x) { again: leaf(x); if (x) goto again; }
template <class F> void each(F f) { f(1); }
void lambda(int x) { leaf(x); each([](int n) { leaf(n); }); }
void local() { struct { int n; } s; leaf(s.n); }
void local_enum() { enum E { kA }; leaf(kA); }
constexpr int constant(int x) { if (x) leaf(x); return x; }
void tries(int x) try { leaf(x); } catch (...) { leaf(1); }
__attribute__((always_inline)) inline void always(int x) { leaf(x); }
void assembles() { asm("label: nop"); leaf(1); }
int main() { leaf(1); }
""", "-std=c++17")
        unique = {name for name, f in functions.items() if f.get("unique") and f["file"] == "a.cpp"}
        self.assertEqual(sorted(unique),
                         ["Box::get", "always", "assembles", "by_value", "constant", "counts", "deduced",
                          "deduced_as_written", "in_thread", "lambda", "lambda::lambda", "local", "local_enum", "main", "once", "tries"])

    def test_bodies_with_a_lambda_that_is_not_in_their_text(self):
        functions = self.index("""
template <class T = decltype([] {})> int counted() { static int n; return ++n; }
template <auto L = [] { return 1; }> struct Calls { static int use() { return L(); } int own() { return L(); } };
template <class T, class U = decltype([] {})> struct Guard { Guard(T t) : t_(t) {} T t_; };
template <class T = int> int plain_default() { return 1; }
int by_function(int x) { leaf(x); return counted(); }
int by_static_method(int x) { leaf(x); return Calls<>::use(); }
int by_deduction(int x) { Guard g(x); leaf(x); return g.t_; }
int by_temporary(int x) { leaf(x); return Guard<int>(x).t_; }
int without(int x) { leaf(x); return plain_default(); }
""", "-std=c++20")
        unique = sorted(name for name, f in functions.items() if f.get("unique") and name.startswith(("by_", "without")))
        self.assertEqual(unique, ["by_deduction", "by_function", "by_static_method", "by_temporary"])

    def test_units_that_redefine_if(self):
        """What is inserted would not mean what it says."""
        for text in ("int f(int x) { leaf(x); return x; }", "#define if(c) if ((leaf(1), (c)))\nint f(int x) { leaf(x); return x; }"):
            self.assertEqual("#" in text, self.index(text)["f"].get("unique", False))

    def test_a_call_that_is_a_macro_without_a_call_in_another_unit(self):
        header = """
struct thread; void *allocate(thread *, int); thread *always(int);
#ifdef SMALL
#define current(x) 0
#define note(x) ((void)0)
#else
thread *current(int); void note(int);
#endif
inline void *get(int n) { note(n); return allocate(current(n), n); }
inline void *keep(int n) { return allocate(always(n), n); }
"""
        for first, second in (("", "#define SMALL\n"), ("#define SMALL\n", "")):
            functions = self.index(first + '#include "h.h"\nvoid *a() { return get(1); }', headers="",
                                   more={"h.h": header, "b.cpp": second + '#include "h.h"\nvoid *b() { return keep(1); }'})
            forms = {c["name"]: c.get("form", "refused") for f in ("get", "keep") for c in functions[f]["calls"]}
            self.assertEqual("refused", forms["current"])
            self.assertEqual("statement", forms["note"])
            self.assertEqual(["value"] * 2, [forms["allocate"], forms["always"]])

    def test_endless_loops(self):
        functions = self.index("""
int g(int);
void ever(void) { for (;;) g(1); }
void always(void) { while (1) { if (g(1)) continue; switch (g(2)) { case 1: break; } } }
void turns(void) { do { again: if (g(1)) goto again; for (;;) { if (g(2)) break; } } while (1); }
void leaves(void) { for (;;) { if (g(1)) break; } }
int returns(void) { while (1) { if (g(1)) return 2; } }
void jumps(void) { for (;;) { if (g(1)) goto out; } out: g(3); }
void asks(int x) { while (x) x = g(x); }
void once(void) { do { g(1); } while (0); }
""", name="a.c", compiler="gcc", headers="")
        self.assertEqual(sorted(name for name, f in functions.items() if f.get("endless")), ["always", "ever", "turns"])
        self.assertNotIn("loops", functions["once"])
        self.assertIn("loops", functions["asks"])

    def test_endless_loops_in_cxx(self):
        functions = self.index("""
void ever(std::vector<int> v) { for (;;) for (int n : v) { leaf(n); break; } }
template <class F> void each(F f) { f(1); }
void only_the_lambda_returns() { for (;;) each([](int n) { return leaf(n); }); }
void throws(int x) { while (true) { leaf(x); if (x) throw 1; } }
void leaves(int x) { while (true) { leaf(x); if (x) return; } }
""", "-std=c++17")
        self.assertEqual(sorted(name for name, f in functions.items() if f.get("endless")),
                         ["ever", "only_the_lambda_returns", "throws"])

    def test_calls_of_instantiations(self):
        """Where a callee depends on the parameters of a template, each instantiation knows it."""
        functions = self.index("""
struct Disk { void fetch(int); };
void Disk::fetch(int n) { static volatile int sink; for (int i = 0; i < n; ++i) sink = sink + i; }
struct Derived;
template <class D> struct Base { void run(int x) { static_cast<D*>(this)->impl(x); } };
struct Derived : Base<Derived> { void impl(int x) { disk.fetch(x); } Disk disk; };
struct Policy { static void work(int x) { Disk().fetch(x); } };
template <class P> struct Uses { static void apply(int x) { P::work(x); } };
template <class B> struct Store { B b; template <class N> void get(N n) { b.fetch(n); } };
template <class B> void load(B& backend, int x) { auto within = [&] { backend.fetch(x); }; within(); }
template <class B> void never(B& backend) { backend.fetch(1); }
auto generic = [](auto& backend, int x) { backend.fetch(x); };
void request(int x) {
  Disk disk;
  Derived().run(x);
  Uses<Policy>::apply(x);
  Store<Disk>().get(x);
  load(disk, x);
  generic(disk, x);
}
""")
        called = {name: sorted(c["name"] for c in f.get("calls", []) if c.get("kind") == "instance") for name, f in functions.items()}
        called = {name: callees for name, callees in called.items() if callees}
        self.assertEqual({re.sub(":\\d+", "", name): callees for name, callees in called.items()}, {
            "Base::run": ["Derived::impl"], "Uses::apply": ["Policy::work"], "Store::get": ["Disk::fetch"],
            "load": ["load::lambda"], "load::lambda": ["Disk::fetch"], "lambda": ["Disk::fetch"]})

    def test_error_paths(self):
        """A macro that does not come back is no part of what a function is there for."""
        functions = self.index("""
int g(int), report(int, int);
void leave(int) __attribute__((noreturn));
#define ERROR 20
#define SAY(level) do { if (report(level, g(1))) g(level); if (__builtin_constant_p(level) && (level) >= ERROR) __builtin_unreachable(); } while (0)
#define DIE(x) do { for (int i = 0; i < 3; ++i) g(i); leave(x); } while (0)
void raises(int x) { if (x < 0) SAY(ERROR); g(x); }
void warns(int x) { if (x < 0) SAY(10); g(x); }
void dies(int x) { if (x < 0) DIE(x); g(x); }
void forks(int x) { if (x == 0) { g(1); leave(g(2)); } g(x); }
""", name="a.c", compiler="gcc", headers="")
        lasting = {name: [c["name"] for c in functions[name]["calls"] if not c.get("noreturn")] for name in functions
                   if "calls" in functions[name]}
        self.assertEqual(lasting["raises"], ["g"])
        self.assertEqual(sorted(lasting["warns"]), ["g", "g", "g", "report"])
        self.assertEqual(lasting["dies"], ["g"])
        self.assertNotIn("loops", functions["dies"])
        self.assertLess(functions["raises"]["size"], functions["warns"]["size"])
        self.assertEqual(lasting["forks"], ["g", "g", "g"], "a child that ends is no error")

    def passed(self, function, kind):
        return [c["name"] for c in function["calls"] if c.get("kind") == kind]

    def test_a_macro_has_a_definition(self):
        os.makedirs(os.path.join(self.work, "include"))
        with open(os.path.join(self.work, "include/outside_macro.h"), "w") as f:
            f.write("\n#define OUTSIDE(n) leaf(n)\n")
        function = self.index("""
#define WITH_LATCH(work) \\
  do {                   \\
    leaf(1);             \\
    work;                \\
  } while (0)
#define OUTER(n) INNER(n)
#define INNER(n) leaf(n); \\
  leaf(n + 1)
#include <outside_macro.h>
void f(int n) {
  WITH_LATCH(leaf(n));
  OUTER(n);
  OUTSIDE(n);
  leaf(n);
}
""")["f"]
        found = [(c.get("macro", ""), c.get("macro_file", "").rpartition("/")[2], c.get("macro_line", 0))
                 for c in function["calls"]]
        self.assertEqual(found[:2], [("WITH_LATCH", "a.cpp", 3)] * 2)
        self.assertEqual(found[2:4], [("OUTER", "a.cpp", 8)] * 2)  # the one that is used, not one within it
        self.assertEqual(found[4], ("OUTSIDE", "outside_macro.h", 2))
        self.assertEqual(found[5], ("", "", 0))

    def test_only_lambdas_in_constant_expressions_are_left_out(self):
        functions = self.index("""
struct server { int n; void start(std::vector<std::thread>& all) { all.emplace_back([this] { work(n); }); } };
constexpr auto square = [](int x) { return x * x; };  // line 4
static_assert(square(2) == 4);
int f(int n) {
  auto at_run_time = [](int x) { return x + 1; };           // line 7
  auto declared = [](int x) constexpr { return x + 1; };    // line 8
  auto in_constant = [](int x) { return x + 1; };           // line 9
  const int three = in_constant(2);
  int table[three] = {};
  return at_run_time(n) + declared(n) + table[0];
}
constexpr int g(int n) {
  auto inside = [](int x) { return x + 1; };
  return inside(n);
}
""", "-std=c++20")
        refused = {name: f.get("refused", "") for name, f in functions.items() if f.get("in_tree")}
        self.assertEqual(refused, {"server::start": "", "server::start::lambda": "", "lambda:4": "constexpr", "f": "",
                                   "f::lambda:7": "", "f::lambda:8": "constexpr", "f::lambda:9": "constexpr",
                                   "g": "constexpr", "g::lambda": "constexpr"})
        call = next(c for c in functions["f"]["calls"] if c["name"] == "f::lambda:7")
        self.assertEqual((call["form"], call.get("reason")), ("value", None))

    def test_lambdas_of_one_line_have_columns(self):
        functions = self.index("""
int f(int n) {
  auto a = [](int x) { return x; }, b = a; auto c = [](int x) { return -x; };
  return a(n) + b(n) + c(n);
}
""", "-std=c++20")
        self.assertEqual([name for name in functions if "lambda" in name], ["f::lambda:4:22", "f::lambda:4:63"])

    def test_threads_and_tasks(self):
        functions = self.index("""
namespace boost::asio { struct io_context {}; template <class F> void post(io_context&, F f) { f(); } }
namespace tbb { template <class I, class F> void parallel_for(I, I, const F& f); struct task_group { template <class F> void run(F f); }; }
namespace QtConcurrent { template <class F> void run(F f); }
namespace folly { struct Executor { virtual void add(std::function<void()> f) = 0; }; }
struct server; void serve(server*);
struct worker { server& s; void operator()() { serve(&s); } };
struct server {
  std::vector<std::thread> threads;
  void run() { work(1); }
  void start(boost::asio::io_context& io, tbb::task_group& group, folly::Executor& pool) {
    threads.emplace_back(worker{*this});
    threads.emplace_back(&server::run, this);
    boost::asio::post(io, [this] { work(14); });
    tbb::parallel_for(0, 9, [](int i) { work(i); });
    group.run([] { work(16); });
    QtConcurrent::run([] { work(17); });
    pool.add([] { work(18); });
    std::for_each(nullptr, nullptr, [](int i) { work(i); });
  }
};
""", "-std=c++20")
        start = functions["server::start"]
        self.assertEqual(sorted(self.passed(start, "spawn")), ["server::run", "worker::operator()"])
        self.assertEqual(self.passed(start, "task"), [f"server::start::lambda:{line}" for line in range(15, 20)])
        self.assertEqual(functions["std::for_each"]["height"], 2)
        self.assertEqual(start["height"], 4)  # post, which is of the program here, (*f), the lambda, work

    def test_threads_that_templates_start(self):
        functions = self.index("""
struct worker { void operator()() { work(1); } };
struct thread_pool { template <class F> void submit(F f); };
template <class T> struct server {
  T value;
  std::vector<std::thread> threads;
  thread_pool pool;
  void start() {
    threads.emplace_back([this] { leaf(value); });
    std::thread named([this] { leaf(value); });
    std::thread braces{[this] { leaf(value); }};
    threads.emplace_back(std::thread([this] { leaf(value); }));
    auto* owned = new std::thread([this] { leaf(value); });
    pool.submit([this] { leaf(value); });
    worker{}();
  }
};
int main() { server<int>().start(); }
""", "-std=c++20")
        start = functions["server::start"]
        self.assertEqual(sorted(set(self.passed(start, "spawn"))), [f"server::start::lambda:{line}" for line in range(10, 15)])
        self.assertEqual(self.passed(start, "task"), ["server::start::lambda:15"])

    def test_names_of_partial_specialisations(self):
        functions = self.index("""
template <class T> struct box { int get(); };
template <class T> struct box<T*> { int get() { leaf(1); return 1; } struct in { int run() { leaf(2); return 2; } }; };
template <class T, int N> struct box<T[N]> { int get() { leaf(N); return 3; } };
template <class R, class... A> struct box<R(A...)> { int get() { leaf(4); return 4; } };
template <template <class> class C, class> struct wrap;
template <template <class> class C, class T> struct wrap<C, C<T>> { int get() { leaf(5); return 5; } };
template <class> struct plain; template <class T> struct plain<const T> { int get() { leaf(6); return [] { leaf(7); return 6; }(); } };
int main() { box<int*> b; return b.get() + box<int*>::in().run() + std::function<int(int)>()(3); }
""", "-std=c++20")
        for name in ("box<T *>::get", "box<T *>::in::run", "box<T[N]>::get", "box<R (A...)>::get", "wrap<C, C<T>>::get",
                     "plain<const T>::get", "plain<const T>::get::lambda", "std::function<R (A...)>::operator()"):
            self.assertIn(name, functions)

    def test_a_global_function_object_is_above_its_handler(self):
        functions = self.index("""
std::function<void(int)> handler;
void deep(int n) { leaf(n); }
void handle(int n) { deep(n); }
void begin(int n) { handler(n); }
int main() { handler = [](int n) { handle(n); }; begin(1); }
""", "-std=c++20")
        call = next(f for name, f in functions.items() if name.startswith("std::function") and name.endswith("()"))
        heights = [functions[name]["height"] for name in ("leaf", "deep", "handle", "main::lambda")]
        self.assertEqual(heights, [0, 1, 2, 3])
        self.assertEqual([call["height"], functions["begin"]["height"], functions["main"]["height"]], [4, 5, 6])

    def test_pointers_to_methods_and_in_structs(self):
        functions = self.index("""
struct C { void (C::*step)(int); void one(int n) { leaf(n); } void call() { (this->*step)(1); } };
struct Table { void (*run)(long); };
void entry(long n) { leaf(static_cast<int>(n)); }
Table table = {entry};
void dispatch() { table.run(3); }
int main() { C c{&C::one}; c.call(); dispatch(); }
""", "-std=c++20")
        self.assertEqual(functions["C::call"]["height"], 3)
        self.assertEqual(functions["dispatch"]["height"], 3)

    def test_loops_that_spin(self):
        functions = self.index("""
struct lock {
  std::atomic<int> held;
  int n;
  bool is_held() const { return held.load(); }
  void take() { while (held.exchange(1)) std::this_thread::yield(); }
  void wait() { int tries = 0; while (is_held()) if (++tries > 9) break; }
  void update(int more) { int old = held.load(); while (!held.compare_exchange_weak(old, old + more)) {} }
  void other() { while (held.load()) work(n); }
};
int sum(std::atomic<int>* all, int n) { int s = 0; for (int i = 0; i < n; ++i) s += all[i].load(); return s; }
int find(std::atomic<int>* all) { int i = 0; while (all[i].load() != 0) ++i; return i; }
void plain(int* p, int n) { for (int i = 0; i < n; ++i) p[i] = i; }
void flag(volatile int* ready) { work(1); while (*ready == 0) {} }
void swap(lock* l) { int no = 0; while (!l->held.compare_exchange_weak(no, 1)) no = 0; }
void copied(std::atomic<int>* a) { for (;;) { const int seen = a->load(); if (seen != 0) return; } }
""", "-std=c++20")
        found = {name: f["spins"] for name, f in functions.items() if "spins" in f}
        self.assertEqual(found, {
            "lock::take": [{"line": 7, "object": "this", "alone": True}],
            "lock::wait": [{"line": 8, "object": "this", "alone": True}],
            "flag": [{"line": 15, "object": "arg:0"}],
            "swap": [{"line": 16, "object": "arg:0", "alone": True}],
            "copied": [{"line": 17, "object": "arg:0", "alone": True}]})

    def test_loops_that_spin_in_c(self):
        functions = self.index("""
#include <stdatomic.h>
void cpu_relax(void) { __asm__ volatile("" ::: "memory"); }
void lock(int* l) { while (__sync_lock_test_and_set(l, 1)) cpu_relax(); }
void builtin(int* l) { while (__atomic_load_n(l, __ATOMIC_ACQUIRE) != 0) ; }
void c11(atomic_int* l) { while (atomic_load(l)) ; }
void counts(int* l) { for (int i = 0; i < 10; ++i) l[i] = 0; }
""", name="a.c", compiler="gcc", headers="")
        self.assertEqual({name: f["spins"][0]["object"] for name, f in functions.items() if "spins" in f},
                         {"lock": "arg:0", "builtin": "arg:0", "c11": "arg:0"})


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--instrument", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=sys.argv[:1] + rest)
