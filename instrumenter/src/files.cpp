#include "files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace vprof::instrumenter {

Result<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return tl::unexpected(fmt::format("{}: cannot read: {}", path, std::strerror(errno)));
  std::ostringstream content;
  content << in.rdbuf();
  if (in.bad())
    return tl::unexpected(fmt::format("{}: cannot read: {}", path, std::strerror(errno)));
  return std::move(content).str();
}

Result<void> replace_file(const std::string& path, const std::string& content) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  const std::string temporary = fmt::format("{}.vprof-{}", path, getpid());
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out << content;
  out.close();
  struct stat status{};
  if (out && stat(path.c_str(), &status) == 0 &&
      chmod(temporary.c_str(), status.st_mode & 07777) != 0)
    out.setstate(std::ios::failbit);
  if (!out || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    std::filesystem::remove(temporary, error);
    return tl::unexpected(fmt::format("{}: cannot write: {}", path, std::strerror(reason)));
  }
  return {};
}

}  // namespace vprof::instrumenter
