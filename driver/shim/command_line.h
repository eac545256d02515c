// Finds out what a compiler command line asks for:
//
//   argv ──expand @files──▶ arguments ──classify──▶ CommandLine {mode, sources, output}
//
// One `configure` runs the shim hundreds of times, so none of this may be slow. In particular it
// never runs the compiler.
#pragma once

#include <string>
#include <vector>

namespace vprof::shim {

enum class Mode {
  kQuery,       ///< no input, or an option such as `--version`: passed on unchanged
  kPreprocess,  ///< -E, -M, -MM, -fsyntax-only: reads sources, writes no object
  kCompile,     ///< -c, -S: writes objects
  kLink,        ///< writes an executable or a shared library, perhaps from sources
};

struct Source {
  std::string file;
  size_t position = 0;  ///< in CommandLine::arguments
};

struct CommandLine {
  std::vector<std::string> arguments;  ///< without the compiler's name; response files expanded
  Mode mode = Mode::kQuery;
  std::vector<Source> sources;  ///< C, C++ and preprocessed files
  std::string output;           ///< value of -o; empty: the compiler's default
  bool preprocesses = false;    ///< the preprocessor reads an input: -D and -isystem have an effect
  bool is_static = false;       ///< links with -static: gets the stub instead of the runtime
  bool moved = false;           ///< moved_to_mirror() has changed its arguments
  bool takes_runtime = false;   ///< a link to which the runtime can be added
};

/// Whether a compiler with this file name is GCC: `gcc-12`, `x86_64-linux-gnu-g++`.
bool is_gcc(const std::string& name);

/// Options that switch off the warnings that GCC's optimizer infers from control flow. Inserted
/// code changes control flow, and a new warning would break a build with -Werror. The options
/// follow the user's own. GCC ignores `-Wno-` with an unknown name, so one list works for all
/// versions.
const std::vector<std::string>& quiet_flags();

/// The arguments with each readable `@file` replaced by the file's content, as in GCC.
std::vector<std::string> expand_response_files(const std::vector<std::string>& arguments);

/// `arguments` follow the compiler's name.
CommandLine parse(const std::vector<std::string>& arguments);

/// The arguments that compile only `source`, without the other sources.
std::vector<std::string> arguments_for(const CommandLine& line, const Source& source);

/// The object that the command writes for `source`, as -o would name it.
std::string output_of(const CommandLine& line, const Source& source);

}  // namespace vprof::shim
