#include "vprof/report/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace vprof::report {

namespace {

constexpr int kNarrowest = 40;
constexpr int kWidest = 200;

/// Columns; 0 if unknown.
int terminal_width() {
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr) {
    if (const long width = std::strtol(columns, nullptr, 10); width != 0) {
      return static_cast<int>(width);
    }
  }
  struct winsize size{};
  const bool known = ::isatty(STDOUT_FILENO) != 0 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return known ? size.ws_col : 0;
}

}  // namespace

TextOptions text_options() {
  TextOptions options;
  const char* no_color = std::getenv("NO_COLOR");
  options.color = ::isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0');
  if (const int width = terminal_width(); width > 0) {
    options.width = std::clamp(width, kNarrowest, kWidest);
  }
  return options;
}

}  // namespace vprof::report
