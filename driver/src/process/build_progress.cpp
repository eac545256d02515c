#include "process/build_progress.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>

#include "process/command_log.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

constexpr double kReadEachS = 0.25;
constexpr size_t kLastLines = 200;  // a build may print many lines between two of its counts

uintmax_t size_of(const fs::path& file) {
  std::error_code error;
  const uintmax_t size = fs::file_size(file, error);
  return error ? 0 : size;
}

/// Takes a number from the front of `text`.
std::optional<uint64_t> take_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, std::string_view expected) {
  const bool found = text.starts_with(expected);
  text.remove_prefix(found ? expected.size() : 0);
  return found;
}

/// `[12/57] Compiling a.c` of ninja, `[ 21%] Building C object a.c.o` of CMake's makefiles.
std::optional<StepStatus> printed_by_tool(const std::string& line) {
  std::string_view text = line;
  if (!take(text, "[")) {
    return std::nullopt;
  }
  const auto first = take_number(text);
  if (first && take(text, "%] ")) {
    return StepStatus{.what = line};
  }
  if (!first || !take(text, "/")) {
    return std::nullopt;
  }
  const auto second = take_number(text);
  if (!second || *first > *second || !take(text, "] ")) {
    return std::nullopt;
  }
  return StepStatus{.done = *first, .total = *second, .what = std::string(text)};
}

}  // namespace

BuildProgress::BuildProgress(fs::path log, fs::path compile_log, size_t expected)
    : log_(std::move(log)),
      compile_log_(std::move(compile_log)),
      expected_(expected),
      read_(size_of(compile_log_)) {}

StepStatus BuildProgress::at(double seconds) {
  if (seconds >= next_s_) {
    next_s_ = seconds + kReadEachS;
    last_ = look();
  }
  return last_;
}

StepStatus BuildProgress::look() {
  const std::vector<std::string> lines = last_lines(log_, kLastLines);
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (auto printed = printed_by_tool(*line)) {
      return *std::move(printed);
    }
  }
  count_compilations();
  if (compiled_ == 0) {
    return {};
  }
  if (compiled_ <= expected_) {
    return {.done = compiled_, .total = expected_, .what = "files compiled"};
  }
  return {.what = counted(compiled_, "file") + " compiled"};
}

void BuildProgress::count_compilations() {
  std::ifstream in(compile_log_, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(read_));
  for (std::string line; std::getline(in, line) && !in.eof();) {  // the last one may be incomplete
    read_ += line.size() + 1;
    const bool is_link = line.find("\"inputs\":") != std::string::npos;
    compiled_ += is_link ? 0 : 1;
  }
}

}  // namespace vprof::driver
