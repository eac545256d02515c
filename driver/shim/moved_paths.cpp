#include "moved_paths.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace vprof::shim {

namespace {

using namespace std::string_view_literals;

/// Whether the argument after this one names something to write, or is text of the program.
bool keeps_its_value(const std::string& option) {
  constexpr std::array kOptions = {"-o"sv, "-MF"sv, "-MT"sv, "-MQ"sv, "-D"sv, "-U"sv};
  return std::find(kOptions.begin(), kOptions.end(), option) != kOptions.end();
}

/// The path in the mirror for `path`; empty if it is not in the tree, or not in the mirror.
std::string mirrored(const std::string& path, const std::string& source,
                     const std::string& mirror) {
  if (path.compare(0, source.size(), source) != 0) {
    return "";
  }
  const std::string rest = path.substr(source.size());
  // The mirror itself may be inside the source tree.
  if ((!rest.empty() && rest[0] != '/') || rest.find("/.vprof/") != std::string::npos) {
    return "";
  }
  std::string moved = mirror + rest;
  return ::access(moved.c_str(), F_OK) == 0 ? moved : "";
}

}  // namespace

std::vector<std::string> moved_to_mirror(const std::vector<std::string>& arguments,
                                         const std::vector<std::string>& sources,
                                         const std::string& mirror) {
  constexpr std::array kOptions = {"-I"sv,       "-iquote"sv,  "-isystem"sv,
                                   "-include"sv, "-imacros"sv, "-idirafter"sv};
  std::vector<std::string> moved = arguments;
  for (size_t i = 0; i < moved.size(); ++i) {
    if (i > 0 && keeps_its_value(arguments[i - 1])) {
      continue;
    }
    std::string& argument = moved[i];
    const auto option = std::find_if(kOptions.begin(), kOptions.end(), [&](std::string_view one) {
      return argument.size() > one.size() && argument.compare(0, one.size(), one) == 0 &&
             argument[one.size()] == '/';
    });
    const size_t start = option == kOptions.end() ? 0 : option->size();
    for (const std::string& source : sources) {
      if (const std::string path = mirrored(argument.substr(start), source, mirror);
          !path.empty()) {
        argument.replace(start, std::string::npos, path);
        break;
      }
    }
  }
  return moved;
}

}  // namespace vprof::shim
