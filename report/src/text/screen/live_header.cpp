#include "text/screen/live_header.h"

#include <cmath>

#include "text/layout.h"
#include "vprof/report/message.h"
#include "vprof/support/text.h"

namespace vprof::report {

namespace {

constexpr size_t kNarrow = 60;  // columns: below, lines have no names, and fewer figures
constexpr size_t kNameColumns = 11;

struct HeaderLine {
  int importance;  // the lower ones go first where there are few rows
  const char* name;
  std::string text;         // where there is room
  std::string narrow_text;  // else
  ScreenStyle style = ScreenStyle::kPlain;
};

/// `1:02:03`, `0:42`.
std::string clock_text(double seconds) {
  const auto all = static_cast<uint64_t>(std::max(0.0, seconds));
  return all >= 3600 ? fmt::format("{}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60)
                     : fmt::format("{}:{:02}", all / 60, all % 60);
}

std::string rate_text(const LiveFigures& figures) {
  const double rate =
      figures.seconds > 0 ? static_cast<double>(figures.count) / figures.seconds : 0;
  return rate >= 10 ? human_count(static_cast<uint64_t>(std::llround(rate)))
                    : fmt::format("{:.2g}", rate);
}

/// ` ± 0.05 ms` of a figure; empty if its interval is not known.
std::string plus_minus_time(const std::array<double, 2>& ci95) {
  return ci95[1] > 0 ? " ± " + human_time((ci95[1] - ci95[0]) / 2) : "";
}

HeaderLine requests_line(const LiveStatus& status) {
  const LiveFigures& figures = status.figures;
  if (figures.iteration == 0) {
    return {7, "requests", "nothing has ended yet", "nothing has ended yet"};
  }
  const std::string mean = human_time(figures.mean_ns);
  const std::string p99 = human_time(figures.p99_ns);
  return {7, "requests",
          fmt::format("{}/s   mean {}{}   p99 {}{}", rate_text(figures), mean,
                      plus_minus_time(figures.mean_ci95), p99, plus_minus_time(figures.p99_ci95)),
          fmt::format("{}/s mean {} p99 {}", rate_text(figures), mean, p99), ScreenStyle::kStrong};
}

std::string phase_text(const LiveStatus& status) {
  const auto time = [&] {
    return status.phase_most_s > 0
               ? fmt::format("{:.0f} s of at most {:g}", status.phase_s, status.phase_most_s)
               : fmt::format("{:.0f} s", status.phase_s);
  };
  switch (status.phase) {
    case LivePhase::kSwitching:
      return "choosing what to measure";
    case LivePhase::kBaseline:
      return "baseline, all sites off: " + time();
    case LivePhase::kCensus:
      return "census of what the sites cost";
    case LivePhase::kMeasuring:
      return "measuring: " + time();
    case LivePhase::kWaiting:
      return "waiting for the last intervals, then adding up";
  }
  return "";
}

HeaderLine phase_line(const LiveStatus& status) {
  const std::string phase = phase_text(status);
  return {6, "epoch", fmt::format("{}; {}", status.epoch, phase), phase};
}

HeaderLine frontier_line(const LiveStatus& status, size_t columns) {
  const bool off = status.phase == LivePhase::kBaseline;
  const std::string sites = off ? counted(status.sites_on, "site") + " to come"
                                : counted(status.sites_on, "site") + " on";
  // As many names as there is room for.
  std::string names;
  for (size_t i = 0; i < status.functions.size(); ++i) {
    const std::string more = (i == 0 ? "" : ", ") + status.functions[i];
    if (i > 0 && vprof::report::columns(names + more) + 10 > columns) {
      names += fmt::format(" and {} more", status.functions.size() - i);
      break;
    }
    names += more;
  }
  const std::string wide = names.empty() ? sites : fmt::format("{}; calls of {}", sites, names);
  return {5, "measured", wide, names.empty() ? sites : names + ": " + sites};
}

HeaderLine purpose_line(const LiveStatus& status) {
  return {2, "because of", status.purpose, status.purpose};
}

HeaderLine cost_line(const LiveStatus& status) {
  const LiveFigures& figures = status.figures;
  const bool known = figures.iteration != 0 && !figures.baseline;
  const bool above = known && figures.cost > status.budget;
  const std::string busy = known ? fmt::format("+{:.1f} %", 100 * figures.cost) : "-";
  std::string wide = fmt::format("busy time {} of {:g} %", busy, 100 * status.budget);
  if (known && figures.mean_ratio_ci95[1] > 0) {
    wide += fmt::format("; mean × {:.2f} ({:.2f} to {:.2f})", figures.mean_ratio,
                        figures.mean_ratio_ci95[0], figures.mean_ratio_ci95[1]);
  }
  if (status.own_processors >= 0) {
    wide += fmt::format("; vprof {:.2f} CPU", status.own_processors);
  }
  return {4, "cost", wide, fmt::format("busy {} of {:g} %", busy, 100 * status.budget),
          above ? ScreenStyle::kWarning : ScreenStyle::kPlain};
}

HeaderLine counted_line(const LiveStatus& status) {
  const LiveFigures& figures = status.figures;
  const std::string intervals = human_count(figures.count);
  const std::string dropped = human_count(figures.dropped);
  return {
      3, "counted",
      fmt::format("{} intervals, {} incomplete; {} records dropped, {} unknown waits", intervals,
                  human_count(figures.incomplete), dropped, human_count(figures.unknown_waits)),
      fmt::format("{} intervals, {} dropped", intervals, dropped),
      figures.dropped > 0 ? ScreenStyle::kWarning : ScreenStyle::kPlain};
}

}  // namespace

ScreenLine live_title(const LiveStatus& status, size_t columns) {
  const std::string time = clock_text(status.elapsed_s);
  const bool narrow = columns < kNarrow;
  const std::string right = narrow ? fmt::format("it. {}  {} ", status.iteration, time)
                                   : fmt::format("iteration {}   {} ", status.iteration, time);
  const std::string name = (narrow ? " " : " vprof live   ") + status.interval;
  const size_t wide = vprof::report::columns(right);
  const size_t left = columns > wide ? columns - wide : 0;
  const std::string text = left == 0 ? fit(right, columns) : pad(fit(name, left), left) + right;
  return {{pad(text, columns), ScreenStyle::kBar}};
}

std::vector<ScreenLine> live_header(const LiveStatus& status, size_t rows, size_t columns) {
  const bool narrow = columns < kNarrow;
  std::vector<HeaderLine> all = {
      requests_line(status), phase_line(status), frontier_line(status, columns),
      purpose_line(status),  cost_line(status),  counted_line(status)};
  std::erase_if(all, [](const HeaderLine& one) { return one.text.empty(); });
  while (all.size() > rows) {
    all.erase(std::ranges::min_element(all, {}, &HeaderLine::importance));
  }
  std::vector<ScreenLine> lines;
  for (const HeaderLine& one : all) {
    if (narrow) {
      lines.push_back({{fit(" " + one.narrow_text, columns), one.style}});
    } else {
      lines.push_back({{pad(std::string(" ") + one.name, kNameColumns + 1), ScreenStyle::kFaint},
                       {fit(one.text, columns - kNameColumns - 1), one.style}});
    }
  }
  return lines;
}

}  // namespace vprof::report
