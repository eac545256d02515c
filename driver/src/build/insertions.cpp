#include "build/insertions.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

constexpr size_t kContext = 3;

using Lines = std::vector<std::string>;

/// Number of lines that the instrumenter puts in front of a file: #include and #line.
size_t prelude_of(const Lines& original, const Lines& instrumented) {
  return instrumented.size() > original.size() ? instrumented.size() - original.size() : 0;
}

}  // namespace

std::string insertions(const std::string& original, const std::string& instrumented,
                       const std::string& name, size_t first, size_t last) {
  const Lines before = lines_of(original);
  const Lines after = lines_of(instrumented);
  const size_t prelude = prelude_of(before, after);
  last = std::min(last, before.size());
  const auto same = [&](size_t line) { return before[line - 1] == after[line - 1 + prelude]; };
  std::string text;
  for (size_t line = std::max<size_t>(first, 1); line <= last;) {
    if (same(line)) {
      ++line;
      continue;
    }
    // A hunk ends where no line differs for twice the context.
    const size_t begin = std::max(first, line > kContext ? line - kContext : 1);
    size_t end = line;
    for (size_t next = line; next <= std::min(last, end + 2 * kContext); ++next) {
      if (!same(next)) {
        end = next;
      }
    }
    end = std::min(last, end + kContext);
    text += fmt::format("@@ -{},{} +{},{} @@\n", begin, end - begin + 1, begin, end - begin + 1);
    for (size_t n = begin; n <= end; ++n) {
      if (same(n)) {
        text += " " + before[n - 1] + "\n";
        continue;
      }
      text += "-" + before[n - 1] + "\n+" + after[n - 1 + prelude] + "\n";
    }
    line = end + 1;
  }
  if (text.empty()) {
    return text;
  }
  return fmt::format("--- {}\n+++ {} (instrumented)\n{}", name, name, text);
}

}  // namespace vprof::driver
