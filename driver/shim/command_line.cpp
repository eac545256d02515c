#include "command_line.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <sstream>
#include <string_view>

namespace vprof::shim {

namespace {

using namespace std::string_view_literals;

// Options of GCC and Clang whose value is the next argument.
constexpr std::array kTakesValue = {"-A"sv,
                                    "-B"sv,
                                    "-D"sv,
                                    "-F"sv,
                                    "-G"sv,
                                    "-I"sv,
                                    "-L"sv,
                                    "-MF"sv,
                                    "-MQ"sv,
                                    "-MT"sv,
                                    "-T"sv,
                                    "-Tbss"sv,
                                    "-Tdata"sv,
                                    "-Ttext"sv,
                                    "-U"sv,
                                    "-V"sv,
                                    "-Xassembler"sv,
                                    "-Xclang"sv,
                                    "-Xlinker"sv,
                                    "-Xpreprocessor"sv,
                                    "-arch"sv,
                                    "-aux-info"sv,
                                    "-dumpbase"sv,
                                    "-dumpdir"sv,
                                    "-e"sv,
                                    "-framework"sv,
                                    "-h"sv,
                                    "-idirafter"sv,
                                    "-imacros"sv,
                                    "-imultilib"sv,
                                    "-include"sv,
                                    "-iprefix"sv,
                                    "-iquote"sv,
                                    "-isysroot"sv,
                                    "-isystem"sv,
                                    "-iwithprefix"sv,
                                    "-iwithprefixbefore"sv,
                                    "-l"sv,
                                    "-mllvm"sv,
                                    "-o"sv,
                                    "-target"sv,
                                    "-u"sv,
                                    "-wrapper"sv,
                                    "-x"sv,
                                    "-z"sv,
                                    "--param"sv,
                                    "--sysroot"sv,
                                    "-specs"sv,
                                    "--serialize-diagnostics"sv};

constexpr std::array kSourceSuffixes = {"c"sv, "cc"sv, "cp"sv,  "cpp"sv, "cxx"sv, "c++"sv,
                                        "C"sv, "CC"sv, "CPP"sv, "i"sv,   "ii"sv};

// Values of -x for C and C++ sources; headers and assembly are not indexed.
constexpr std::array kSourceLanguages = {"c"sv, "c++"sv, "cpp-output"sv, "c++-cpp-output"sv};

template <size_t N>
bool one_of(const std::array<std::string_view, N>& all, std::string_view text) {
  return std::find(all.begin(), all.end(), text) != all.end();
}

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

std::string_view suffix(std::string_view file) {
  const size_t slash = file.rfind('/');
  const size_t dot = file.rfind('.');
  if (dot == std::string_view::npos || (slash != std::string_view::npos && dot < slash)) {
    return {};
  }
  return file.substr(dot + 1);
}

bool is_header(std::string_view file) {
  constexpr std::array kHeaders = {"h"sv, "hh"sv, "hpp"sv, "hxx"sv, "H"sv, "h++"sv, "tcc"sv};
  return one_of(kHeaders, suffix(file));
}

/// Splits the text of a response file at white space that is not quoted or escaped.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = '\0';
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      in_word = true;
    } else if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      }
      if (c != quote && quote != '\0') {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      in_word = true;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (in_word) {
        words.push_back(std::move(word));
      }
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) {
    words.push_back(std::move(word));
  }
  return words;
}

void expand(const std::string& argument, int depth, std::vector<std::string>& out) {
  constexpr int kMaxDepth = 10;  // ends the recursion of a file that includes itself
  std::ifstream in;
  if (argument.size() > 1 && argument[0] == '@' && depth < kMaxDepth) {
    in.open(argument.substr(1));
  }
  if (!in.is_open()) {
    out.push_back(argument);
    return;
  }
  std::ostringstream text;
  text << in.rdbuf();
  for (const std::string& word : split(text.str())) {
    expand(word, depth + 1, out);
  }
}

/// State of one pass over the arguments from left to right.
struct Reading {
  CommandLine line;
  std::string language;  // of the last -x
  size_t inputs = 0;
  bool makes_object = false, reads_only = false, query = false;
  bool relocatable = false, has_header = false, freestanding = false, libc_named = false;
};

void read_option(Reading& r, std::string_view option, const std::string& value) {
  constexpr std::array kQueries = {"--version"sv,    "--help"sv,       "-###"sv,
                                   "-dumpversion"sv, "-dumpmachine"sv, "-dumpfullversion"sv,
                                   "-dumpspecs"sv};
  if (option == "-c" || option == "-S") {
    r.makes_object = true;
  } else if (option == "-E" || option == "-M" || option == "-MM" || option == "-fsyntax-only") {
    r.reads_only = true;
  } else if (option == "-o") {
    r.line.output = value;
  } else if (option == "-x") {
    r.language = value == "none" ? "" : value;
  } else if (option == "-r" || option == "-Wl,-r" || option == "-Wl,--relocatable" ||
             (option == "-Xlinker" && value == "-r")) {
    r.relocatable = true;
  } else if (option == "-static" || option == "-static-pie" || option == "--static") {
    r.line.is_static = true;
  } else if (option == "-nostdlib" || option == "-nodefaultlibs" || option == "-nolibc") {
    r.freestanding = true;
  } else if (option == "-lc" || (option == "-l" && value == "c")) {
    r.libc_named = true;
  } else if (one_of(kQueries, option) || starts_with(option, "-print-") ||
             starts_with(option, "--print-") || starts_with(option, "--help=")) {
    r.query = true;
  }
}

