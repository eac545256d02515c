// `vprof mcp`: a server for assistants (Model Context Protocol) on standard input and output. It is
// written in Python on the protocol's own SDK, and asks `vprof VERB --json`.
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "pipeline/results.h"
#include "verbs/verbs.h"

namespace vprof::driver {

namespace {

std::string variable_or_none(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// $VPROF_PYTHON; the environment that the documentation says to make; Python on the PATH.
fs::path interpreter() {
  if (const std::string named = variable_or_none("VPROF_PYTHON"); !named.empty()) {
    return named;
  }
  const std::string data = variable_or_none("XDG_DATA_HOME");
  const fs::path own =
      (data.empty() ? fs::path(variable_or_none("HOME")) / ".local/share" : fs::path(data)) /
      "vprof/python/bin/python3";
  std::error_code error;
  return fs::exists(own, error) ? own : fs::path("python3");
}

}  // namespace

Result<int> verb_mcp(const Global& global, const McpOptions& options) {
  const auto locations = VPROF_TRY(find_locations());
  const fs::path server = locations.assistant / "vprof_mcp.py";
  std::error_code error;
  if (!fs::exists(server, error)) {
    return fail("a part of vprof is missing: {}; install vprof again", server.string());
  }
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  std::vector<std::string> words = {
      interpreter().string(), server.string(), "--vprof",
      self.string(),          "--config",      global.config.string()};
  if (options.allow_runs) {
    words.emplace_back("--allow-runs");
  }
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  return fail(
      "mcp: {} cannot be started: {}; install Python 3.10 or later, or name it by "
      "VPROF_PYTHON",
      words[0], std::strerror(errno));
}

}  // namespace vprof::driver
