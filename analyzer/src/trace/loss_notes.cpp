#include "trace/loss_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {
namespace {

constexpr struct {
  const char* name;
  uint32_t bit;
} kClasses[] = {VPROF_CLASS_NAMES};

/// The kinds of waits that a process did not record, according to the header of its trace. Empty if
/// it recorded all, or if the trace does not say.
std::string disabled_wait_classes(uint64_t classes) {
  std::string names;
  if (classes == 0 || classes == VPROF_CLASS_ALL) {
    return names;
  }
  for (const auto& c : kClasses) {
    if ((classes & c.bit) == 0) {
      names += (names.empty() ? "" : ", ") + std::string(c.name);
    }
  }
  return names;
}

}  // namespace

std::vector<std::string> wait_class_names() {
  std::vector<std::string> names;
  for (const auto& c : kClasses) {
    names.emplace_back(c.name);
  }
  return names;
}

void LossNotes::add(Kind kind, const vprof_file_header& header, uint64_t lost,
                    const std::string& detail) {
  Sum& sum = sums_[{kind, detail}];
  sum.pid = ++sum.processes == 1 ? header.pid : std::min<uint64_t>(sum.pid, header.pid);
  sum.lost += lost;
  sum.threads += header.threads;
}

void LossNotes::add(const vprof_file_header& header, bool is_whole) {
  if (is_whole && header.overwritten != 0) {
    add(Kind::kOverwritten, header, header.overwritten);
  }
  if (const std::string names = disabled_wait_classes(header.classes); !names.empty()) {
    add(Kind::kLeftOut, header, 0, names);
  }
  if ((header.classes & VPROF_CLASS_PREEMPTION) == 0) {
    return;
  }
  if (header.switches_refused != 0) {
    add(Kind::kSwitchesRefused, header, header.unwatched,
        std::strerror(static_cast<int>(header.switches_refused & 0xfff)));
  } else if (header.unwatched != 0) {
    add(Kind::kUnwatched, header, header.unwatched);
  }
  if (header.let_go != 0) {
    add(Kind::kLetGo, header, header.let_go);
  }
  if (header.switches_lost != 0) {
    add(Kind::kSwitchesLost, header, header.switches_lost);
  }
}

std::string LossNotes::text(Kind kind, const std::string& detail, const Sum& sum) {
  constexpr const char* kWithoutProcessor =
      "the time that they spent without a processor counts towards what they were doing";
  switch (kind) {
    case Kind::kOverwritten:
      return fmt::format(
          "{} older records were overwritten, because the trace keeps only the last ones of each "
          "thread",
          sum.lost);
    case Kind::kLeftOut:
      return fmt::format("waits of some kinds were left out: {}", detail);
    case Kind::kSwitchesRefused:
      return fmt::format(
          "context switches of {} of {} threads could not be seen (perf_event_open: {}): {}",
          sum.lost, sum.threads, detail, kWithoutProcessor);
    case Kind::kUnwatched:
      return fmt::format("context switches of {} of {} threads were not watched: {}", sum.lost,
                         sum.threads, kWithoutProcessor);
    case Kind::kLetGo:
      return fmt::format(
          "{} of {} threads gave up their processor more than 10,000 times a second and were no "
          "longer watched: {}",
          sum.lost, sum.threads, kWithoutProcessor);
    case Kind::kSwitchesLost:
      break;
  }
  return fmt::format("{} context switches were lost", sum.lost);
}

std::vector<std::string> LossNotes::text() const {
  std::vector<std::string> notes;
  for (const auto& [key, sum] : sums_) {
    const std::string who = sum.processes == 1 ? fmt::format("process {}", sum.pid)
                                               : fmt::format("{} processes", sum.processes);
    notes.push_back(fmt::format("{}: {}", who, text(key.first, key.second, sum)));
  }
  return notes;
}

}  // namespace vprof::analyzer
