#include "pipeline/source.h"

#include <algorithm>
#include <cstdlib>

#include "build/insertions.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

constexpr size_t kLongestShown = 40;  // lines of one function
constexpr size_t kAroundShown = 3;    // lines before and after a location

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
    if (n - first >= kLongestShown) {
      return text + fmt::format("        ... {} more lines\n", last - n + 1);
    }
    text += fmt::format("{:6}  {}\n", n, lines[n - 1]);
  }
  return text;
}

/// The number of the line that holds byte `offset`, from 1.
size_t line_at(const std::string& text, size_t offset) {
  const size_t end = std::min(offset, text.size());
  return 1 +
         static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<long>(end), '\n'));
}

}  // namespace

SourceLocation location_of(const analyzer::Factor& factor) {
  const std::string seen = factor.instances.empty() ? "" : factor.instances[0].location;
  const std::string& text = factor.definition.empty() ? seen : factor.definition;
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) {
    return {};
  }
  return {.file = text.substr(0, colon),
          .line = std::strtoul(text.c_str() + colon + 1, nullptr, 10)};
}

std::string original_text(const Session& session, const std::string& file) {
  std::error_code error;
  const fs::path pristine = session.workspace.pristine() / file;
  const fs::path original =
      fs::exists(pristine, error) ? pristine : session.workspace.mirror() / file;
  return read_file(original).value_or("");
}

std::vector<std::string> source_lines(const Session& session, const std::string& file) {
  std::error_code error;
  const fs::path own = session.config.source / file;
  return lines_of(fs::exists(own, error) ? read_file(own).value_or("")
                                         : original_text(session, file));
}

std::pair<size_t, size_t> lines_of_function(const Session& session,
                                            const instrumenter::Function& f) {
  const std::string text = original_text(session, f.file);
  return {std::min<size_t>(line_at(text, f.head_begin), f.line),
          std::max<size_t>(line_at(text, f.body_end), f.line)};
}

std::string insertions_in(const Session& session, const std::string& file,
                          const std::string& instrumented, size_t first, size_t last) {
  return insertions(original_text(session, file), instrumented, file, first, last);
}

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
  const SourceLocation location = location_of(factor);
  if (location.file.empty()) {
    return "it has no source\n";
  }
  const size_t first = location.line > kAroundShown ? location.line - kAroundShown : 1;
  return numbered(session, location.file, first, location.line + kAroundShown);
}

}  // namespace vprof::driver
