#include "exports/rows.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace vprof::report {

DraftFile::DraftFile(std::string file) : file_(std::move(file)), draft_(file_ + ".part") {}

DraftFile::~DraftFile() { std::remove(draft_.c_str()); }

Result<void> DraftFile::publish() {
  if (std::rename(draft_.c_str(), file_.c_str()) != 0) {
    return failed();
  }
  return {};
}

tl::unexpected<Error> DraftFile::failed(std::string_view reason) const {
  return fail("cannot write {}: {}", file_, reason);
}

tl::unexpected<Error> DraftFile::failed() const { return failed(std::strerror(errno)); }

const std::string& PlacePaths::add(const analyzer::PlaceRow& place) {
  paths_.push_back(place.number == 0 ? place.function
                                     : paths_[place.parent] + " > " + place.function);
  return paths_.back();
}

std::string written_intervals(const analyzer::IntervalTimesSummary& summary) {
  std::string written = fmt::format("{} intervals", summary.intervals);
  if (summary.left_out != 0) {
    written += fmt::format("; {} more were too long to follow", summary.left_out);
  }
  return written;
}

}  // namespace vprof::report
