// The program under study, as plain data:
//
//   translation units ──index──▶ Program {functions, calls} ──plan──▶ edits ──▶ mirror + sites.json
//
// This header has no Clang in it: the driver reads the index through it, the rewriter works on it
// alone.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vprof/support/result.h"

namespace vprof::instrumenter {

/// How a call can be measured in place (DESIGN §6). `kRefused`: not at all; the reason says why.
enum class Form : uint8_t {
  kStatement,   ///< the statement is just the call: a block with a scope
  kExpression,  ///< C: GNU statement expression with a scope
  kLvalue,      ///< C: the same around its address, for a macro that is an lvalue
  kValue,       ///< C++: (enter, leave(call)) through the comma operator
  kVoid,        ///< C++: (enter, call, leave)
  kGuard,       ///< C++: (guard, call), only if it is the only wrapped call of its full expression
  kRefused,
};

enum class CallKind : uint8_t {
  kDirect,
  kVirtual,
  kIndirect,  ///< through a pointer
  kSpawn,     ///< handed to pthread_create and its like: not a call, another thread starts with it
  kCallback,  ///< handed to another function, which may call it
};

/// One place in a function where another function is called.
struct Call {
  std::string
      callee_key;  ///< key of the callee; `spelling@` where only the text is known (indirect calls)
  std::string callee_name;  ///< as a user would write it
  std::string callee_usr;   ///< Clang's cross-unit id of the callee; empty for indirect calls
  std::string type;         ///< of an indirect call: type of the function that is called
  std::string macro;        ///< the macro whose expansion begin..end is; empty if it is plain text
  CallKind kind = CallKind::kDirect;
  Form form = Form::kRefused;
  bool noreturn = false;  ///< the callee never returns (error path): does not count towards height
  bool trivial = false;   ///< the callee is an accessor of a library, a few instructions long
  uint32_t begin = 0;     ///< byte offsets of the text to be wrapped, in `file`
  uint32_t end = 0;       ///< one past the last byte; for kStatement behind the `;`
  uint32_t full_expr =
      0;  ///< offset of the full expression that holds it: calls with equal values share it
  uint32_t line = 0;    ///< 1-based, physical line in `file`
  uint32_t column = 0;  ///< 1-based, bytes
  std::string file;     ///< relative to the mirror
  std::string reason;   ///< for kRefused
};

/// One function, method, or lambda body; with a definition (`file` not empty) or without.
struct Function {
  std::string key;   ///< `qualified::name@file:line` or `name@`
  std::string name;  ///< qualified name as users write it
  std::string usr;   ///< Clang's cross-unit id
  std::string file;  ///< relative to the mirror; empty: no definition in the program
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t body = 0;  ///< offset just behind the `{` of the body, where a scope can be inserted
  bool is_cxx = false;
  bool trivial =
      false;  ///< a few instructions, no loop, no call: timing it would distort more than tell
  bool in_tree = false;  ///< the definition lies in the mirror and may be rewritten
  std::string refused;  ///< why no scope can be inserted (coroutine, constexpr, body in a macro …);
                        ///< empty: it can
  uint32_t head_begin =
      0;  ///< offset of the definition's first token: [head_begin, body-1) is its declaration
  uint32_t name_begin = 0;  ///< offset and length of the name in the definition
  uint32_t name_end = 0;
  uint32_t body_end = 0;  ///< offset just behind the closing `}`
  bool returns_void = false;
  bool variadic = false;
  bool is_method = false;
  std::string type;  ///< canonical, equal in all units; empty if it depends on a template
  std::vector<std::string> overrides;  ///< USRs of the virtual methods that it overrides itself
  /// Keys of what a call of it may reach besides itself: overriders of a virtual method; for
  /// `(*pointer)` the functions of that type whose address is taken; for a macro the functions that
  /// it calls. Sorted; set by finish().
  std::vector<std::string> targets;
  std::vector<std::string> params;  ///< names of the parameters ("" where unnamed)
  std::vector<Call> calls;          ///< in order of (file, begin)
  int height = 0;                   ///< longest chain of calls below it; 0: a leaf
};

/// One compiled file with the files it was made from.
struct Unit {
  std::string file;  ///< relative to the mirror
  std::vector<std::string>
      deps;           ///< files in the tree that it includes, itself too; relative to the mirror
  std::string error;  ///< why Clang could not parse it; empty if it could
  std::vector<std::string> address_taken;  ///< USRs of functions whose address is taken in it
};

/// The index of a whole program. Functions are sorted by key, so ids (positions) are deterministic.
class Program {
 public:
  std::vector<Function> functions;
  std::vector<Unit> units;
  std::map<std::string, std::string>
      file_hashes;  ///< content_hash() of each file in the tree as it was indexed
  std::vector<std::string>
      conflicts;  ///< places where units disagree about the text of a shared file

  /// The function with exactly this key, or nullptr.
  const Function* by_key(std::string_view key) const;
  /// All functions that a user may mean: by key, `name@path`, qualified name, or the last part of
  /// it.
  std::vector<const Function*> find(std::string_view name) const;
  /// At most `count` names near `name` (edit distance), best first: for "did you mean".
  std::vector<std::string> suggestions(std::string_view name, size_t count = 3) const;
  /// Functions with a call to one of `f`, sorted by key.
  std::vector<const Function*> callers(const Function& f) const;
  /// Whether expanding `f` would measure at least one call: of its own or, for a virtual method or
  /// a pointer, at the functions behind it.
  bool expandable(const Function& f) const;
  /// Builds the lookup tables, targets and heights; call after changing `functions`.
  void finish();

 private:
  std::unordered_map<std::string, uint32_t> by_key_;
  std::unordered_map<std::string, std::vector<uint32_t>> by_name_;
  std::unordered_map<std::string, std::vector<uint32_t>> callers_;
};

/// Whether the callee runs, if it does, before the caller goes on: not a function that is handed
/// on.
bool is_call(const Call& call);

/// Whether timing a call would tell something: the callee is not trivial and returns.
bool worth_measuring(const Program& program, const Call& call);

/// Hash of a file's text, as lower-case hex; equal texts have equal hashes on every machine.
std::string content_hash(std::string_view text);

/// Reads index.json. Error: one line that names the file and what is wrong with it.
Result<Program> load_program(const std::string& path);
/// Writes index.json atomically.
Result<void> save_program(const Program& program, const std::string& path);

}  // namespace vprof::instrumenter
