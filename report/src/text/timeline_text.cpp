#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "text/text_writer.h"
#include "text/timeline_rows.h"
#include "vprof/report/timeline.h"
#include "vprof/support/text.h"

namespace vprof::report {
namespace {

using analyzer::Timeline;
using analyzer::TimelinePiece;

// Widths of columns.
constexpr size_t kTime = 11;
constexpr size_t kThread = 16;
constexpr size_t kLeastRoom = 10;

constexpr int64_t kShort = 1000;     // pieces shorter than this part of the latency are folded
constexpr size_t kMostParts = 3;     // of a row that are named
constexpr size_t kPartsIndent = 15;  // of the line that names them

constexpr const char* kOwnTime = "(own time)";

std::string time_of(int64_t ns) { return human_time(static_cast<double>(ns)); }

std::string columns_of(const std::string& at, const std::string& took, const std::string& thread) {
  return "  " + pad(at, kTime) + pad(took, kTime) + pad(thread, kThread + 1);
}

/// Without the interval, which the heading names. Own time is that of the function before it, and
/// the wait before an unknown waker says more than that.
std::vector<std::string> shown_path(const TimelineRow& row) {
  std::vector<std::string> path(row.path.begin() + (row.path.size() > 1 ? 1 : 0), row.path.end());
  if (path.size() > 1 && (path.back() == kOwnTime || path.back() == analyzer::kUnknownWaker)) {
    path.pop_back();
  }
  return path;
}

bool is_own_time(const TimelineRow& row) {
  return row.path.size() > 1 && row.path.back() == kOwnTime;
}

/// ` (12 pieces)`, ` (inferred)`, ` (12 pieces, inferred)`
std::string remark_on(const TimelineRow& row) {
  std::vector<std::string> remarks;
  if (row.pieces != 1) {
    remarks.push_back(fmt::format("{} pieces", human_count(row.pieces)));
  }
  if (row.inferred) {
    remarks.emplace_back("inferred");
  }
  return remarks.empty() ? "" : fmt::format(" ({})", fmt::join(remarks, ", "));
}

/// `f 1.20 ms, g 0.30 ms and 2 more`
std::string parts_of(const TimelineRow& row) {
  std::vector<std::string> parts;
  for (const auto& [name, ns] : row.parts) {
    if (parts.size() < kMostParts) {
      parts.push_back(name + " " + time_of(ns));
    }
  }
  if (row.parts.size() > kMostParts) {
    parts.push_back(fmt::format("{} more", row.parts.size() - kMostParts));
  }
  return listed(parts);
}

/// The function that a row is about: what waits or is preempted, not that it does.
const std::string& function_of(const std::vector<std::string>& path) {
  const std::string& last = path.back();
  const bool state = last == "preempted" || last.ends_with(')');
  return state && path.size() > 1 ? path[path.size() - 2] : last;
}

void write_row(const TimelineRow& row, TextWriter& out) {
  const std::string head = columns_of(time_of(row.from_ns), time_of(row.to_ns - row.from_ns),
                                      fit(row.thread, kThread, out.ascii()));
  const std::vector<std::string> path = shown_path(row);
  const std::string& function = function_of(path);
  const std::string remark = remark_on(row);
  const size_t used = columns(head) + columns(remark);
  const size_t room = out.width() > used + kLeastRoom ? out.width() - used : kLeastRoom;
  const std::string place = fit_path(path, room, out.ascii());
  if (place.find(function) != std::string::npos) {
    const std::string own = is_own_time(row) ? std::string(" ") + kOwnTime : "";
    const bool fits = columns(place + own) <= room;
    out.line(head + place + (fits ? own : "") + remark);
  } else {  // the name matters more than a line
    out.line(head + (&function == &path.back() ? "" : path.back()) + remark);
    out.paragraph((&function == &path.back() ? "" : "in ") + function, kPartsIndent);
  }
  if (!row.parts.empty()) {
    out.paragraph(parts_of(row), kPartsIndent, Style::kFaint);
  }
}

/// The rows, and what there is to say about them.
std::vector<TimelineRow> rows_for(const Timeline& timeline, bool all, TextWriter& out) {
  if (all) {
    return rows_of(timeline);
  }
  const int64_t least = timeline.latency_ns / kShort;
  std::vector<TimelineRow> rows = folded_rows(timeline, least);
  if (rows.size() < timeline.pieces.size()) {
    out.paragraph(fmt::format("{} pieces in {}: equal neighbours and pieces shorter than 0.1 % "
                              "({}) are put together; --all shows each",
                              human_count(timeline.pieces.size()),
                              plural(rows.size(), "row", "rows"), time_of(least)),
                  2, Style::kFaint);
  }
  return rows;
}

}  // namespace

std::string text(const Timeline& timeline, const TextOptions& options, bool all) {
  TextWriter out(options);
  out.line(
      fmt::format("{} #{}{}{}: {}", timeline.interval, timeline.id,
                  timeline.key == 0 ? "" : fmt::format(" key {}", timeline.key),
                  timeline.label.empty() ? "" : " " + timeline.label, time_of(timeline.latency_ns)),
      Style::kHeading);
  if (timeline.trace.is_set()) {
    const std::string span = timeline.trace.span_id();
    out.line(fmt::format("  trace {}{}", timeline.trace.trace_id(),
                         span.empty() ? "" : fmt::format(", within span {}", span)),
             Style::kFaint);
  }
  if (timeline.others != 0) {
    out.line(
        fmt::format("  the slowest of {} with this key or trace", human_count(timeline.others + 1)),
        Style::kFaint);
  }
  const std::vector<TimelineRow> rows = rows_for(timeline, all, out);
  if (std::any_of(rows.begin(), rows.end(), [](const TimelineRow& row) { return row.inferred; })) {
    out.paragraph(
        "inferred: the recording does not tell for certain that this thread is what was "
        "waited for",
        2, Style::kFaint);
  }
  out.line(columns_of("at", "took", "thread") + "what", Style::kFaint);
  for (const TimelineRow& row : rows) {
    write_row(row, out);
  }
  return out.take();
}

}  // namespace vprof::report
