// What one parsed translation unit says about its functions.
//
//   ASTContext ──for each function with a body in the tree──▶ Function {calls with the text that
//   could be wrapped}
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

/// Path of a file relative to the mirror; empty for files outside it.
using TreePath = std::function<std::string(const clang::FileEntry&)>;

struct UnitFacts {
  std::vector<Function> functions;
  std::vector<std::string> address_taken;  ///< USRs, sorted
};

/// The functions defined in `context`, in files for which `tree_path` is not empty. Calls carry the
/// USR of their callee; keys of callees that are not defined in this unit are left for the merge.
UnitFacts facts_of_unit(clang::ASTContext& context, const TreePath& tree_path);

}  // namespace vprof::instrumenter
