#include <fmt/format.h>

#include <algorithm>

#include "text/layout.h"
#include "vprof/report/timeline.h"

namespace vprof::report {
namespace {

using analyzer::Timeline;
using analyzer::TimelinePiece;

constexpr size_t kTime = 11;
constexpr size_t kThread = 16;

std::string thread_of(const TimelinePiece& piece) {
  return fmt::format("{}:{} {}", piece.pid, piece.thread, piece.thread_name);
}

}  // namespace

std::string text(const Timeline& timeline, const TextOptions& options) {
  const auto width = static_cast<size_t>(std::max(options.width, 40));
  std::string out;
  const auto line = [&](const std::string& text, Style style) {
    out += paint(fit(text, width), style, options.color) + "\n";
  };
  line(fmt::format("{} #{}{}: {}", timeline.interval, timeline.id,
                   timeline.label.empty() ? "" : " " + timeline.label,
                   human_time(static_cast<double>(timeline.latency_ns))),
       Style::kHeading);
  if (timeline.others != 0) {
    line(fmt::format("  the slowest of {} with this id", human_count(timeline.others + 1)),
         Style::kFaint);
  }
  line("  " + pad("at", kTime) + pad("took", kTime) + pad("thread", kThread + 1) + "what",
       Style::kFaint);
  for (const TimelinePiece& piece : timeline.pieces) {
    const std::string head =
        "  " + pad(human_time(static_cast<double>(piece.from_ns)), kTime) +
        pad(human_time(static_cast<double>(piece.to_ns - piece.from_ns)), kTime) +
        pad(fit(thread_of(piece), kThread), kThread + 1);
    const std::vector<std::string> below(piece.path.begin() + (piece.path.size() > 1 ? 1 : 0),
                                         piece.path.end());
    const size_t room = width > columns(head) + 10 ? width - columns(head) : 10;
    line(head + fit_path(below, room), Style::kPlain);
  }
  return out;
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
