#include "pipeline/recordings/slices.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace vprof::driver {

namespace {

constexpr uint64_t kMostBytes = 1 << 20;

fs::path list_in(const fs::path& trace) { return trace / "slices"; }

struct Noted {
  analyzer::Epoch slice;
  int64_t epoch = 0;
};

/// A later one says what an earlier one has become.
std::vector<Noted> all_of(const fs::path& trace) {
  std::ifstream list(list_in(trace));
  std::vector<Noted> all;
  for (std::string line; std::getline(list, line);) {
    std::istringstream words(line);
    Noted one;
    double cost = 0;
    analyzer::Epoch& slice = one.slice;
    if (words >> slice.recorded_since >> slice.from >> slice.to >> slice.until >> cost >>
        one.epoch) {
      all.push_back(one);
    }
  }
  return all;
}

std::vector<analyzer::Epoch> slices_with(const fs::path& trace, uint64_t id) {
  std::vector<analyzer::Epoch> found;
  for (const Noted& one : all_of(trace)) {
    if (one.slice.contains(static_cast<int64_t>(id))) {
      found.push_back(one.slice);
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

void note_slice(const fs::path& trace, const analyzer::Epoch& slice, double cost, int64_t epoch) {
  const int fd = ::open(list_in(trace).c_str(),
                        O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) {
    return;
  }
  const std::string line = fmt::format("{} {} {} {} {:.5f} {}\n", slice.recorded_since, slice.from,
                                       slice.to, slice.until, cost, epoch);
  [[maybe_unused]] const ssize_t written = ::write(fd, line.data(), line.size());
  ::close(fd);
}

std::vector<analyzer::Epoch> slices_of_last_epoch(const fs::path& trace) {
  std::map<int64_t, analyzer::Epoch> by_begin;
  int64_t last = 0;
  for (const Noted& one : all_of(trace)) {
    if (one.epoch == 0) {
      continue;
    }
    if (one.epoch != last) {
      by_begin.clear();
      last = one.epoch;
    }
    by_begin[one.slice.from] = one.slice;
  }
  std::vector<analyzer::Epoch> slices;
  slices.reserve(by_begin.size());
  for (const auto& [begin, slice] : by_begin) {
    slices.push_back(slice);
  }
  return slices;
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
