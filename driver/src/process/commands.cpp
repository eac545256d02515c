#include "process/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "process/command_log.h"
#include "process/interrupt.h"
#include "vprof/report/message.h"
#include "vprof/report/terminal.h"
#include "vprof/support/links.h"
#include "vprof/support/output.h"

namespace vprof::driver {

namespace {

bool g_narrate_on_error = false;  // set once, before the first say()
int g_output_error = 0;           // of the first write to standard output that failed: errno
std::atomic<Listener*> g_listener{nullptr};

void write_at_once(const std::string& text, FILE* to) {
  const bool written = std::fputs(text.c_str(), to) >= 0 && std::fflush(to) == 0;
  if (!written && to == stdout && g_output_error == 0) {
    g_output_error = errno;
  }
}

void write_line(const std::string& text) {
  write_at_once(text + "\n", g_narrate_on_error ? stderr : stdout);
}

/// Shows the last lines of a log, and before them the first errors that are not among them.
void show_failure(const fs::path& log) {
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

std::string ending(int code) {
  return code > 128 ? fmt::format("was killed by signal {}", code - 128)
                    : fmt::format("failed with exit code {}", code);
}

/// The error that a helper of ours wrote as the last line of its log, or "".
std::string helper_error(const StepCommand& step) {
  const std::string mark = step.helper + ": ";
  const auto last = last_lines(step.command.log, 1);
  const bool found = !step.helper.empty() && !last.empty() && last[0].starts_with(mark);
  return found ? last[0].substr(mark.size()) : "";
}

}  // namespace

Result<Finished> run_step(const StepCommand& step) {
  Command command = step.command;
  VPROF_TRY(make_directories(command.log.parent_path()));
  Result<Finished> finished = fail("not run");
  {
    Progress progress(step.step, step.usual_s);
    if (command.on_line) {
      const auto sink = command.on_line;
      command.on_line = [&progress, sink](std::string_view line) {
        progress.take_line(line);
        sink(line);
      };
    }
    command.on_turn = [&progress, &step](double seconds) {
      if (const std::string line = step.watch ? step.watch(seconds) : ""; !line.empty()) {
        progress.warn(line);
      }
      if (step.status) {
        progress.update(step.status(seconds));
      }
    };
    finished = run_command(command);
  }
  if (finished && finished->timed_out) {
    show_failure(command.log);
    return fail("{} ran for longer than {:g} s and was ended; its output is in {}", step.what,
                command.timeout_s, shown(command.log));
  }
  if (!finished || finished->code == 0 || finished->stopped) {
    return finished;
  }
  if (const std::string message = helper_error(step); !message.empty()) {
    return fail("{}", message);
  }
  show_failure(command.log);
  return fail("{} {}; its output is in {}", step.what, ending(finished->code), shown(command.log));
}

int narration() { return g_narrate_on_error ? STDERR_FILENO : STDOUT_FILENO; }

void narrate_on_standard_error() { g_narrate_on_error = true; }

void set_listener(Listener* listener) { g_listener.store(listener); }

void say(const std::string& line) {
  if (Listener* listener = g_listener.load(); listener != nullptr) {
    listener->said(line);
    return;
  }
  write_line(report::for_terminal(line, narration()));
}

void say_verbatim(const std::string& text) { write_line(text); }

void answer(const std::string& text) { write_at_once(text, stdout); }

Result<void> standard_output_is_written() {
  errno = 0;
  const bool written =
      std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && !std::cout.flush().fail();
  const int error = g_output_error != 0 ? g_output_error : errno;
  if (written || error == EPIPE) {
    return {};
  }
  return fail("cannot write to standard output{}",
              error != 0 ? fmt::format(": {}", std::strerror(error)) : "");
}

Result<void> say_with_links(const std::string& text, const fs::path& root) {
  const Result<LinkFormat> format = g_narrate_on_error ? LinkFormat{} : link_format();
  say_verbatim(with_links(text, format.value_or(LinkFormat{}), root));
  return format ? Result<void>() : tl::unexpected<Error>(format.error());
}

Result<void> write_result(const fs::path& file, std::string_view text) {
  if (is_standard_output(file)) {
    narrate_on_standard_error();
  }
  return write_output(file, text);
}

void warn(const std::string& line) {
  if (Listener* listener = g_listener.load(); listener != nullptr) {
    listener->warned(line);
    return;
  }
  const std::string text =
      fmt::format("vprof: {} {}", report::warning("warning:", STDERR_FILENO), line);
  std::fprintf(stderr, "%s\n", report::for_terminal(text, STDERR_FILENO).c_str());
}

}  // namespace vprof::driver
