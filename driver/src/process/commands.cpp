#include "process/commands.h"

#include <algorithm>
#include <cstdio>

#include "process/command_log.h"
#include "process/interrupt.h"
#include "process/progress.h"

namespace vprof::driver {

namespace {

bool g_narrate_on_error = false;  // set once, before anything is said

/// The first errors, if they are not among the last lines, and these.
void show_what_went_wrong(const fs::path& log) {
  constexpr size_t kErrors = 5;
  constexpr size_t kLines = 15;
  const std::vector<std::string> last = last_lines(log, kLines);
  std::vector<std::string> lines;
  for (const std::string& line : error_lines(log, kErrors)) {
    if (std::find(last.begin(), last.end(), line) == last.end()) {
      lines.push_back(line);
    }
  }
  if (!lines.empty()) {
    lines.push_back("...");
  }
  lines.insert(lines.end(), last.begin(), last.end());
  for (const std::string& line : lines) {
    std::fprintf(stderr, "  | %s\n", line.c_str());
  }
}

std::string how_it_ended(int code) {
  return code > 128 ? fmt::format("was killed by signal {}", code - 128)
                    : fmt::format("failed with exit code {}", code);
}

}  // namespace

Result<Finished> run_step(const StepCommand& step) {
  Command command = step.command;
  VPROF_TRY(make_directories(command.log.parent_path()));
  Result<Finished> finished = fail("not run");
  {
    Progress progress(step.step);
    if (command.on_line) {
      const auto sink = command.on_line;
      command.on_line = [&progress, sink](std::string_view line) {
        progress.take_line(line);
        sink(line);
      };
    }
    finished = run_command(command);
  }
  if (!finished || finished->code == 0) {
    return finished;
  }
  const auto last = last_lines(command.log, 1);
  const std::string own = step.speaker + ": ";
  if (!step.speaker.empty() && !last.empty() && last[0].rfind(own, 0) == 0) {
    return fail("{}", last[0].substr(own.size()));
  }
  show_what_went_wrong(command.log);
  return fail("{} {}; its output is in {}", step.what, how_it_ended(finished->code),
              shown(command.log));
}

void narrate_on_standard_error() { g_narrate_on_error = true; }

void say(const std::string& line) {
  FILE* to = g_narrate_on_error ? stderr : stdout;
  std::fprintf(to, "%s\n", line.c_str());
  std::fflush(to);
}

void warn(const std::string& line) { std::fprintf(stderr, "vprof: warning: %s\n", line.c_str()); }

}  // namespace vprof::driver
