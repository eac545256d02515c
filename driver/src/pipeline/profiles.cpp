#include "pipeline/profiles.h"

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
  std::vector<std::string> names;
  for (const std::string& path : paths) {
    const fs::path file = VPROF_TRY(profile_at(path));
    contents.push_back(VPROF_TRY(read_file(file)));
    names.push_back(shown(file));
  }
  return analyzer::merge(contents, options, names);
}

}  // namespace vprof::driver
