// `vprof mcp`: a server for assistants (Model Context Protocol) on standard input and output. It is
// written in Python on the protocol's own SDK, and asks `vprof VERB --json`.
#include "pipeline/results.h"
#include "verbs/answers/become_python.h"
#include "verbs/verbs.h"

namespace vprof::driver {

Result<int> verb_mcp(const Global& global, const McpOptions& options) {
  const auto locations = VPROF_TRY(find_locations());
  const fs::path server = locations.assistant / "vprof_mcp.py";
  std::error_code error;
  if (!fs::exists(server, error)) {
    return fail("a part of vprof is missing: {}; install vprof again", server.string());
  }
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  std::vector<std::string> words = {server.string(), "--vprof", self.string(), "--config",
                                    global.config.string()};
  if (options.allow_runs) {
    words.emplace_back("--allow-runs");
  }
  return become_python("mcp", std::move(words));
}

}  // namespace vprof::driver
