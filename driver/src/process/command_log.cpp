#include "process/command_log.h"

#include <algorithm>
#include <fstream>

namespace vprof::driver {

namespace {

/// Reads the next line that is not blank, without trailing spaces.
bool next_line(std::istream& in, std::string& line) {
  while (std::getline(in, line)) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) {
      line.pop_back();
    }
    if (!line.empty()) {
      return true;
    }
  }
  return false;
}

bool looks_like_an_error(const std::string& line) {
  constexpr std::string_view kSigns[] = {"error: ", "undefined reference to", "*** [", "FAILED: "};
  return std::any_of(std::begin(kSigns), std::end(kSigns),
                     [&](std::string_view sign) { return line.find(sign) != std::string::npos; });
}

}  // namespace

std::vector<std::string> last_lines(const fs::path& path, size_t count) {
  constexpr std::streamoff kWindow = 64 * 1024;
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) {
    return {};
  }
  const std::streamoff size = in.tellg();
  in.seekg(size > kWindow ? size - kWindow : 0);
  std::vector<std::string> lines;
  for (std::string line; next_line(in, line);) {
    lines.push_back(line);
  }
  if (lines.size() > count) {
    lines.erase(lines.begin(), lines.end() - static_cast<long>(count));
  }
  return lines;
}

std::vector<std::string> error_lines(const fs::path& path, size_t count) {
  std::ifstream in(path, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; lines.size() < count && next_line(in, line);) {
    if (looks_like_an_error(line)) {
      lines.push_back(line);
    }
  }
  return lines;
}

}  // namespace vprof::driver
