#include "pipeline/recordings/slices.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

namespace vprof::driver {

namespace {

constexpr uint64_t kMostBytes = 1 << 20;

fs::path list_in(const fs::path& trace) { return trace / "slices"; }

/// A later one says what an earlier one has become.
std::vector<analyzer::Epoch> slices_with(const fs::path& trace, uint64_t id) {
  std::ifstream list(list_in(trace));
  std::vector<analyzer::Epoch> found;
  analyzer::Epoch slice;
  double cost = 0;
  while (list >> slice.recorded_since >> slice.from >> slice.to >> slice.until >> cost) {
    if (slice.contains(static_cast<int64_t>(id))) {
      found.push_back(slice);
    }
  }
  return found;
}

}  // namespace

void begin_slices(const fs::path& trace) {
  std::error_code error;
  const uint64_t size = fs::file_size(list_in(trace), error);
  if (!error && size > kMostBytes) {
    fs::remove(list_in(trace), error);
  }
}

void note_slice(const fs::path& trace, const analyzer::Epoch& slice, double cost) {
  const int fd = ::open(list_in(trace).c_str(),
                        O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) {
    return;
  }
  const std::string line = fmt::format("{} {} {} {} {:.5f}\n", slice.recorded_since, slice.from,
                                       slice.to, slice.until, cost);
  [[maybe_unused]] const ssize_t written = ::write(fd, line.data(), line.size());
  ::close(fd);
}

std::optional<analyzer::Epoch> slice_of(const fs::path& trace, uint64_t id) {
  const std::vector<analyzer::Epoch> slices = slices_with(trace, id);
  return slices.empty() ? std::nullopt : std::optional(slices.back());
}

Result<analyzer::Timeline> find_interval(const fs::path& trace, const fs::path& sites_json,
                                         uint64_t id, analyzer::Options options) {
  std::vector<analyzer::Epoch> tried = slices_with(trace, id);
  for (; !tried.empty(); tried.pop_back()) {
    options.epoch = tried.back();
    auto timeline = analyzer::timeline_of(trace.string(), sites_json.string(), id, options);
    if (timeline) {
      return timeline;
    }
  }
  options.epoch = {};
  return analyzer::timeline_of(trace.string(), sites_json.string(), id, options);
}

}  // namespace vprof::driver
