#include "files/progress.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace vprof::instrumenter {

void report_progress(size_t done, size_t total, std::string_view what) {
  // One write per line keeps the lines of several threads apart.
  const std::string line = fmt::format("@progress {} {} {}\n", done, total, what);
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

}  // namespace vprof::instrumenter
