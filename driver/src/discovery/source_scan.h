// Finds the functions and calls of a source tree from its text alone, for a program that has not
// been built yet. The result is approximate (overloads, macros that hide calls), which is good
// enough for suggestions. Measuring relies on Clang instead.
#pragma once

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

struct ScannedFunction {
  std::string name;  ///< qualified
  std::string file;  ///< relative to the tree
  int line = 0;
  std::vector<ScannedCall> calls;
};

struct ScannedSource {
  std::vector<ScannedFunction> functions;
  /// Names that are passed as arguments or stored in tables: entry points of threads, callbacks.
  std::set<std::string> passed_on;
  bool annotated = false;  ///< calls vprof_begin
  size_t files = 0;
};

/// Scans all C and C++ files below `root`, except in hidden directories and build trees.
ScannedSource scan_tree(const fs::path& root);

/// Whether a file is not part of the program proper: tests, examples, libraries that it contains.
bool is_auxiliary(const std::string& file);

/// Scans the text of one file and adds the result to `into`.
void scan_text(std::string_view text, const std::string& file, ScannedSource& into);

}  // namespace vprof::driver
