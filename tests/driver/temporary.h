// A temporary directory for a test, and helpers to read and write files.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace vprof::test {

/// Deletes its directory when it is destroyed.
class Temporary {
 public:
  Temporary() {
    std::string name = (std::filesystem::temp_directory_path() / "vprof-driver-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Temporary() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline void write(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

inline std::string read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace vprof::test
