#include "pipeline/source_excerpt.h"

#include <algorithm>
#include <sstream>

namespace vprof::driver {

namespace {

constexpr size_t kLongest = 40;  // lines of one function
constexpr size_t kAround = 3;    // lines before and behind a place

std::vector<std::string> lines_of(const fs::path& file) {
  std::vector<std::string> lines;
  std::istringstream in(read_file(file).value_or(""));
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// Lines `first` to `last`, 1-based and inclusive.
std::string numbered(const fs::path& file, const std::string& shown_name, size_t first,
                     size_t last) {
  const std::vector<std::string> lines = lines_of(file);
  if (lines.empty()) {
    return fmt::format("{}: the source is not there\n", shown_name);
  }
  last = std::min(last, lines.size());
  first = std::max<size_t>(first, 1);
  std::string text = fmt::format("{}:{}\n", shown_name, first);
  for (size_t n = first; n <= last; ++n) {
    if (n - first >= kLongest) {
      return text + fmt::format("        ... {} more lines\n", last - n + 1);
    }
    text += fmt::format("{:6}  {}\n", n, lines[n - 1]);
  }
  return text;
}

/// The line of byte `offset`.
size_t line_at(const std::string& text, size_t offset) {
  const size_t end = std::min(offset, text.size());
  return 1 +
         static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<long>(end), '\n'));
}

fs::path source_file(const Session& session, const std::string& file) {
  std::error_code error;
  const fs::path own = session.config.source / file;
  // Generated sources are in the mirror alone.
  return fs::exists(own, error) ? own : session.workspace.mirror() / file;
}

std::string around(const Session& session, const std::string& place) {
  const size_t colon = place.rfind(':');
  if (colon == std::string::npos) {
    return "";
  }
  const std::string file = place.substr(0, colon);
  const size_t line = std::strtoul(place.c_str() + colon + 1, nullptr, 10);
  const size_t first = line > kAround ? line - kAround : 1;
  return numbered(source_file(session, file), file, first, line + kAround);
}

}  // namespace

std::string original_text(const Session& session, const std::string& file) {
  std::error_code error;
  const fs::path pristine = session.workspace.pristine() / file;
  const fs::path original =
      fs::exists(pristine, error) ? pristine : session.workspace.mirror() / file;
  return read_file(original).value_or("");
}

std::pair<size_t, size_t> lines_of_function(const Session& session,
                                            const instrumenter::Function& f) {
  const std::string text = original_text(session, f.file);
  return {std::min<size_t>(line_at(text, f.head_begin), f.line),
          std::max<size_t>(line_at(text, f.body_end), f.line)};
}

std::string source_excerpt(const Session& session, const instrumenter::Program& program,
                           const analyzer::Factor& factor) {
  std::string text;
  for (const std::string& key : factor.keys) {
    const instrumenter::Function* f = program.by_key(key);
    if (f == nullptr || f->file.empty()) {
      continue;
    }
    const auto [first, last] = lines_of_function(session, *f);
    text += numbered(source_file(session, f->file), f->file, first, last);
  }
  if (!text.empty()) {
    return text;
  }
  const std::string site = factor.instances.empty() ? "" : factor.instances[0].site;
  text = around(session, factor.definition.empty() ? site : factor.definition);
  return text.empty() ? "there is no source for it\n" : text;
}

}  // namespace vprof::driver
