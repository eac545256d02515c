#include "vprof/report/message.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "text/layout.h"

namespace vprof::report {

namespace {

std::string_view setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool knows_colours(int descriptor) {
  return ::isatty(descriptor) != 0 && setting("NO_COLOR").empty() && setting("TERM") != "dumb";
}

}  // namespace

std::string heading(const std::string& text, int descriptor) {
  return paint(text, Style::kHeading, knows_colours(descriptor));
}

std::string marked(const std::string& text, int descriptor) {
  return paint(text, Style::kMarked, knows_colours(descriptor));
}

std::string faint(const std::string& text, int descriptor) {
  return paint(text, Style::kFaint, knows_colours(descriptor));
}

std::string warning(const std::string& text, int descriptor) {
  return paint(text, Style::kWarning, knows_colours(descriptor));
}

}  // namespace vprof::report
