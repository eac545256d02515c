#include "vprof/report/live_screen.h"

#include <cmath>

#include "text/layout.h"
#include "text/screen/live_header.h"
#include "vprof/support/text.h"

namespace vprof::report {

namespace {

constexpr size_t kLeastFactors = 3;  // rows
constexpr size_t kFewRows = 20;      // below, nothing of what was said before is shown
constexpr size_t kLeastLog = 4;      // then
constexpr size_t kWithBar = 60, kWithStanding = 46, kWithLocation = 90;  // columns
constexpr const char* kKeysWide =
    " ? help   e expand   a accept   s set aside   w a slow one   Return details   q quit";
constexpr const char* kKeysMedium = " ? help  e expand  a accept  s set aside  w slow one  q quit";
constexpr const char* kKeysNarrow = " ? help  e a s w  q quit";
constexpr const char* kKeysOfPage = " q back   up, down, page up, page down: scroll";

const char* standing_text(LiveStanding standing) {
  switch (standing) {
    case LiveStanding::kOpen:
      return "";
    case LiveStanding::kNext:
      return "next";
    case LiveStanding::kExpanded:
      return "expanded";
    case LiveStanding::kLeaf:
      return "leaf";
    case LiveStanding::kAnswer:
      return "answer";
    case LiveStanding::kSetAside:
      return "set aside";
  }
  return "";
}

/// The share on a scale from 0 to 1: full as far as it is certain, lighter as far as it may go. It
/// narrows as the search goes on.
std::string band(const LiveFactor& factor, size_t width, bool ascii) {
  const auto cells = [&](double part) {
    return static_cast<size_t>(
        std::lround(std::clamp(part, 0.0, 1.0) * static_cast<double>(width)));
  };
  const bool known = factor.ci95[1] > factor.ci95[0];
  const size_t certain = cells(known ? factor.ci95[0] : factor.share);
  const size_t possible = std::max(certain, cells(known ? factor.ci95[1] : factor.share));
  std::string text;
  for (size_t i = 0; i < width; ++i) {
    const bool full = i < certain;
    const bool light = i < possible;
    text += ascii ? (full ? "#" : light ? "-" : ".") : (full ? "█" : light ? "▒" : "·");
  }
  return text;
}

std::string share_text(const LiveFactor& factor) {
  const bool known = factor.ci95[1] > factor.ci95[0];
  return fmt::format("{:5.1f} %{:>7}", 100 * factor.share,
                     known ? fmt::format("± {:.1f}", 50 * (factor.ci95[1] - factor.ci95[0])) : "");
}

ScreenLine factor_line(const LiveFactor& factor, bool selected, size_t columns, bool ascii) {
  std::string text = fmt::format("{}{:2} ", selected ? ">" : " ", factor.rank);
  if (columns >= kWithBar) {
    text += band(factor, columns >= kWithLocation ? 20 : 12, ascii) + " ";
  }
  text += share_text(factor) + "  ";
  if (columns >= kWithStanding) {
    const bool is_decided = factor.standing == LiveStanding::kAnswer ||
                            factor.standing == LiveStanding::kSetAside ||
                            factor.standing == LiveStanding::kNext;
    const bool doubtful = factor.may_be_zero && !is_decided;
    text += pad(doubtful ? "chance?" : standing_text(factor.standing), 10);
  }
  const size_t used = vprof::report::columns(text);
  const size_t room = columns > used ? columns - used : 0;
  const size_t wanted = vprof::report::columns(factor.location) + 2;
  const bool located = columns >= kWithLocation && !factor.location.empty() && wanted < room / 2;
  const std::string name = fit_name(factor.name, located ? room - wanted : room, ascii);
  const ScreenStyle style = selected                                   ? ScreenStyle::kSelected
                            : factor.standing == LiveStanding::kAnswer ? ScreenStyle::kStrong
                            : factor.standing == LiveStanding::kSetAside || factor.may_be_zero
                                ? ScreenStyle::kFaint
                                : ScreenStyle::kPlain;
  text += name + (located ? "  " + factor.location : "");
  text = fit(text, columns, ascii);
  return {{selected ? pad(text, columns) : text, style}};
}

std::string table_heading(const LiveStatus& status, size_t columns) {
  const LiveFigures& figures = status.figures;
  std::string what = "factors";
  if (figures.iteration != 0 && !figures.baseline) {
    what = figures.iteration == status.iteration
               ? std::string("factors, as measured so far")
               : fmt::format("factors, as measured in iteration {}", figures.iteration);
  }
  return fit(fmt::format("  # {}{}", columns >= kWithBar ? "share of the variance: " : "", what),
             columns);
}

std::vector<ScreenLine> factor_lines(const LiveStatus& status, const LiveView& view, size_t rows,
                                     size_t columns, bool ascii) {
  std::vector<ScreenLine> lines;
  if (status.factors.empty()) {
    lines.push_back(
        {{fit("    no factor has been measured yet", columns, ascii), ScreenStyle::kFaint}});
    return lines;
  }
  const size_t selected = selected_factor(status, view);
  const size_t first = selected >= rows ? selected - rows + 1 : 0;
  for (size_t i = first; i < std::min(first + rows, status.factors.size()); ++i) {
    lines.push_back(factor_line(status.factors[i], i == selected, columns, ascii));
  }
  return lines;
}

ScreenLine bottom_line(const std::string& text, size_t columns, bool ascii) {
  return {{pad(fit(text, columns, ascii), columns), ScreenStyle::kBar}};
}

std::vector<ScreenLine> page_lines(const LiveView& view, ScreenSize size, bool ascii) {
  std::vector<ScreenLine> lines;
  const size_t rows = page_rows(size);
  lines.push_back(bottom_line(" " + view.page.title, size.columns, ascii));
  const size_t end = std::min(view.page_top + rows, view.page.lines.size());
  for (size_t i = view.page_top; i < end; ++i) {
    lines.push_back({{fit(view.page.lines[i], size.columns, ascii)}});
  }
  lines.resize(rows + 1);
  const std::string where = fmt::format("   {} to {} of {}", std::min(view.page_top + 1, end), end,
                                        view.page.lines.size());
  lines.push_back(bottom_line(kKeysOfPage + where, size.columns, ascii));
  return lines;
}

/// Some characters become two or three.
void make_ascii(ScreenLine& line, size_t columns) {
  size_t left = columns;
  for (ScreenPart& part : line) {
    part.text = to_ascii(part.text).substr(0, left);
    left -= part.text.size();
  }
}

/// The last space of a line that is too long at which it can be broken; 0: there is none, or it
/// fits.
size_t break_in(const std::string& line, size_t indent, size_t columns) {
  if (vprof::report::columns(line) <= columns) {
    return 0;
  }
  size_t found = 0;
  for (size_t at = line.find(' ', indent); at != std::string::npos; at = line.find(' ', at + 1)) {
    if (at > indent && vprof::report::columns(std::string_view(line).substr(0, at)) <= columns) {
      found = at;
    }
  }
  return found;
}

const char* keys_that_fit(size_t columns) {
  for (const char* keys : {kKeysWide, kKeysMedium}) {
    if (vprof::report::columns(keys) <= columns) {
      return keys;
    }
  }
  return kKeysNarrow;
}

std::vector<ScreenLine> search_lines(const LiveStatus& status, const LiveView& view,
                                     ScreenSize size, bool ascii) {
  const size_t columns = size.columns;
  std::vector<ScreenLine> lines = {live_title(status, columns)};
  // Title, keys, and the notice take a row each, also where there is no notice: nothing jumps.
  const size_t fixed = 3;
  const size_t left = size.rows > fixed ? size.rows - fixed : 0;
  const size_t for_header = left > kLeastFactors + 1 ? left - kLeastFactors - 1 : left > 1 ? 1 : 0;
  for (ScreenLine& line : live_header(status, for_header, columns)) {
    lines.push_back(std::move(line));
  }
  size_t for_log = 0;
  if (size.rows >= kFewRows) {
    const size_t taken = lines.size() + fixed + 2 + status.factors.size();
    const size_t spare = size.rows > taken ? size.rows - taken : 0;
    for_log = std::min(status.log.size(), std::max(spare, kLeastLog));
  }
  if (size.rows >= kFewRows) {
    lines.emplace_back();
  }
  if (lines.size() + for_log + fixed < size.rows + 1) {
    lines.push_back({{table_heading(status, columns), ScreenStyle::kFaint}});
  }
  const size_t below = for_log + 2;
  const size_t for_factors =
      size.rows > lines.size() + below ? size.rows - lines.size() - below : 0;
  if (for_factors > 0) {
    for (ScreenLine& line : factor_lines(status, view, for_factors, columns, ascii)) {
      lines.push_back(std::move(line));
    }
  }
  lines.resize(size.rows > below ? size.rows - below : 0);
  for (size_t i = status.log.size() - for_log; i < status.log.size(); ++i) {
    lines.push_back({{fit(" " + status.log[i], columns, ascii), ScreenStyle::kFaint}});
  }
  lines.push_back({{fit(" " + view.notice, columns, ascii), ScreenStyle::kStrong}});
  lines.push_back(bottom_line(keys_that_fit(columns), columns, ascii));
  return lines;
}

}  // namespace

size_t selected_factor(const LiveStatus& status, const LiveView& view) {
  const auto found = std::ranges::find(status.factors, view.selected, &LiveFactor::id);
  return found == status.factors.end() ? 0 : static_cast<size_t>(found - status.factors.begin());
}

std::vector<std::string> wrapped_lines(const std::string& text, size_t columns) {
  std::vector<std::string> lines;
  for (std::string line : lines_of(text)) {
    const size_t indent = std::min(line.find_first_not_of(' '), columns / 2);
    for (size_t end = break_in(line, indent, columns); end != 0;
         end = break_in(line, indent, columns)) {
      lines.push_back(line.substr(0, end));
      const size_t next = line.find_first_not_of(' ', end);
      line = next == std::string::npos ? "" : std::string(indent, ' ') + line.substr(next);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

size_t page_rows(ScreenSize size) { return size.rows > 2 ? size.rows - 2 : 1; }

std::vector<ScreenLine> live_screen(const LiveStatus& status, const LiveView& view, ScreenSize size,
                                    const TextOptions& options) {
  if (size.rows == 0 || size.columns == 0) {
    return {};
  }
  std::vector<ScreenLine> lines = view.page.title.empty()
                                      ? search_lines(status, view, size, options.ascii)
                                      : page_lines(view, size, options.ascii);
  if (lines.size() > size.rows) {  // a terminal of a row or two
    lines.erase(lines.begin() + 1, lines.end() - static_cast<ptrdiff_t>(size.rows) + 1);
  }
  lines.resize(size.rows);
  if (options.ascii) {
    for (ScreenLine& line : lines) {
      make_ascii(line, size.columns);
    }
  }
  return lines;
}

}  // namespace vprof::report
