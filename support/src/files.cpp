#include "vprof/support/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

namespace vprof {

namespace {

std::string reason() { return std::strerror(errno); }

/// Writes all of `text`, however often the kernel takes only a part.
bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return false;
    }
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

/// Which crash a file survives as a whole.
enum class Durability : uint8_t { kProcess, kMachine };

Result<void> replace_file(const fs::path& path, std::string_view text, Durability durability) {
  const fs::path temporary = path.string() + fmt::format(".tmp{}", ::getpid());
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) {
    return cannot_write(path, errno);
  }
  // Without fsync a crash of the machine could leave the new name on an empty file.
  struct stat present{};
  const bool mode_kept =
      ::stat(path.c_str(), &present) != 0 || ::fchmod(fd, present.st_mode & 07777) == 0;
  const bool ok =
      mode_kept && write_all(fd, text) && (durability == Durability::kProcess || ::fsync(fd) == 0);
  const int error = ok ? 0 : errno;
  ::close(fd);
  if (!ok || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int why = ok ? errno : error;
    ::unlink(temporary.c_str());
    return cannot_write(path, why);
  }
  return {};
}

}  // namespace

tl::unexpected<Error> cannot_write(const fs::path& path, int error) {
  const bool is_full = error == ENOSPC || error == EDQUOT;
  return fail(is_full ? ErrorKind::kDiskFull : ErrorKind::kOther, "cannot write {}: {}",
              shown(path), std::strerror(error));
}

Result<std::string> read_file(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    return fail("{} is a directory, not a file", shown(path));
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return fail("cannot read {}: {}", shown(path), reason());
  }
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad()) {
    return fail("cannot read {}: {}", shown(path), reason());
  }
  return text.str();
}

Result<void> write_file_atomic(const fs::path& path, std::string_view text) {
  return replace_file(path, text, Durability::kMachine);
}

Result<void> write_file_with_parents(const fs::path& path, std::string_view text) {
  if (path.has_parent_path()) {
    VPROF_TRY(make_directories(path.parent_path()));
  }
  return replace_file(path, text, Durability::kProcess);
}

Result<void> make_directories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    return error == std::errc::no_space_on_device
               ? cannot_write(path, ENOSPC)
               : fail("cannot create {}: {}", shown(path), error.message());
  }
  return {};
}

Result<void> remove_tree(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) {
    return fail("cannot delete {}: {}", shown(path), error.message());
  }
  return {};
}

std::string shown(const fs::path& path) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (error) {
    return path.string();
  }
  const fs::path near = path.lexically_relative(here);
  if (near.empty() || near.string().size() >= path.string().size()) {
    return path.string();
  }
  return near.string();
}

bool is_build_tree(const fs::path& directory) {
  std::error_code error;
  return fs::exists(directory / "CMakeCache.txt", error) ||
         fs::is_directory(directory / "meson-private", error);
}

}  // namespace vprof
