#include "pipeline/source_lines.h"

#include <algorithm>
#include <cstdlib>

#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

/// The number of the line that holds byte `offset`, from 1.
size_t line_at(const std::string& text, size_t offset) {
  const size_t end = std::min(offset, text.size());
  return 1 +
         static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<long>(end), '\n'));
}

}  // namespace

Place place_of(const analyzer::Factor& factor) {
  const std::string site = factor.instances.empty() ? "" : factor.instances[0].site;
  const std::string& text = factor.definition.empty() ? site : factor.definition;
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

}  // namespace vprof::driver
