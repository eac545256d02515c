// Small file operations that report errors as values and never leave half a file behind.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "vprof/support/result.h"

namespace vprof {

namespace fs = std::filesystem;

/// The whole content of a file.
Result<std::string> read_file(const fs::path& path);

/// `cannot write FILE: reason`. kDiskFull if that is the reason.
/// @param error as in errno
tl::unexpected<Error> cannot_write(const fs::path& path, int error);

/// Replaces a file as a whole: a reader, or a crash, sees the old text or the new one, never a
/// part. Keeps the mode of an existing file.
Result<void> write_file_atomic(const fs::path& path, std::string_view text);

/// Creates missing directories above the file. Does not wait for the disk, so a crash of the
/// machine may lose the file: for many files that can be made again.
Result<void> write_file_with_parents(const fs::path& path, std::string_view text);

/// Creates a directory and those above it.
Result<void> make_directories(const fs::path& path);

/// Deletes a file or a directory with all it contains. A path that does not exist is not an error.
Result<void> remove_tree(const fs::path& path);

/// `path` relative to the working directory if that is shorter: for messages.
std::string shown(const fs::path& path);

/// Whether CMake or Meson has configured a build tree in this directory.
bool is_build_tree(const fs::path& directory);

}  // namespace vprof
