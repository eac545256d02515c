// Finds the functions and calls of a source tree from its text alone, for a program that has not
// been built yet. The result is approximate (overloads, macros that hide calls), which is good
// enough for suggestions. Measuring relies on Clang instead.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "vprof/support/files.h"

namespace vprof::driver {

/// The innermost loop around a call, or the strongest of the loops around it.
enum class LoopKind : uint8_t {
  kNone,
  kCounted,  ///< `for (int i = 0; i < n; ++i)`
  kWhile,    ///< `while (condition)`, `do`
  kEndless,  ///< `for (;;)`, `while (true)`
};

struct ScannedCall {
  std::string name;  ///< unqualified, without the object
  LoopKind loop = LoopKind::kNone;
};

/// A type as its last name: `stream` of `const struct stream*`, `Session` of
/// `std::shared_ptr<Session>`.
struct ScannedType {
  std::string name;
  bool pointer = false;  ///< or a reference
};

struct ScannedFunction {
  std::string name;  ///< qualified
  std::string file;  ///< relative to the tree
  int line = 0;
  std::vector<ScannedCall> calls;
  ScannedType returns;
  std::vector<ScannedType> parameters;
  size_t cases = 0;  ///< labels of switch statements
  /// Functions that it stores in an object (`c->handler = on_read`): what continues the work.
  std::set<std::string> leaves_to;
  std::set<std::string> passes;  ///< names that it passes as arguments
};

struct ScannedSource {
  std::vector<ScannedFunction> functions;
  /// Names that are passed as arguments or stored in tables: entry points of threads, callbacks.
  std::set<std::string> passed_on;
  std::set<std::string> in_tables;       ///< those in the initialiser of a table
  std::set<std::string> thread_entries;  ///< those passed to what makes a thread
  std::set<std::string> pool_tasks;      ///< those given to a pool of threads
  /// What the public headers declare, as the last two parts of the name: `zmq_send`, `DB::Write`.
  std::map<std::string, std::string> interface;        ///< with the file
  std::map<std::string, std::set<std::string>> bases;  ///< of a class, by its last name
  bool annotated = false;                              ///< calls vprof_begin
  size_t files = 0;
};

/// Scans all C and C++ files below `root`, except in hidden directories and build trees.
ScannedSource scan_tree(const fs::path& root);

/// Whether a file is not part of the program proper: tests, examples, libraries that it contains.
bool is_auxiliary(const std::string& file);

/// The last two parts of a name: `DB::Write` of `leveldb::DB::Write`.
std::string short_name(const std::string& name);

/// Whether a name in vprof.json may mean a function of the text, whose outermost namespace may be a
/// macro there.
bool may_mean(std::string_view name, const ScannedFunction& function);

/// Scans the text of one file and adds the result to `into`.
void scan_text(std::string_view text, const std::string& file, ScannedSource& into);

}  // namespace vprof::driver
