// Facts about the functions of one parsed translation unit.
//
//   ASTContext ──functions with a body in the tree──▶ Functions ──calls──▶ text that can be wrapped
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "vprof/instrumenter/program.h"

namespace clang {
class ASTContext;
class FileEntry;
}  // namespace clang

namespace vprof::instrumenter {

class UnrepeatableText;

/// Path of a file relative to the mirror; empty for files outside it.
using TreePath = std::function<std::string(const clang::FileEntry&)>;

struct UnitFacts {
  std::vector<Function> functions;
  std::vector<std::string> address_taken;  ///< USRs, sorted
};

/// The functions defined in `context`, in files for which `tree_path` is not empty. Calls have the
/// USR of their callee. The merge sets the keys of callees that are not defined in this unit.
UnitFacts facts_of_unit(clang::ASTContext& context, const UnrepeatableText& unrepeatable_text,
                        const TreePath& tree_path);

}  // namespace vprof::instrumenter
