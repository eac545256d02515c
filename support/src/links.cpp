#include "vprof/support/links.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "vprof/support/text.h"

namespace vprof {

namespace {

constexpr const char* kVariable = "VPROF_LINK_FORMAT";

/// Names as other tools have them for the same URLs.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kNames = {{
    {"default", "file://{host}{path}"},
    {"none", ""},
    {"kitty", "file://{host}{path}#{line}"},
    {"vscode", "vscode://file{path}:{line}:{column}"},
    {"vscodium", "vscodium://file{path}:{line}:{column}"},
    {"cursor", "cursor://file{path}:{line}:{column}"},
    {"zed", "zed://file{path}:{line}:{column}"},
    {"idea", "idea://open?file={path}&line={line}&column={column}"},
}};

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool shows_links() {
  const std::string terminal = environment("TERM");
  return ::isatty(STDOUT_FILENO) != 0 && !terminal.empty() && terminal != "dumb" &&
         terminal != "linux";
}

bool is_in_name(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || std::isalnum(byte) != 0 ||
         std::string_view("_./+-~@=%#,").find(c) != std::string_view::npos;
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// `file:line` or `file:line:column`, from `begin` to before `end` in the text.
struct Place {
  size_t begin = 0, end = 0;
  std::string file, line, column = "1";
};

/// The place whose file name ends at the colon at `colon`, if it is one.
std::optional<Place> place_at(const std::string& text, size_t colon) {
  Place place;
  place.begin = colon;
  while (place.begin > 0 && is_in_name(text[place.begin - 1])) {
    --place.begin;
  }
  if (text.compare(place.begin - std::min<size_t>(place.begin, 2), 2, "\033[") == 0) {
    place.begin = std::min(text.find('m', place.begin), colon - 1) + 1;  // a colour
  }
  const auto digits = [&](size_t from) {
    size_t to = from;
    while (to < text.size() && is_digit(text[to])) {
      ++to;
    }
    return to;
  };
  place.end = digits(colon + 1);
  place.file = text.substr(place.begin, colon - place.begin);
  place.line = text.substr(colon + 1, place.end - colon - 1);
  if (place.file.empty() || place.line.empty()) {
    return {};
  }
  if (place.end < text.size() && text[place.end] == ':') {
    const size_t end = digits(place.end + 1);
    if (end > place.end + 1) {
      place.column = text.substr(place.end + 1, end - place.end - 1);
      place.end = end;
    }
  }
  return place;
}

/// As RFC 3986 has it; the separators stay.
std::string percent_encoded(const std::string& path) {
  std::string encoded;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte < 0x80 && (std::isalnum(byte) != 0 ||
                                       std::string_view("-._~/").find(c) != std::string_view::npos);
    encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return encoded;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

class Linker {
 public:
  Linker(const LinkFormat& format, const fs::path& root)
      : format_(format), root_(root), host_(host_name()) {}

  /// Empty: there is no such file.
  std::string url(const Place& place) {
    const auto [known, is_new] = paths_.try_emplace(place.file);
    if (is_new) {
      known->second = path_of(place.file);
    }
    if (known->second.empty()) {
      return "";
    }
    const std::array<std::pair<std::string_view, const std::string*>, 4> parts = {
        {{"{path}", &known->second},
         {"{line}", &place.line},
         {"{column}", &place.column},
         {"{host}", &host_}}};
    std::string url = format_.url;
    for (const auto& [name, value] : parts) {
      for (size_t at = 0; (at = url.find(name, at)) != std::string::npos; at += value->size()) {
        url.replace(at, name.size(), *value);
      }
    }
    return url;
  }

 private:
  /// Absolute and encoded; empty: no file.
  std::string path_of(const std::string& file) const {
    const fs::path path(file);
    if (path.is_relative() && root_.empty()) {
      return "";
    }
    std::error_code error;
    const fs::path whole = fs::absolute(path.is_relative() ? root_ / path : path, error);
    return !error && fs::is_regular_file(whole, error)
               ? percent_encoded(whole.lexically_normal().string())
               : "";
  }

  const LinkFormat& format_;
  const fs::path& root_;
  const std::string host_;
  std::map<std::string, std::string> paths_;
};

}  // namespace

Result<LinkFormat> link_format() {
  if (!shows_links()) {
    return LinkFormat{};
  }
  const std::string wanted = environment(kVariable);
  std::vector<std::string> names;
  for (const auto& [name, url] : kNames) {
    if (wanted == name || (wanted.empty() && name == "default")) {
      return LinkFormat{std::string(url)};
    }
    names.emplace_back(name);
  }
  if (wanted.find("{path}") == std::string::npos || wanted.find("://") == std::string::npos) {
    return fail("{}: \"{}\" is no URL with {{path}}; write one such as \"{}\", or {}", kVariable,
                wanted, kNames[3].second, listed(names, "or"));
  }
  return LinkFormat{wanted};
}

std::string with_links(const std::string& text, const LinkFormat& format, const fs::path& root) {
  if (format.url.empty()) {
    return text;
  }
  Linker linker(format, root);
  std::string linked;
  size_t done = 0;
  for (size_t colon = text.find(':'); colon != std::string::npos;
       colon = text.find(':', colon + 1)) {
    const auto place = place_at(text, colon);
    if (!place || place->begin < done) {
      continue;
    }
    const std::string url = linker.url(*place);
    if (url.empty()) {
      continue;
    }
    linked += text.substr(done, place->begin - done);
    linked += fmt::format("\033]8;;{}\033\\{}\033]8;;\033\\", url,
                          text.substr(place->begin, place->end - place->begin));
    done = place->end;
    colon = place->end - 1;
  }
  return linked + text.substr(done);
}

}  // namespace vprof