void read_input(Reading& r, size_t position) {
  const std::string& file = r.line.arguments[position];
  ++r.inputs;
  const bool header =
      r.language.empty() ? is_header(file) : r.language.find("header") != std::string::npos;
  const bool source = r.language.empty() ? one_of(kSourceSuffixes, suffix(file))
                                         : one_of(kSourceLanguages, r.language);
  const bool assembly =
      r.language.empty() ? suffix(file) == "S" : r.language == "assembler-with-cpp";
  r.has_header = r.has_header || header;
  r.line.preprocesses = r.line.preprocesses || source || header || assembly;
  // `-` is standard input: it is compiled, but there is no file to index.
  if (source && file != "-") {
    r.line.sources.push_back({file, position});
  }
}

Mode mode_of(const Reading& r) {
  if (r.query || r.inputs == 0) {
    return Mode::kQuery;
  }
  if (r.reads_only) {
    return Mode::kPreprocess;
  }
  // A header as input becomes a precompiled header; nothing is linked.
  if (r.makes_object || r.has_header) {
    return Mode::kCompile;
  }
  return Mode::kLink;
}

}  // namespace

std::vector<std::string> expand_response_files(const std::vector<std::string>& arguments) {
  std::vector<std::string> out;
  for (const std::string& argument : arguments) {
    expand(argument, 0, out);
  }
  return out;
}

CommandLine parse(const std::vector<std::string>& arguments) {
  Reading r;
  r.line.arguments = expand_response_files(arguments);
  const std::vector<std::string>& all = r.line.arguments;
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string& argument = all[i];
    if (argument == "-" || argument.empty() || argument[0] != '-') {
      read_input(r, i);
    } else if (one_of(kTakesValue, argument) && i + 1 < all.size()) {
      read_option(r, argument, all[i + 1]);
      ++i;
    } else if (starts_with(argument, "-o") && !starts_with(argument, "-objc")) {
      read_option(r, "-o", argument.substr(2));
    } else if (starts_with(argument, "-x")) {
      read_option(r, "-x", argument.substr(2));
    } else {
      read_option(r, argument, "");
    }
  }
  r.line.mode = mode_of(r);
  // libtool links C++ libraries with -nostdlib and names the libraries itself, libc among them. A
  // link without libc is a kernel or firmware.
  const bool hosted = !r.freestanding || r.libc_named;
  r.line.is_static = r.line.is_static && r.line.mode == Mode::kLink && !r.relocatable;
  r.line.takes_runtime =
      r.line.mode == Mode::kLink && !r.relocatable && !r.line.is_static && hosted;
  return r.line;
}

bool is_gcc(const std::string& name) {
  for (const std::string_view core : {"gcc"sv, "g++"sv}) {
    const size_t at = name.rfind(core);
    if (at == std::string::npos || (at != 0 && name[at - 1] != '-')) {
      continue;
    }
    if (at + core.size() == name.size() || name[at + core.size()] == '-') {
      return true;
    }
  }
  return false;
}

const std::vector<std::string>& quiet_flags() {
  static const std::vector<std::string> flags = {
      "-Wno-aggressive-loop-optimizations",
      "-Wno-array-bounds",
      "-Wno-clobbered",
      "-Wno-dangling-pointer",
      "-Wno-disabled-optimization",
      "-Wno-format-overflow",
      "-Wno-format-truncation",
      "-Wno-frame-larger-than",
      "-Wno-free-nonheap-object",
      "-Wno-inline",
      "-Wno-maybe-uninitialized",
      "-Wno-null-dereference",
      "-Wno-restrict",
      "-Wno-stack-usage",
      "-Wno-strict-overflow",
      "-Wno-stringop-overflow",
      "-Wno-stringop-overread",
      "-Wno-stringop-truncation",
      "-Wno-use-after-free",
  };
  return flags;
}

std::vector<std::string> arguments_for(const CommandLine& line, const Source& source) {
  std::vector<std::string> arguments;
  for (size_t i = 0; i < line.arguments.size(); ++i) {
    const bool other = std::any_of(line.sources.begin(), line.sources.end(), [&](const Source& s) {
      return s.position == i && s.position != source.position;
    });
    if (!other) {
      arguments.push_back(line.arguments[i]);
    }
  }
  return arguments;
}

std::string output_of(const CommandLine& line, const Source& source) {
  if (!line.output.empty()) {
    return line.output;
  }
  if (line.mode == Mode::kLink) {
    return "a.out";
  }
  const size_t slash = source.file.rfind('/');
  const std::string name = slash == std::string::npos ? source.file : source.file.substr(slash + 1);
  return name.substr(0, name.rfind('.')) + ".o";
}

}  // namespace vprof::shim
