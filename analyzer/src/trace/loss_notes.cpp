#include "trace/loss_notes.h"

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <vector>

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

void note_switches(const vprof_file_header& header, Losses& losses) {
  if ((header.classes & VPROF_CLASS_PREEMPTION) == 0) {
    return;
  }
  const char* what =
      "the time that they spent without a processor counts towards what they were doing";
  if (header.switches_refused != 0) {
    losses.notes.push_back(
        fmt::format("process {}: context switches of {} of {} threads could not be seen "
                    "(perf_event_open: {}): {}",
                    header.pid, header.unwatched, header.threads,
                    std::strerror(static_cast<int>(header.switches_refused & 0xfff)), what));
  } else if (header.unwatched != 0) {
    losses.notes.push_back(
        fmt::format("process {}: context switches of {} of {} threads were not watched: {}",
                    header.pid, header.unwatched, header.threads, what));
  }
  if (header.let_go != 0) {
    losses.notes.push_back(
        fmt::format("process {}: {} of {} threads gave up their processor more than 10,000 times a "
                    "second and were no longer watched: {}",
                    header.pid, header.let_go, header.threads, what));
  }
  if (header.switches_lost != 0) {
    losses.notes.push_back(
        fmt::format("process {}: {} context switches were lost", header.pid, header.switches_lost));
  }
}

}  // namespace

std::vector<std::string> wait_class_names() {
  std::vector<std::string> names;
  for (const auto& c : kClasses) {
    names.emplace_back(c.name);
  }
  return names;
}

void note_losses(const vprof_file_header& header, Losses& losses) {
  if (header.overwritten != 0) {
    losses.notes.push_back(
        fmt::format("process {}: {} older records were overwritten, because the trace keeps only "
                    "the last ones of each thread",
                    header.pid, header.overwritten));
  }
  if (const std::string names = disabled_wait_classes(header.classes); !names.empty()) {
    losses.notes.push_back(
        fmt::format("process {}: waits of some kinds were left out: {}", header.pid, names));
  }
  note_switches(header, losses);
}

}  // namespace vprof::analyzer
