#include "record.h"

#include <fcntl.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <string_view>

namespace vprof::shim {

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x",
                    static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string entry(const std::string& directory, const std::string& compiler,
                  const std::vector<std::string>& flags, const CommandLine& line,
                  const Source& source) {
  std::string text = "{\"directory\":" + quoted(directory) + ",\"file\":" + quoted(source.file) +
                     ",\"output\":" + quoted(output_of(line, source)) + ",\"arguments\":[" +
                     quoted(compiler);
  for (const std::string& flag : flags) {
    text += "," + quoted(flag);
  }
  for (const std::string& argument : arguments_for(line, source)) {
    text += "," + quoted(argument);
  }
  return text + "]}\n";
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// The output of a link, with the objects and archives that it names.
std::string link_entry(const std::string& directory, const CommandLine& line) {
  const std::string output = line.output.empty() ? "a.out" : line.output;
  std::string inputs;
  for (const std::string& argument : line.arguments) {
    if ((ends_with(argument, ".o") || ends_with(argument, ".a")) && argument[0] != '-') {
      inputs += (inputs.empty() ? "" : ",") + quoted(argument);
    }
  }
  const char* how = line.is_static ? "static" : "dynamic";
  return "{\"directory\":" + quoted(directory) + "," + quoted(how) + ":" + quoted(output) +
         ",\"inputs\":[" + inputs + "]}\n";
}

}  // namespace

void record(const std::string& log, const std::string& compiler,
            const std::vector<std::string>& flags, const CommandLine& line) {
  char buffer[PATH_MAX];
  const std::string directory = ::getcwd(buffer, sizeof buffer) == nullptr ? "." : buffer;
  std::string text;
  if (line.mode == Mode::kCompile || line.mode == Mode::kLink) {
    for (const Source& source : line.sources) {
      text += entry(directory, compiler, flags, line, source);
    }
  }
  if (line.is_static || line.takes_runtime) {
    text += link_entry(directory, line);
  }
  if (text.empty()) {
    return;
  }
  const int fd = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) {
    return;
  }
  // A single write with O_APPEND keeps the lines of parallel compilers apart.
  [[maybe_unused]] const ssize_t unused = ::write(fd, text.data(), text.size());
  ::close(fd);
}

}  // namespace vprof::shim
