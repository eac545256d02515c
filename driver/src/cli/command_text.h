// The command line as data, so that the manual page and the shell completion always match the
// program.
#pragma once

#include <string>
#include <vector>

namespace vprof::driver {

struct OptionText {
  std::vector<std::string> names;  ///< `-o`, `--output`; empty: a positional argument
  std::string value;               ///< `FILE`; empty: a flag
  std::string help;

  /// Whether its value is the name of a function of the program.
  bool is_function() const { return value == "function" || value == "FUNCTION..."; }
};

struct VerbText {
  std::string name, help;
  std::vector<OptionText> options;
};

struct CommandText {
  std::string version;
  std::vector<OptionText> options;  ///< of all verbs
  std::vector<VerbText> verbs;
};

/// vprof(1) in roff.
std::string manual_page(const CommandText& command);

/// For `complete -F` of bash.
std::string bash_completion(const CommandText& command);

/// For a directory of zsh's fpath, as `_vprof`.
std::string zsh_completion(const CommandText& command);

}  // namespace vprof::driver
