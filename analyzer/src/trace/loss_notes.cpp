#include "trace/loss_notes.h"

#include <fmt/format.h>

#include <cstring>
#include <string>

#include "trace/wait_classes.h"

namespace vprof::analyzer {
namespace {

void note_switches(const vprof_file_header& header, Losses& losses) {
  if ((header.classes & VPROF_CLASS_PREEMPTION) == 0) {
    return;
  }
  const char* what = "the time that they spent without a processor counts to what they were doing";
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

void note_losses(const vprof_file_header& header, Losses& losses) {
  if (header.overwritten != 0) {
    losses.notes.push_back(fmt::format(
        "process {}: {} older records were overwritten, as the trace keeps the last of each thread",
        header.pid, header.overwritten));
  }
  if (const std::string names = disabled_wait_classes(header.classes); !names.empty()) {
    losses.notes.push_back(
        fmt::format("process {}: waits of some kinds were left out: {}", header.pid, names));
  }
  note_switches(header, losses);
}

}  // namespace vprof::analyzer
