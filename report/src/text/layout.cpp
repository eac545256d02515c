#include "text/layout.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace vprof::report {
namespace {

struct Character {
  size_t bytes;
  size_t columns;
};

/// Of a colour, `\x1b[1;31m`, at the begin of a text; 0: there is none.
size_t escape_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) {
    return 0;
  }
  const size_t end = text.find_first_not_of("0123456789;", 2);
  return end == std::string_view::npos ? text.size() : end + 1;
}

/// The character at the begin of a text that is not empty.
Character first_character(std::string_view text) {
  if (const size_t escape = escape_length(text); escape != 0) {
    return {escape, 0};
  }
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

/// As bytes_that_fit(), from the end.
size_t bytes_that_fit_at_end(std::string_view text, size_t width) {
  size_t from = 0;
  for (size_t left = columns(text); left > width && from < text.size();) {
    const Character next = first_character(text.substr(from));
    left -= next.columns;
    from += next.bytes;
  }
  return text.size() - from;
}

/// The ellipsis, or as much of it as fits.
std::string fit_sign(size_t width, bool ascii) {
  const std::string sign = ellipsis(ascii);
  return sign.substr(0, bytes_that_fit(sign, width));
}

/// The root, `kept` and the last `tail` elements.
std::string join(const std::vector<std::string>& path, size_t kept, size_t tail, bool ascii) {
  std::string text;
  bool gap = false;
  for (size_t i = 0; i < path.size(); ++i) {
    if (i != 0 && i != kept && i + tail < path.size()) {
      gap = true;
      continue;
    }
    text +=
        (text.empty() ? "" : " > ") + (gap ? ellipsis(ascii) + std::string(" > ") : "") + path[i];
    gap = false;
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

const char* ellipsis(bool ascii) { return ascii ? "..." : "…"; }

std::string fit(const std::string& text, size_t width, bool ascii) {
  if (columns(text) <= width) {
    return text;
  }
  const std::string sign = fit_sign(width, ascii);
  return text.substr(0, bytes_that_fit(text, width - columns(sign))) + sign;
}

std::string fit_name(const std::string& text, size_t width, bool ascii) {
  if (columns(text) <= width) {
    return text;
  }
  const std::string sign = fit_sign(width, ascii);
  const size_t left = width - columns(sign);
  const size_t end = bytes_that_fit_at_end(text, left - left / 3);
  return text.substr(0, bytes_that_fit(text, left / 3)) + sign + text.substr(text.size() - end);
}

std::string fit_path(const std::vector<std::string>& path, size_t width, bool ascii, size_t kept) {
  if (path.empty()) {
    return "";
  }
  for (const size_t middle : {kept, size_t{0}}) {
    for (size_t tail = path.size(); tail != 0; --tail) {
      const std::string text = join(path, middle, tail, ascii);
      if (columns(text) <= width) {
        return text;
      }
    }
  }
  return fit_name(path.back(), width, ascii);
}

std::string to_ascii(const std::string& text) {
  static const std::map<std::string_view, std::string_view> lookalikes = {
      {"…", "..."}, {"±", "+-"}, {"²", "^2"}, {"×", "x"}, {"µ", "u"}, {"–", "-"}};
  std::string result;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view next = rest.substr(0, first_character(rest).bytes);
    const auto found = lookalikes.find(next);
    const bool plain = next.size() > 1 ? next.front() == '\x1b' : (next.front() & 0x80) == 0;
    result += found != lookalikes.end() ? found->second : plain ? next : std::string_view("?");
    rest.remove_prefix(next.size());
  }
  return result;
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
    std::string word = text.substr(at, end - at);
    if (!line.empty() && columns(line) + 1 + columns(word) > room) {
      flush();
    }
    while (columns(word) > room) {
      const size_t bytes = bytes_that_fit(word, room);
      line = word.substr(0, bytes);
      flush();
      word.erase(0, bytes);
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

std::string bar(double part, size_t width, bool ascii) {
  constexpr std::array<const char*, 8> kParts = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double clamped = std::clamp(part, 0.0, 1.0);
  if (ascii) {
    return pad(
        std::string(static_cast<size_t>(std::lround(clamped * static_cast<double>(width))), '#'),
        width);
  }
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
