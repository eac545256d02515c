// What a compiler command line asks for:
//
//   argv ──expand @files──▶ arguments ──classify──▶ CommandLine {mode, sources, output}
//
// Nothing here touches the compiler; the shim runs hundreds of times in one `configure`, so nothing
// here is slow.
#pragma once

#include <string>
#include <vector>

namespace vprof::shim {

enum class Mode {
  kQuery,       ///< no input, or `--version` and the like: passed on untouched
  kPreprocess,  ///< -E, -M, -MM, -fsyntax-only: reads sources, makes no object
  kCompile,     ///< -c, -S: makes objects
  kLink,        ///< makes an executable or a shared library, perhaps from sources
};

struct Source {
  std::string file;
  size_t position = 0;  ///< in CommandLine::arguments
};

struct CommandLine {
  std::vector<std::string> arguments;  ///< without the compiler's name; @files expanded
  Mode mode = Mode::kQuery;
  std::vector<Source> sources;  ///< C, C++ and preprocessed files
  std::string output;           ///< of -o; empty: the compiler's default
  bool preprocesses =
      false;               ///< an input goes through the preprocessor: -D and -isystem are not idle
  bool is_static = false;  ///< linked with -static: the runtime cannot come in
  bool takes_runtime = false;  ///< a link that may be given the runtime
};

/// Whether a compiler of this file name is GCC: `gcc-12`, `x86_64-linux-gnu-g++`.
bool is_gcc(const std::string& name);

/// Switches off those warnings of GCC that its optimizer guesses from the flow of control. What we
/// insert changes that flow, and under -Werror a new guess would break the build. They go behind
/// the user's own options. GCC takes
/// `-Wno-` with a name that it does not know yet, so one list serves all its versions.
const std::vector<std::string>& quiet_flags();

/// Arguments after replacing each `@file` that can be read by what it holds, as GCC does.
std::vector<std::string> expand_response_files(const std::vector<std::string>& arguments);

/// `arguments` are those behind the compiler's name.
CommandLine parse(const std::vector<std::string>& arguments);

/// The command that compiles just `source`: other sources left out.
std::vector<std::string> arguments_for(const CommandLine& line, const Source& source);

/// The object that is made from `source`, as it would be spelled behind -o.
std::string output_of(const CommandLine& line, const Source& source);

}  // namespace vprof::shim
