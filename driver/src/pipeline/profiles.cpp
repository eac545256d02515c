#include "pipeline/profiles.h"

#include <cstdlib>

#include "vprof/support/result.h"

namespace vprof::driver {

namespace {

Result<fs::path> profile_at(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return path;
  }
  for (const char* name : {"profile.vprof", ".vprof/profile.vprof"}) {
    if (fs::exists(path / name, error)) {
      return path / name;
    }
  }
  return fail("{} has no profile.vprof; `vprof analyze` and `vprof loop` write one", shown(path));
}

}  // namespace

Result<analyzer::Profile> read_profiles(const std::vector<std::string>& paths,
                                        const analyzer::Options& options) {
  std::vector<std::string> contents;
  std::vector<fs::path> files;
  for (const std::string& path : paths) {
    const auto file = VPROF_TRY(profile_at(path));
    auto content = VPROF_TRY(read_file(file));
    files.push_back(file);
    contents.push_back(std::move(content));
  }
  auto profile = analyzer::merge(contents, options);
  if (profile) {
    return profile;
  }
  // "N: what is wrong": the N-th file.
  const std::string& error = profile.error().message;
  const size_t number = std::strtoul(error.c_str(), nullptr, 10);
  if (number == 0 || number > files.size()) {
    return fail("{}", error);
  }
  return fail("{}{}", shown(files[number - 1]), error.substr(error.find(':')));
}

}  // namespace vprof::driver
