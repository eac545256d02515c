// Functions and calls of a source tree, by looking at its text alone: for a program that cannot be
// built yet. Wrong here and there (overloads, macros that hide calls), which suggestions may be;
// what is measured comes from Clang.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "vprof/support/files.h"

namespace vprof::driver {

/// What a call stands in.
enum class LoopKind : uint8_t {
  kNone,
  kCounted,  ///< `for (int i = 0; i < n; ++i)`
  kWhile,    ///< goes on as long as something holds
  kEndless,  ///< `for (;;)`, `while (true)`
};

struct ScannedCall {
  std::string name;  ///< as spelled, without what it is a member of
  LoopKind loop = LoopKind::kNone;
};

struct ScannedFunction {
  std::string name;  ///< with its classes and namespaces
  std::string file;  ///< relative to the tree
  int line = 0;
  std::vector<ScannedCall> calls;
};

struct ScannedSource {
  std::vector<ScannedFunction> functions;
  std::set<std::string>
      handed_on;           ///< names that stand in arguments: threads' first functions, callbacks
  bool annotated = false;  ///< calls vprof_begin
  size_t files = 0;
};

/// All C and C++ files below `root`, but for hidden directories and those that were built in.
ScannedSource scan_tree(const fs::path& root);

/// Adds what one file holds.
void scan_text(std::string_view text, const std::string& file, ScannedSource& into);

}  // namespace vprof::driver
