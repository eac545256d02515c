// The text of a twin (rewrite/twins.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rewrite/text/edits.h"
#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

/// Whether the text says itself which lines of which file it is, as that of generated code does. A
/// copy would have to repeat that.
bool has_line_directives(const std::string& text);

/// Where a text stands between directives that a compiler may see otherwise than Clang does, such
/// as `#if __GNUC__ > 4`. A condition around the whole file, such as an include guard, does not
/// count.
class Conditions {
 public:
  explicit Conditions(const std::string& text);
  bool hold_always_at(uint32_t offset) const;

 private:
  std::map<uint32_t, int> depth_;  // by the offset from which on
};

/// Whether the definition, which is in `text`, can be copied as text. False for what is not C, what
/// is `unique`, and directives that a second reading would not leave as they are.
bool can_be_copied(const Function& f, const std::string& text);

/// The same of a function of C++, whose body is to stand twice in it.
bool body_can_be_copied(const Function& f, const std::string& text);

/// A call of a function that has a copy as well.
struct CallOfCopy {
  const Function* callee = nullptr;
  bool has_sites = false;
  uint32_t name_end = 0;  ///< offset behind its name
};

/// The place of the callee's name in a call that is written out; nothing if it is not found.
std::optional<uint32_t> end_of_callee(const Call& call, const std::string& name,
                                      const std::string& text);

/// Moves what is inserted into a function into a copy behind it.
/// @param has_sites whether the copy is to measure anything
/// @param gate its number; nothing: only other copies call this one
/// @param within the insertions into the body of the function
/// @param calls those that are to reach the copy of the callee
/// @param text of the file
std::vector<Edit> twin_edits(const Function& f, bool has_sites, std::optional<uint32_t> gate,
                             std::vector<Edit> within, const std::vector<CallOfCopy>& calls,
                             const std::string& text);

/// Moves what is inserted into the body of a function of C++ into a copy of the body.
/// @param gate the number of the gate that leads to the copy
/// @param within the insertions
/// @param text of the file
std::vector<Edit> body_twin_edits(const Function& f, uint32_t gate, std::vector<Edit> within,
                                  const std::string& text);

}  // namespace vprof::instrumenter
