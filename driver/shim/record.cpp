#include "record.h"

#include <fcntl.h>
#include <unistd.h>

#include <climits>
#include <cstdio>

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
  if (line.mode == Mode::kLink && line.is_static) {
    const std::string output = line.output.empty() ? "a.out" : line.output;
    text += "{\"directory\":" + quoted(directory) + ",\"static\":" + quoted(output) + "}\n";
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
