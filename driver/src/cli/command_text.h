// The command line as data, so that the manual page and the completion of shells say what the
// program does.
#pragma once

#include <string>
#include <vector>

namespace vprof::driver {

struct OptionText {
  std::vector<std::string>
      names;          ///< `-o`, `--output`; empty: an argument that stands by its place
  std::string value;  ///< `FILE`; empty: a flag
  std::string help;
};

struct VerbText {
  std::string name, help;
  std::vector<OptionText> options;
};

struct CommandText {
  std::string version;
  std::vector<OptionText> options;  ///< those that stand before any verb
  std::vector<VerbText> verbs;
};

/// vprof(1) in roff.
std::string manual_page(const CommandText& command);

/// For `complete -F` of bash, and for a directory of zsh's fpath (as `_vprof`).
std::string bash_completion(const CommandText& command);
std::string zsh_completion(const CommandText& command);

}  // namespace vprof::driver
