#include "rewrite/text/head.h"

#include <algorithm>
#include <cctype>

namespace vprof::instrumenter {

std::optional<std::string> on_one_line(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "/*") == 0) {
      const size_t end = text.find("*/", i + 2);
      if (end == std::string::npos) {
        break;
      }
      i = end + 1;
      out += ' ';
    } else if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if (text[i] == '#') {
      return std::nullopt;
    } else if (std::isspace(static_cast<unsigned char>(text[i])) != 0 || text[i] == '\\') {
      if (!out.empty() && out.back() != ' ') {
        out += ' ';
      }
    } else {
      out += text[i];
    }
  }
  while (!out.empty() && out.back() == ' ') {
    out.pop_back();
  }
  return out;
}

}  // namespace vprof::instrumenter
