#include "pipeline/source_excerpt.h"

#include <algorithm>

#include "pipeline/source_lines.h"

namespace vprof::driver {

namespace {

constexpr size_t kLongest = 40;  // lines of one function
constexpr size_t kAround = 3;    // lines before and after a place

/// Lines `first` to `last` of a file, counted from 1.
std::string numbered(const Session& session, const std::string& file, size_t first, size_t last) {
  const std::vector<std::string> lines = source_lines(session, file);
  if (lines.empty()) {
    return fmt::format("{}: the source is missing\n", file);
  }
  last = std::min(last, lines.size());
  first = std::max<size_t>(first, 1);
  std::string text = fmt::format("{}:{}\n", file, first);
  for (size_t n = first; n <= last; ++n) {
    if (n - first >= kLongest) {
      return text + fmt::format("        ... {} more lines\n", last - n + 1);
    }
    text += fmt::format("{:6}  {}\n", n, lines[n - 1]);
  }
  return text;
}

}  // namespace

std::string source_excerpt(const Session& session, const instrumenter::Program& program,
                           const analyzer::Factor& factor) {
  std::string text;
  for (const std::string& key : factor.keys) {
    const instrumenter::Function* f = program.by_key(key);
    if (f != nullptr && !f->file.empty()) {
      const auto [first, last] = lines_of_function(session, *f);
      text += numbered(session, f->file, first, last);
    }
  }
  if (!text.empty()) {
    return text;
  }
  const Place place = place_of(factor);
  if (place.file.empty()) {
    return "it has no source\n";
  }
  const size_t first = place.line > kAround ? place.line - kAround : 1;
  return numbered(session, place.file, first, place.line + kAround);
}

}  // namespace vprof::driver
