#include "pipeline/profiles.h"

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
  std::vector<analyzer::ProfileBytes> profiles;
  for (const std::string& path : paths) {
    const auto file = VPROF_TRY(profile_at(path));
    profiles.push_back({shown(file), VPROF_TRY(read_file(file))});
  }
  return analyzer::merge(profiles, options);
}

}  // namespace vprof::driver
