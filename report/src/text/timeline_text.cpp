#include <fmt/format.h>

#include <algorithm>

#include "text/text_writer.h"
#include "vprof/report/timeline.h"
#include "vprof/support/text.h"

namespace vprof::report {
namespace {

using analyzer::Timeline;
using analyzer::TimelinePiece;

// Widths of columns.
constexpr size_t kTime = 11;
constexpr size_t kThread = 16;

std::string thread_of(const TimelinePiece& piece) {
  return fmt::format("{}:{} {}", piece.pid, piece.thread, piece.thread_name);
}

std::string time_of(int64_t ns) { return human_time(static_cast<double>(ns)); }

std::string columns_of(const std::string& at, const std::string& took, const std::string& thread) {
  return "  " + pad(at, kTime) + pad(took, kTime) + pad(thread, kThread + 1);
}

}  // namespace

std::string text(const Timeline& timeline, const TextOptions& options) {
  TextWriter out(options);
  out.line(
      fmt::format("{} #{}{}: {}", timeline.interval, timeline.id,
                  timeline.label.empty() ? "" : " " + timeline.label, time_of(timeline.latency_ns)),
      Style::kHeading);
  if (timeline.others != 0) {
    out.line(fmt::format("  the slowest of {} with this id", human_count(timeline.others + 1)),
             Style::kFaint);
  }
  out.line(columns_of("at", "took", "thread") + "what", Style::kFaint);
  for (const TimelinePiece& piece : timeline.pieces) {
    const std::string head =
        columns_of(time_of(piece.from_ns), time_of(piece.to_ns - piece.from_ns),
                   fit(thread_of(piece), kThread));
    const std::vector<std::string> below(piece.path.begin() + (piece.path.size() > 1 ? 1 : 0),
                                         piece.path.end());
    const size_t room = out.width() > columns(head) + 10 ? out.width() - columns(head) : 10;
    out.line(head + fit_path(below, room));
  }
  return out.take();
}

nlohmann::json json(const Timeline& timeline) {
  nlohmann::json events = nlohmann::json::array();
  for (const TimelinePiece& piece : timeline.pieces) {
    events.push_back({{"name", piece.path.back()},
                      {"cat", "critical path"},
                      {"ph", "X"},
                      {"ts", static_cast<double>(piece.from_ns) / 1e3},
                      {"dur", static_cast<double>(piece.to_ns - piece.from_ns) / 1e3},
                      {"pid", piece.pid},
                      {"tid", piece.thread},
                      {"args", {{"path", piece.path}}}});
    nlohmann::json name = {{"name", "thread_name"},
                           {"ph", "M"},
                           {"pid", piece.pid},
                           {"tid", piece.thread},
                           {"args", {{"name", piece.thread_name}}}};
    if (std::find(events.begin(), events.end(), name) == events.end()) {
      events.push_back(std::move(name));
    }
  }
  return {{"traceEvents", std::move(events)},
          {"displayTimeUnit", "ns"},
          {"otherData",
           {{"interval", timeline.interval},
            {"id", timeline.id},
            {"label", timeline.label},
            {"latency_ns", timeline.latency_ns}}}};
}

}  // namespace vprof::report
