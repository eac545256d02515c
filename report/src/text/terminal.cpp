#include "vprof/report/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

#include "text/layout.h"
#include "vprof/support/text.h"

namespace vprof::report {

namespace {

constexpr int kNarrowest = 40;
constexpr int kWidest = 200;

/// Columns; 0 if unknown.
int terminal_width(int descriptor) {
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr) {
    if (const long width = std::strtol(columns, nullptr, 10); width != 0) {
      return static_cast<int>(width);
    }
  }
  struct winsize size{};
  const bool known = ::isatty(descriptor) != 0 && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0;
  return known ? size.ws_col : 0;
}

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Whether the locale has UTF-8, by its name: the locale itself need not be installed.
bool locale_has_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (const std::string_view locale = variable(name); !locale.empty()) {
      std::string lower(locale);
      std::transform(lower.begin(), lower.end(), lower.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      return lower.find("utf-8") != std::string::npos || lower.find("utf8") != std::string::npos;
    }
  }
  return false;  // the C locale
}

/// A line that is too long, as several. Words stay whole.
std::string broken(const std::string& line, size_t width) {
  const size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const size_t end = line.find_last_not_of(' ') + 1;  // a prompt ends with a space
  const std::string wrapped = wrap(line, indent, width);
  return wrapped.substr(0, wrapped.size() - 1) + line.substr(end);  // without the last line feed
}

}  // namespace

TextOptions text_options() {
  TextOptions options;
  options.color = takes_escapes(STDOUT_FILENO) && variable("NO_COLOR").empty();
  options.ascii = !locale_has_utf8();
  if (const int width = terminal_width(STDOUT_FILENO); width > 0) {
    options.width = std::clamp(width, kNarrowest, kWidest);
  }
  return options;
}

bool takes_escapes(int descriptor) {
  return ::isatty(descriptor) != 0 && variable("TERM") != "dumb";
}

std::string for_terminal(const std::string& text, int descriptor) {
  const int known = ::isatty(descriptor) != 0 ? terminal_width(descriptor) : 0;
  if (known <= 0) {
    return text;
  }
  const auto width = static_cast<size_t>(std::max(known, kNarrowest));
  std::string result;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    result += columns(line) > width ? broken(line, width) : line;
    result += end < text.size() ? "\n" : "";
    at = end + 1;
  }
  return result;
}

}  // namespace vprof::report
