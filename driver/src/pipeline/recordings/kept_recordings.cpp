#include "pipeline/recordings/kept_recordings.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <map>

namespace vprof::driver {

namespace {

/// By number.
std::map<uint64_t, fs::path> numbered(const fs::path& directory) {
  std::map<uint64_t, fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    uint64_t number = 0;
    const auto [rest, wrong] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (wrong == std::errc() && rest == name.data() + name.size()) {
      found[number] = it->path();
    }
  }
  return found;
}

uint64_t bytes_in(const fs::path& directory) {
  uint64_t sum = 0;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;
    const uint64_t size = it->file_size(gone);
    sum += gone ? 0 : size;
  }
  return sum;
}

}  // namespace

std::vector<fs::path> kept_recordings(const Workspace& workspace) {
  std::vector<fs::path> all;
  for (auto& [number, path] : numbered(workspace.kept())) {
    all.push_back(std::move(path));
  }
  return all;
}

bool is_kept_before(const Workspace& workspace, const fs::path& recording, int64_t realtime_ns) {
  constexpr int64_t kSecond = 1'000'000'000;
  constexpr int64_t kMargin = 1;  // s; the time of a file may be a tick behind
  // Its sites are written last. What a program maps and writes has no time that says so much.
  struct stat sites{};
  return recording.parent_path() == workspace.kept() &&
         ::stat((recording / "sites.json").c_str(), &sites) == 0 &&
         sites.st_mtim.tv_sec < realtime_ns / kSecond - kMargin;
}

Result<fs::path> keep_recording(const Workspace& workspace, const fs::path& recording,
                                uint64_t most_bytes) {
  VPROF_TRY(make_directories(workspace.kept()));
  std::map<uint64_t, fs::path> kept = numbered(workspace.kept());
  const uint64_t number = kept.empty() ? 1 : kept.rbegin()->first + 1;
  fs::path place = workspace.kept() / std::to_string(number);
  std::error_code error;
  fs::rename(recording, place, error);
  if (error) {
    return fail("{}: cannot keep it as {}: {}", shown(recording), shown(place), error.message());
  }
  uint64_t sum = bytes_in(place);
  for (auto one = kept.rbegin(); one != kept.rend(); ++one) {
    sum += bytes_in(one->second);
    if (sum > most_bytes) {
      VPROF_TRY(remove_tree(one->second));
    }
  }
  return place;
}

std::vector<fs::path> recordings_of(const Workspace& workspace, int iteration, bool current) {
  std::vector<fs::path> all = {workspace.trace(iteration)};
  if (current) {
    std::ranges::move(kept_recordings(workspace), std::back_inserter(all));
  }
  std::erase_if(all, [](const fs::path& recording) {
    std::error_code error;
    return !fs::exists(recording / "sites.json", error);
  });
  return all;
}

}  // namespace vprof::driver
