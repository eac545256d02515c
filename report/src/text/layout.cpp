#include "text/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace vprof::report {
namespace {

constexpr const char* kEllipsis = "…";

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

std::string join(const std::vector<std::string>& path, size_t head, size_t tail) {
  std::string text;
  const auto append = [&](const std::string& part) { text += (text.empty() ? "" : " > ") + part; };
  for (size_t i = 0; i < head; ++i) {
    append(path[i]);
  }
  if (head + tail < path.size()) {
    append(kEllipsis);
  }
  for (size_t i = path.size() - tail; i < path.size(); ++i) {
    append(path[i]);
  }
  return text;
}

}  // namespace

size_t columns(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string fit(const std::string& text, size_t width) {
  if (columns(text) <= width) {
    return text;
  }
  if (width == 0) {
    return {};
  }
  std::string cut;
  size_t used = 0;
  for (const char c : text) {
    if (starts_character(c) && ++used == width) {
      break;
    }
    cut.push_back(c);
  }
  return cut + kEllipsis;
}

std::string fit_path(const std::vector<std::string>& path, size_t width) {
  std::string text = join(path, path.size(), 0);
  if (columns(text) <= width) {
    return text;
  }
  // The end tells most: as much of it as there is room for, with the root before it.
  for (size_t tail = path.size() - 1; tail-- > 1;) {
    text = join(path, 1, tail);
    if (columns(text) <= width) {
      return text;
    }
  }
  return path.empty() ? "" : fit(path.back(), width);
}

std::string wrap(const std::string& text, size_t indent, size_t width) {
  const size_t room = width > indent + 10 ? width - indent : 10;
  std::string result;
  std::string line;
  const auto flush = [&] {
    if (!line.empty()) {
      result += std::string(indent, ' ') + line + "\n";
    }
    line.clear();
  };
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = fit(text.substr(at, end - at), room);
    if (!line.empty() && columns(line) + 1 + columns(word) > room) {
      flush();
    }
    if (!word.empty()) {
      line += (line.empty() ? "" : " ") + word;
    }
    at = end + 1;
  }
  flush();
  return result;
}

std::string pad(const std::string& text, size_t width) {
  const size_t used = columns(text);
  return used < width ? text + std::string(width - used, ' ') : text;
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

std::string human_count(uint64_t count) {
  std::string digits = std::to_string(count);
  for (size_t at = digits.size(); at > 3;) {
    digits.insert(at -= 3, ",");
  }
  return digits;
}

std::string percent(double part) {
  const double value = 100 * part;
  return fmt::format("{:.1f} %", std::abs(value) < 0.05 ? 0.0 : value);
}

std::string plural(uint64_t count, const std::string& one, const std::string& many) {
  return human_count(count) + " " + (count == 1 ? one : many);
}

std::string bar(double part, size_t width) {
  constexpr std::array<const char*, 8> kParts = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double clamped = std::clamp(part, 0.0, 1.0);
  const auto eighths = static_cast<size_t>(std::lround(clamped * static_cast<double>(width) * 8));
  std::string text;
  for (size_t i = 0; i < eighths / 8; ++i) {
    text += "█";
  }
  return pad(text + kParts[eighths % 8], width);
}

std::string paint(const std::string& text, Style style, bool color) {
  if (!color || text.empty()) {
    return text;
  }
  switch (style) {
    case Style::kHeading:
      return "\x1b[1m" + text + "\x1b[0m";
    case Style::kMarked:
      return "\x1b[1;31m" + text + "\x1b[0m";
    case Style::kFaint:
      return "\x1b[2m" + text + "\x1b[0m";
    case Style::kWarning:
      return "\x1b[33m" + text + "\x1b[0m";
    case Style::kPlain:
      break;
  }
  return text;
}

}  // namespace vprof::report
