#include "workspace/foreign_links.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace vprof::driver {

namespace {

using namespace std::string_view_literals;

constexpr size_t kMostLookedAt = 20'000;  // files, in search of a source

bool is_within(const fs::path& path, const fs::path& directory) {
  return std::mismatch(directory.begin(), directory.end(), path.begin(), path.end()).first ==
         directory.end();
}

bool has_source_suffix(const fs::path& file) {
  constexpr std::array kSuffixes = {".c"sv,   ".cc"sv,  ".cpp"sv, ".cxx"sv, ".c++"sv, ".C"sv,
                                    ".h"sv,   ".hh"sv,  ".hpp"sv, ".hxx"sv, ".h++"sv, ".H"sv,
                                    ".inc"sv, ".inl"sv, ".ipp"sv, ".tcc"sv, ".tpp"sv};
  const std::string suffix = file.extension().string();
  return std::find(kSuffixes.begin(), kSuffixes.end(), suffix) != kSuffixes.end();
}

bool belongs_to_the_system(const fs::path& path) {
  constexpr std::array kDirectories = {"/usr", "/lib",  "/lib64", "/bin", "/sbin", "/etc",
                                       "/dev", "/proc", "/sys",   "/run", "/boot"};
  return path == "/" || std::any_of(kDirectories.begin(), kDirectories.end(),
                                    [&](const char* one) { return is_within(path, one); });
}

bool contains_source(const fs::path& directory) {
  std::error_code error;
  fs::recursive_directory_iterator item(directory, fs::directory_options::skip_permission_denied,
                                        error);
  for (size_t n = 0; !error && n < kMostLookedAt && item != fs::recursive_directory_iterator();
       item.increment(error), ++n) {
    if (has_source_suffix(item->path())) {
      return true;
    }
  }
  return false;
}

}  // namespace

ForeignLinks::ForeignLinks(const fs::path& source)
    : source_(source), canonical_(fs::weakly_canonical(source)) {}

bool ForeignLinks::follows(const fs::path& relative) {
  std::error_code error;
  const fs::path target = fs::canonical(source_ / relative, error);
  if (error || is_within(target, canonical_) || is_within(canonical_, target) ||
      belongs_to_the_system(target) || is_cycle(relative, target)) {
    return false;
  }
  if (!fs::is_directory(target, error)) {
    return fs::is_regular_file(target, error) &&
           (has_source_suffix(relative) || has_source_suffix(target));
  }
  if (!contains_source(target)) {
    return false;
  }
  followed_[relative] = target;
  return true;
}

std::string ForeignLinks::target_of(const fs::path& relative, const std::string& target) const {
  if (!below_followed(relative)) {
    return target;
  }
  std::error_code error;
  return fs::weakly_canonical((source_ / relative).parent_path() / target, error).string();
}

bool ForeignLinks::below_followed(const fs::path& relative) const {
  return std::any_of(followed_.begin(), followed_.end(),
                     [&](const auto& one) { return is_within(relative, one.first); });
}

/// Following a link to a directory that contains the link would never end.
bool ForeignLinks::is_cycle(const fs::path& relative, const fs::path& target) const {
  return std::any_of(followed_.begin(), followed_.end(), [&](const auto& one) {
    return is_within(relative, one.first) && is_within(one.second, target);
  });
}

}  // namespace vprof::driver
