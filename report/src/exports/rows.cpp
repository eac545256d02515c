#include "exports/rows.h"

#include <fmt/format.h>

namespace vprof::report {

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
