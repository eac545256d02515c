// vprof(1). The sections about options and verbs come from the command line itself.
#include <fmt/format.h>

#include "cli/command_text.h"

namespace vprof::driver {

namespace {

constexpr const char* kDescription = R"(.SH DESCRIPTION
.B vprof
tells why the latency of a C or C++ server varies. It builds an instrumented copy of the program
with the program's own build, runs its workload, and splits the variance of the latency of a request
into the functions, lock waits and queue waits on its critical path. It ranks these factors and
measures the callees of the largest ones, until it arrives at functions that are small enough to
understand. It never modifies the source tree.
.PP
.I vprof.json
in the working directory describes the program. All output goes to
.I .vprof
next to it. Results go to standard output, progress to standard error.
)";

constexpr const char* kEnd = R"(.SH EXIT STATUS
.TP
.B 0
done
.TP
.B 1
a condition of
.B vprof diff \-\-fail\-if
holds
.TP
.B 2
an error; one line on standard error says what is wrong and what to do
.TP
.BR 130 ", " 143 ", " 129
interrupted by Ctrl-C, SIGTERM, SIGHUP; the same command resumes
.SH FILES
.TP
.I vprof.json
how to build and run the program, and what a request is
.TP
.I .vprof/report.json
the last report
.TP
.I .vprof/iterations/N/
logs, report and profile of each iteration
.SH ENVIRONMENT
.TP
.B NO_COLOR
no colours, even at a terminal
.TP
.B COLUMNS
width of reports
.TP
.B VPROF_HOME
prefix of the installation that provides the runtime and the helpers; by default that of vprof itself
.PP
An instrumented program that runs without
.B vprof record
reads
.TP
.B VPROF_TRACE_DIR
directory for its trace; without it nothing is recorded
.TP
.B VPROF_SITES
.B off
records intervals only
.TP
.BR VPROF_RING_MB ", " VPROF_TRACE_MB
how much of a long run each thread keeps; the size limit of the trace
.TP
.B VPROF_WAITS_OFF
kinds of waits not to record, separated by commas
.SH EXAMPLE
.nf
vprof try \-\- ./server args   # guesses, measures, prints a first report
vprof init            # writes vprof.json; complete it
vprof check
vprof loop \-\-auto
vprof report \-\-tree
.fi
.SH SEE ALSO
The documentation in
.I doc/vprof
of the installation.
)";

std::string escaped(const std::string& text) {
  std::string safe;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else if ((c == '.' || c == '\'') && i == 0) {
      safe += "\\&";
      safe += c;
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string options(const std::vector<OptionText>& all) {
  std::string text;
  for (const OptionText& option : all) {
    std::string names;
    for (const std::string& name : option.names) {
      names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", escaped(name));
    }
    const std::string value =
        option.value.empty() ? "" : fmt::format("\\fI{}\\fR", escaped(option.value));
    const char* space = names.empty() || value.empty() ? "" : " ";
    text += fmt::format(".TP\n{}{}{}\n{}\n", names, space, value, escaped(option.help));
  }
  return text;
}

}  // namespace

std::string manual_page(const CommandText& command) {
  std::string text = fmt::format(
      ".TH VPROF 1 \"\" \"vprof {}\" \"User commands\"\n.SH NAME\nvprof \\- tells why latency "
      "varies\n.SH SYNOPSIS\n.B vprof\n[\\fB\\-C\\fR \\fIDIR\\fR] [\\fB\\-\\-config\\fR "
      "\\fIFILE\\fR] \\fIVERB\\fR [\\fIoptions\\fR]\n",
      command.version);
  text += kDescription;
  text += ".SH OPTIONS\n" + options(command.options) + ".SH VERBS\n";
  for (const VerbText& verb : command.verbs) {
    text += fmt::format(".SS {}\n{}\n{}", verb.name, escaped(verb.help), options(verb.options));
  }
  return text + kEnd;
}

}  // namespace vprof::driver
