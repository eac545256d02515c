// The program under study, as plain data. The instrumenter's pipeline:
//
//   translation units ──parse──▶ Functions ──merge──▶ Program ──save──▶ index.json
//                                                        │
//   plan.json ──load──▶ Plan ────────────────────────────┤
//                                                     rewrite
//                                                        ├──▶ insertions ──▶ mirror
//                                                        └──▶ sites.json
//
// Clang appears only in the parsing step. This header has no Clang in it: the driver reads the
// index through it, and the rewriter works on it alone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "vprof/instrumenter/reasons.h"
#include "vprof/support/result.h"

namespace vprof::instrumenter {

/// How a call can be measured where it is written. program/forms.h says what each form inserts.
enum class Form : uint8_t {
  kStatement,   ///< the call is a statement: a block with a scope
  kExpression,  ///< C: a GNU statement expression with a scope
  kLvalue,      ///< C: the same around its address, for a macro that is an lvalue
  kValue,       ///< C++: (enter, leave(call)) through the comma operator
  kVoid,        ///< C++: (enter, call, leave)
  kGuard,       ///< C++: (guard, call), if no other call of the full expression is wrapped
  kRefused,     ///< not at all; Call::reason says why
};

enum class CallKind : uint8_t {
  kDirect,
  kVirtual,
  kIndirect,  ///< through a pointer
  kSpawn,     ///< passed to pthread_create and the like: a new thread starts with it
  kCallback,  ///< passed to another function, which may call it
  kTask,      ///< passed to an executor or a pool, which runs it here or on another thread
  kInstance,  ///< what a call in a template, kIndirect, calls in one of its instantiations
};

/// A place in a function where another function is called.
struct Call {
  /// Key of the callee. An indirect call is known only by its text and has `spelling@`.
  std::string callee_key;
  std::string callee_name;  ///< as a user would write it
  std::string callee_usr;   ///< Clang's cross-unit id of the callee; empty for indirect calls
  std::string type;         ///< of an indirect call: the type of the function it calls
  /// Of a function that is passed on: key, name and USR of the function it is passed to.
  std::string receiver_key, receiver_name, receiver_usr;
  std::string macro;        ///< the macro whose expansion is [begin, end); empty for plain text
  std::string macro_file;   ///< where the macro is defined, as `file`; outside the mirror: its path
  uint32_t macro_line = 0;  ///< 1-based; 0: unknown
  CallKind kind = CallKind::kDirect;
  Form form = Form::kRefused;
  /// An error path, which adds no height: the callee never returns, or the call is in a macro that
  /// never completes.
  bool noreturn = false;
  bool trivial = false;  ///< the callee is a library accessor of a few instructions
  bool in_loop = false;  ///< the call is in a loop of its function
  uint32_t begin = 0;    ///< byte offsets in `file` of the text to wrap
  uint32_t end = 0;      ///< one past the last byte; for kStatement, behind the `;`
  /// Offset of the outermost expression around it: calls that may run at the same time share the
  /// value. A statement expression belongs to the expression that it is in.
  uint32_t full_expr = 0;
  uint32_t line = 0;              ///< 1-based, physical line in `file`
  uint32_t column = 0;            ///< 1-based, bytes
  std::string file;               ///< relative to the mirror
  Reason reason = Reason::kNone;  ///< for kRefused
};

/// What is known of the operand of a co_await.
enum class AwaitKind : uint8_t {
  kObject,  ///< an object, such as a task that was made before
  kCall,    ///< a call: of a coroutine, or of another function
  kYield,   ///< it is a co_yield
};

/// A co_await or co_yield in a coroutine.
struct Suspension {
  std::string name;  ///< what is awaited, for reports
  std::string type;  ///< of an object: as Function::returns
  std::string file;  ///< relative to the mirror
  AwaitKind kind = AwaitKind::kObject;
  Form form = Form::kRefused;  ///< kGuard; within a larger expression kValue, kVoid
  uint32_t begin = 0;          ///< byte offsets in `file` of the text to wrap
  uint32_t end = 0;
  uint32_t operand = 0;  ///< offset of the operand
  uint32_t line = 0;     ///< 1-based
  uint32_t column = 0;   ///< 1-based, bytes

  bool operator==(const Suspension&) const = default;
};

/// A loop that does nothing but read atomic or volatile objects until another thread changes them.
struct SpinLoop {
  uint32_t line = 0;   ///< 1-based, in the file of the function
  std::string object;  ///< what it reads, as a value of vprof.json (`arg:0`); empty: not known
  bool alone = false;  ///< the function does nothing else

