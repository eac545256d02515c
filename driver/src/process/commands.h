// Runs a command of the user, or a helper of ours, as a step of a verb: with progress, a log, and
// an explanation if it fails.
#pragma once

#include <string>
#include <string_view>

#include "process/process.h"
#include "process/progress.h"
#include "vprof/support/files.h"

namespace vprof::driver {

struct StepCommand {
  std::string step;  ///< name of the step in progress lines: `build`
  std::string what;  ///< subject of the error message: `the build command`
  Command command;
  /// Name of the program if it is a helper of ours. By convention a failing helper writes its error
  /// as its last line, `NAME: message`; the message then becomes the error of the step.
  std::string helper = {};
  /// If set, called several times a second with the seconds since the start. What it returns is
  /// shown as a warning, unless that is empty.
  std::function<std::string(double)> watch = {};
  /// If set, called as often, with the seconds since the start: how far the step is.
  std::function<StepStatus(double)> status = {};
  double usual_s = 0;  ///< how long it took the last time; 0: unknown
};

/// Runs the command to its end. Error: kInterrupted; or the command could not be started, or it
/// failed. After a failure, the first errors and the last lines of its log are shown on standard
/// error.
Result<Finished> run_step(const StepCommand& step);

/// Writes a message to standard output, wrapped at the width of the terminal.
void say(const std::string& line);
/// The same as it is: a report, whose lines fit already, or JSON.
void say_verbatim(const std::string& text);
/// An answer that is no message, to standard output as it is, without another end of line.
void answer(const std::string& text);
/// As say_verbatim(), of a text with `file:line` in it, which become links where the terminal
/// follows them. `root`: the source tree; empty: unknown. Error, after the text without links: the
/// format of links is none.
Result<void> say_with_links(const std::string& text, const fs::path& root);
/// Error: something that was said did not get to standard output, such as a report to a file on a
/// full disk. That nobody reads on (`vprof report | head`) is none.
Result<void> standard_output_is_written();
/// Takes what say() and warn() would write.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void said(const std::string& line) = 0;
  virtual void warned(const std::string& line) = 0;
};

/// From now on `listener` gets what say() and warn() are given; nullptr: nobody does.
void set_listener(Listener* listener);

/// The file descriptor that say() writes to.
int narration();
/// From now on say() writes to standard error, since standard output carries JSON.
void narrate_on_standard_error();
/// Writes what the user asked for to where the user said (output.h). If that is standard output,
/// say() leaves it alone from now on.
Result<void> write_result(const fs::path& file, std::string_view text);
/// Writes a warning to standard error: vprof continues, but the result may suffer.
void warn(const std::string& line);

}  // namespace vprof::driver
