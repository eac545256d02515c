#include "text/layout.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace vprof::report {
namespace {

constexpr const char* kEllipsis = "…";

struct Character {
  size_t bytes;
  size_t columns;
};

/// The character at the begin of a text that is not empty.
Character first_character(std::string_view text) {
  utf8proc_int32_t code = 0;
  const auto bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                      static_cast<utf8proc_ssize_t>(text.size()), &code);
  if (bytes <= 0) {
    return {1, 1};  // not UTF-8: terminals show a replacement character for each byte
  }
  return {static_cast<size_t>(bytes), static_cast<size_t>(utf8proc_charwidth(code))};
}

/// How many bytes of a text fit `width` columns, with the combining characters that follow.
size_t bytes_that_fit(std::string_view text, size_t width) {
  size_t at = 0;
  size_t used = 0;
  while (at < text.size()) {
    const Character next = first_character(text.substr(at));
    used += next.columns;
    if (used > width) {
      break;
    }
    at += next.bytes;
  }
  return at;
}

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

size_t columns(std::string_view text) {
  size_t count = 0;
  while (!text.empty()) {
    const Character next = first_character(text);
    count += next.columns;
    text.remove_prefix(next.bytes);
  }
  return count;
}

std::string fit(const std::string& text, size_t width) {
  if (columns(text) <= width) {
    return text;
  }
  return width == 0 ? "" : text.substr(0, bytes_that_fit(text, width - 1)) + kEllipsis;
}

std::string fit_path(const std::vector<std::string>& path, size_t width) {
  std::string text = join(path, path.size(), 0);
  if (columns(text) <= width) {
    return text;
  }
  // The root, and as much of the end as fits.
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