  bool operator==(const SpinLoop&) const = default;
};

/// A function, method, or lambda body, with a definition (`file` is not empty) or without.
struct Function {
  std::string key;   ///< `qualified::name@file:line` or `name@`
  std::string name;  ///< qualified name as users write it
  std::string usr;   ///< Clang's cross-unit id
  std::string file;  ///< relative to the mirror; empty: no definition in the program
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t body = 0;  ///< offset behind the `{` of the body, where a scope can be inserted
  bool is_cxx = false;
  /// A few instructions, no loop, no call: measuring it would distort more than it reveals.
  bool trivial = false;
  uint32_t size = 0;    ///< statements and expressions in the body, as Clang counts nodes
  bool loops = false;   ///< a loop in the body, or what may be one or take long: goto, asm, new
  bool unique = false;  ///< a copy of it would not mean the same (static variables, ...)
  std::set<std::string> labels;  ///< C++: in its body, but for those of inner blocks (`__label__`)
  bool endless = false;          ///< contains a loop that nothing in it leaves
  bool is_inline = false;        ///< C: declared inline, so a copy of it cannot be noinline
  bool in_tree = false;          ///< the definition is in the mirror and may be rewritten
  Reason refused = Reason::kNone;  ///< why no scope can be inserted; kNone: one can
  uint32_t head_begin = 0;  ///< first byte of the definition; its head is [head_begin, body-1)
  uint32_t name_begin = 0;  ///< byte range of the name in the definition
  uint32_t name_end = 0;
  uint32_t body_end = 0;  ///< offset behind the closing `}`
  bool returns_void = false;
  bool variadic = false;
  bool is_method = false;
  std::string type;  ///< canonical, equal in all units; empty if it depends on a template
  std::vector<std::string> overrides;  ///< USRs of the virtual methods it overrides directly
  /// Keys of the functions, besides this one, that a call of it may reach: the overriders of a
  /// virtual method; for `(*pointer)`, the functions of that type whose address is taken; for a
  /// macro, the functions it calls; for a library function, those passed to it; for the call
  /// operator of `std::function` and the like, those stored in one. Sorted; set by finish().
  std::vector<std::string> targets;
  std::vector<std::string> params;  ///< names of the parameters, "" for unnamed ones
  std::vector<Call> calls;          ///< ordered by (file, begin)
  /// Where a macro with arguments is expanded, and that is no call: offsets in `file`, ascending. A
  /// unit with other macros may read a call there.
  std::vector<uint32_t> bare_macros;
  int height = 0;               ///< longest chain of calls below it; 0: a leaf
  std::vector<SpinLoop> spins;  ///< loops in it that wait for another thread by spinning
  bool coroutine = false;
  /// Of a coroutine: the class that it returns, without template arguments.
  std::string returns;
  std::vector<Suspension> suspensions;  ///< ordered by (file, begin)
};

/// A compiled file and the files it includes.
struct Unit {
  std::string file;                        ///< relative to the mirror
  std::vector<std::string> deps;           ///< files of the tree that it reads, itself included
  std::string error;                       ///< why Clang could not parse it; empty if it could
  std::vector<std::string> address_taken;  ///< USRs of functions whose address it takes
};

/// The index of a whole program. Functions are sorted by key, so ids (positions) are deterministic.
class Program {
 public:
  std::vector<Function> functions;
  std::vector<Unit> units;
  std::map<std::string, std::string> file_hashes;  ///< content_hash() of each indexed file
  std::vector<std::string> conflicts;  ///< places where units read a shared file differently

  /// The function with exactly this key, or nullptr.
  const Function* by_key(std::string_view key) const;
  /// All functions that a user may mean: by key, `name@path`, qualified name, or its last part.
  std::vector<const Function*> find(std::string_view name) const;
  /// At most `count` names near `name` (edit distance), best first: for "did you mean".
  std::vector<std::string> suggestions(std::string_view name, size_t count = 3) const;
  /// Functions that call `f`, sorted by key.
  std::vector<const Function*> callers(const Function& f) const;
  /// How many functions call `f`.
  size_t caller_count(const Function& f) const;
  /// Whether a call through a pointer, or of a virtual method, may reach `f`.
  bool is_target(const Function& f) const { return targets_.contains(f.key); }
  /// How many functions are defined in the tree.
  size_t own_functions() const { return own_functions_; }
  /// Whether expanding `f` would measure at least one call: one of its own, at its place or at the
  /// entry of what it calls, or, for a virtual method or a pointer, one in the functions behind it.
  bool expandable(const Function& f) const;
  /// Builds the lookup tables, targets and heights. Call it after changing `functions`.
  void finish();

 private:
  /// So that a lookup makes no copy of the text.
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, uint32_t, TextHash, std::equal_to<>> by_key_;
  std::unordered_map<std::string, std::vector<uint32_t>> by_name_;
  std::unordered_map<std::string, std::vector<uint32_t>> callers_;
  std::unordered_set<std::string> targets_;
  size_t own_functions_ = 0;
};

/// Whether the callee, if it runs at all, runs before the caller continues. False for functions
/// that are passed on.
bool is_call(const Call& call);

/// A pointer or virtual method that leads to more functions than this is first broken down by
/// function.
inline constexpr size_t kExpandedTargets = 8;

/// The functions whose calls are measured if `f` is expanded: itself and, if they are few, its
/// targets.
std::vector<const Function*> expanded_with(const Program& program, const Function& f);

/// The functions of the tree whose entries stand for this call, where it cannot be measured in
/// place: what is called; of a virtual method, what overrides it; of a pointer, what is behind it
/// and has the type of this call. More than 64 overriders or functions behind a pointer are left
/// out, since they would put scopes into half the program.
std::vector<const Function*> entries_of(const Program& program, const Call& call);

/// Whether `f` calls what it is given: through a pointer, a function object, or a parameter of a
/// template. Between two frames of it may be anything.
bool is_wrapper(const Program& program, const Function& f);

/// Whether a function is so small that the compiler is likely to inline it, unless a site is in the
/// way, and called in many places, so most likely often; or tiny, and little but one call of
/// another function of the tree, unless it may be behind a pointer. Such a function has no loop. In
/// a large program, any function small enough to read at a glance.
bool is_small_helper(const Program& program, const Function& f);

/// Whether a function is small, has no loop, and calls nothing worth measuring: it takes the same
/// time whenever it runs.
bool does_little(const Program& program, const Function& f);

/// Whether measuring a call would reveal anything: the callee is not trivial and returns.
bool worth_measuring(const Program& program, const Call& call);

/// Hash of a file's text in lower-case hex, the same on every machine.
std::string content_hash(std::string_view text);

/// Reads index.json. Error: one line that names the file and what is wrong with it.
Result<Program> load_program(const std::string& path);
/// Writes index.json atomically.
Result<void> save_program(const Program& program, const std::string& path);

}  // namespace vprof::instrumenter
