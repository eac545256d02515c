#include "files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

namespace vprof::driver {

namespace {

std::string reason() { return std::strerror(errno); }

/// Writes all of `text`, however often the kernel takes only a part.
bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

Result<std::string> read_file(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return fail("{} is a directory, not a file", shown(path));
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail("cannot read {}: {}", shown(path), reason());
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad()) return fail("cannot read {}: {}", shown(path), reason());
  return text.str();
}

Result<void> write_file_atomic(const fs::path& path, std::string_view text) {
  const fs::path temporary = path.string() + fmt::format(".tmp{}", ::getpid());
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return fail("cannot write {}: {}", shown(temporary), reason());
  // Without fsync a crash of the machine could leave the new name on an empty file.
  const bool ok = write_all(fd, text) && ::fsync(fd) == 0;
  const std::string why = ok ? "" : reason();
  ::close(fd);
  if (!ok || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string message = ok ? reason() : why;
    ::unlink(temporary.c_str());
    return fail("cannot write {}: {}", shown(path), message);
  }
  return {};
}

Result<nlohmann::json> read_json(const fs::path& path) {
  auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  auto document = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false,
                                        /*ignore_comments=*/true);
  if (document.is_discarded()) {
    return fail("{} is damaged (not JSON); delete it and run the step that writes it again",
                shown(path));
  }
  return document;
}

Result<void> make_directories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return fail("cannot create {}: {}", shown(path), error.message());
  return {};
}

Result<void> remove_tree(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) return fail("cannot delete {}: {}", shown(path), error.message());
  return {};
}

namespace {

/// The next line that is not empty, without the white space at its end.
bool next_line(std::istream& in, std::string& line) {
  while (std::getline(in, line)) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (!line.empty()) return true;
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
  if (!in) return {};
  const std::streamoff size = in.tellg();
  in.seekg(size > kWindow ? size - kWindow : 0);
  std::vector<std::string> lines;
  for (std::string line; next_line(in, line);) lines.push_back(line);
  if (lines.size() > count) lines.erase(lines.begin(), lines.end() - static_cast<long>(count));
  return lines;
}

std::vector<std::string> error_lines(const fs::path& path, size_t count) {
  std::ifstream in(path, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; lines.size() < count && next_line(in, line);) {
    if (looks_like_an_error(line)) lines.push_back(line);
  }
  return lines;
}

std::string shown(const fs::path& path) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (error) return path.string();
  const fs::path near = path.lexically_relative(here);
  if (near.empty() || near.string().size() >= path.string().size()) return path.string();
  return near.string();
}

}  // namespace vprof::driver
