#include "vprof/support/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

namespace vprof {
namespace {

/// The length of the UTF-8 character that the text begins with; 0: it is none, or a control
/// character.
size_t bytes_of_printable(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : 0u; };
  const uint32_t first = byte(0);
  const size_t bytes = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  uint32_t code = bytes == 1 ? first : first & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) {
      return 0;
    }
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr std::array<uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};  // by length
  const bool leads = first < 0x80 || (first >= 0xc0 && first < 0xf8);
  const bool valid =
      leads && code >= kLeast.at(bytes) && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  return valid && !control ? bytes : 0;
}

}  // namespace

size_t edit_distance(std::string_view a, std::string_view b, size_t limit) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) >= limit) {
    return limit;
  }
  // Rows of the usual table: the one before last, the last, and the one being filled.
  std::vector<size_t> older(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) {
        row[j] = std::min(row[j], older[j - 2] + 1);
      }
    }
    // A swap reaches back two rows, so both must be beyond the limit.
    if (*std::min_element(row.begin(), row.end()) >= limit &&
        *std::min_element(last.begin(), last.end()) >= limit) {
      return limit;
    }
    older.swap(last);
    last.swap(row);
  }
  return std::min(last[b.size()], limit);
}

std::string nearest(std::string_view name, const std::vector<std::string>& candidates) {
  std::string best;
  size_t least = std::max<size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(name, candidate, least);
    if (distance >= least) {
      continue;
    }
    least = distance;
    best = candidate;
  }
  return best;
}

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const size_t bytes = bytes_of_printable(text);
    shown += bytes == 0 ? "?" : text.substr(0, bytes);
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return shown;
}

std::string listed(const std::vector<std::string>& names, std::string_view last) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) {
      text += i + 1 == names.size() ? " " + std::string(last) + " " : ", ";
    }
    text += names[i];
  }
  return text;
}

std::string counted(size_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

std::string_view last_part(std::string_view name) {
  int depth = 0;
  for (size_t i = name.size(); i >= 2; --i) {
    const char c = name[i - 1];
    if (c == '>' || c == ')') {
      ++depth;
    }
    if (c == '<' || c == '(') {
      --depth;
    }
    if (depth == 0 && c == ':' && name[i - 2] == ':') {
      return name.substr(i);
    }
  }
  return name;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<std::string> without_repeats(const std::vector<std::string>& lines) {
  std::vector<std::string> first;
  std::map<std::string, std::pair<size_t, int>> seen;  // where the first one is, how many there are
  for (const std::string& line : lines) {
    std::string words = line;
    std::erase_if(words, [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == ','; });
    const auto [known, is_new] = seen.try_emplace(words, first.size(), 0);
    ++known->second.second;
    if (is_new) {
      first.push_back(line);
    }
  }
  for (const auto& [words, at] : seen) {
    if (at.second > 1) {
      first[at.first] += fmt::format(" (and {} more like it)", at.second - 1);
    }
  }
  return first;
}

std::string human_time(double ns) {
  struct Unit {
    double size;
    const char* name;
  };
  constexpr std::array<Unit, 4> kUnits = {{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}};
  for (const Unit& unit : kUnits) {
    const double value = ns / unit.size;
    if (std::abs(value) < 0.9995 && unit.size > 1) {
      continue;
    }
    if (unit.size <= 1) {
      return fmt::format("{:.0f} {}", value, unit.name);
    }
    const int decimals = std::abs(value) < 9.995 ? 2 : std::abs(value) < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f} {}", value, decimals, unit.name);
  }
  return "0 ns";
}

}  // namespace vprof
