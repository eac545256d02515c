// Small file operations that report errors as values and never leave half a file behind.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "result.h"

namespace vprof::driver {

namespace fs = std::filesystem;

Result<std::string> read_file(const fs::path& path);

/// Replaces the file as a whole: a reader, or a crash, sees the old text or the new one, never a
/// part.
Result<void> write_file_atomic(const fs::path& path, std::string_view text);

/// Reads JSON; `//` and `/* */` comments are allowed.
Result<nlohmann::json> read_json(const fs::path& path);

Result<void> make_directories(const fs::path& path);

/// Deletes a file or a tree; that nothing is there is no error.
Result<void> remove_tree(const fs::path& path);

/// At most the last `count` lines; reads only the end of the file. Empty if it cannot be read.
std::vector<std::string> last_lines(const fs::path& path, size_t count);

/// At most the first `count` lines of a build's log that look like an error: of a compiler, a
/// linker or make. With several jobs at once the last lines seldom hold it. Empty if it cannot be
/// read.
std::vector<std::string> error_lines(const fs::path& path, size_t count);

/// `path` as seen from the working directory if that is shorter: for messages.
std::string shown(const fs::path& path);

}  // namespace vprof::driver
