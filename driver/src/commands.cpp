#include "commands.h"

#include <cstdio>

#include "interrupt.h"
#include "progress.h"

namespace vprof::driver {

namespace {

bool g_narrate_on_error = false;  // set once, before anything is said

void show_end_of(const fs::path& log) {
  constexpr size_t kLines = 15;
  for (const std::string& line : last_lines(log, kLines))
    std::fprintf(stderr, "  | %s\n", line.c_str());
}

std::string how_it_ended(int code) {
  return code > 128 ? fmt::format("was killed by signal {}", code - 128)
                    : fmt::format("failed with exit code {}", code);
}

}  // namespace

Result<Finished> run_step(const StepCommand& step) {
  Command command = step.command;
  if (auto made = make_directories(command.log.parent_path()); !made)
    return tl::unexpected(made.error());
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
  if (!finished || finished->code == 0) return finished;
  const auto last = last_lines(command.log, 1);
  const std::string own = step.speaker + ": ";
  if (!step.speaker.empty() && !last.empty() && last[0].rfind(own, 0) == 0) {
    return fail("{}", last[0].substr(own.size()));
  }
  show_end_of(command.log);
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
