#include "vprof/support/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace vprof {
namespace {

constexpr int kMostLinks = 40;  // as many as the kernel follows

/// What a chain of symbolic links leads to, whether or not it exists.
fs::path behind_links(fs::path path) {
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(fs::symlink_status(path, error)); ++i) {
    path = path.parent_path() / fs::read_symlink(path, error);
  }
  return path;
}

}  // namespace

bool is_standard_output(const fs::path& name) {
  struct stat named{};
  struct stat standard{};
  return name == "-" ||
         (::stat(name.c_str(), &named) == 0 && ::fstat(STDOUT_FILENO, &standard) == 0 &&
          named.st_dev == standard.st_dev && named.st_ino == standard.st_ino);
}

bool is_replaced(const fs::path& name) {
  struct stat present{};
  return !is_standard_output(name) &&
         (::stat(name.c_str(), &present) != 0 || S_ISREG(present.st_mode));
}

Result<void> check_output(const fs::path& name) {
  if (!is_replaced(name)) {
    return {};
  }
  const OutputDraft output(name);
  return output.open() != nullptr ? Result<void>() : output.failed();
}

Result<void> write_output(const fs::path& name, std::string_view text) {
  if (is_replaced(name)) {
    return write_file_atomic(behind_links(name), text);
  }
  const OutputDraft output(name);
  const OutputDraft::Stream stream = output.open();
  if (stream == nullptr || std::fwrite(text.data(), 1, text.size(), stream.get()) != text.size() ||
      std::fflush(stream.get()) != 0) {
    return output.failed();
  }
  return {};
}

OutputDraft::OutputDraft(fs::path name)
    : name_(std::move(name)), replaced_(is_replaced(name_)), target_(name_), draft_(name_) {
  if (replaced_) {
    target_ = behind_links(name_);
    draft_ = target_.string() + ".part";
  }
}

OutputDraft::~OutputDraft() {
  if (replaced_) {
    ::unlink(draft_.c_str());
  }
}

OutputDraft::Stream OutputDraft::open() const {
  // Opened anew, a file that standard output was redirected to would lose what is in it.
  const int fd = is_standard_output(name_)
                     ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                     : ::open(draft_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  return {fd < 0 ? nullptr : ::fdopen(fd, "w"), std::fclose};
}

Result<void> OutputDraft::publish() {
  if (replaced_ && ::rename(draft_.c_str(), target_.c_str()) != 0) {
    return failed();
  }
  return {};
}

tl::unexpected<Error> OutputDraft::failed(std::string_view reason) const {
  return fail("cannot write {}: {}", name_.string(), reason);
}

tl::unexpected<Error> OutputDraft::failed() const { return failed(std::strerror(errno)); }

}  // namespace vprof
