// The command line: reads it, runs one verb, and turns its result into an exit code.
//
//   0 done   1 a condition of `diff --fail-if` holds   2 an error of one line   128 + signal
//   interrupted; the same command goes on
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>

#include "cli/describe.h"
#include "process/interrupt.h"
#include "verbs/verbs.h"

namespace vprof::driver {
namespace {

constexpr int kUserError = 2;

struct Line {
  Global global;
  std::string directory;
  LoopOptions loop;
  ReportOptions report;
  AnalyzeOptions analyze;
  HistoryOptions history;
  InstrumentOptions instrument;
  GraphOptions graph;
  MergeOptions merge;
  DiffOptions diff;
  ExportOptions exports;
  TimelineOptions timeline;
  std::vector<std::string> command;
  bool baseline = false;
  std::string function;
  std::string shell;
  std::function<Result<int>()> verb;
};

/// A verb without options of its own.
CLI::App* add(CLI::App& app, Line& line, const char* name, const char* help,
              std::function<Result<int>()> verb) {
  CLI::App* sub = app.add_subcommand(name, help);
  sub->fallthrough();  // -C and --config may stand behind the verb, too
  sub->callback([&line, verb = std::move(verb)] { line.verb = verb; });
  return sub;
}

void add_single_steps(CLI::App& app, Line& line) {
  add(app, line, "index", "find the functions of the program and their calls",
      [&line] { return verb_index(line.global); });
  CLI::App* instrument = add(app, line, "instrument", "rewrite the mirror",
                             [&line] { return verb_instrument(line.global, line.instrument); });
  CLI::Option* expand = instrument->add_option(
      "--expand", line.instrument.expand,
      "functions whose calls are to be measured, besides those of the intervals");
  instrument->add_flag("--all", line.instrument.all, "measure every function and every call")
      ->excludes(expand);
  instrument->add_flag("--dry-run", line.instrument.dry_run,
                       "show what would be inserted, change nothing");
  add(app, line, "build", "build the mirror", [&line] { return verb_build(line.global); });
  CLI::App* record = add(app, line, "record", "run the workload and record it",
                         [&line] { return verb_record(line.global, line.command, line.baseline); });
  record->add_flag("--baseline", line.baseline, "record intervals only");
  record->add_option("command", line.command, "run this instead of \"run\" of vprof.json")
      ->option_text("[-- COMMAND...]");
  record->positionals_at_end();
  CLI::App* analyze = add(app, line, "analyze", "analyse a recording",
                          [&line] { return verb_analyze(line.global, line.analyze); });
  analyze->add_option("dir", line.analyze.trace, "a recording from elsewhere");
  analyze->add_option("--interval", line.analyze.interval, "name of the interval to be explained");
  analyze->add_flag("--json", line.analyze.json, "print report.json");
  analyze
      ->add_option(
          "--skip", line.analyze.skip,
          "leave out intervals that began earlier after the recording than this (2s, 300ms)")
      ->option_text("TIME");
  analyze->add_option("--profile", line.analyze.profile, "write the profile to this file, too")
      ->option_text("FILE");
  analyze->add_option("--threads", line.analyze.threads, "of the analysis (one per processor)");
}

void add_profiles(CLI::App& app, Line& line) {
  CLI::App* timeline = add(app, line, "timeline", "how one interval went",
                           [&line] { return verb_timeline(line.global, line.timeline); });
  timeline->add_option("id", line.timeline.id, "as the report names it")->required();
  timeline->add_option("dir", line.timeline.trace, "a recording from elsewhere");
  timeline->add_option("--interval", line.timeline.interval, "name of its interval");
  timeline->add_flag("--json", line.timeline.json, "for Perfetto and other trace viewers");
  CLI::App* merge = add(app, line, "merge", "add up profiles of several runs, processes or hosts",
                        [&line] { return verb_merge(line.merge); });
  merge->add_option("profiles", line.merge.profiles, "files, or directories of vprof.json")
      ->required();
  merge->add_option("-o,--output", line.merge.output, "write the sum to this file")
      ->option_text("FILE");
  merge->add_flag("--json", line.merge.json, "print report.json");
  CLI::App* diff =
      add(app, line, "diff", "compare two profiles", [&line] { return verb_diff(line.diff); });
  diff->add_option("a", line.diff.a, "the profile before")->required();
  diff->add_option("b", line.diff.b, "the profile after")->required();
  diff->add_option("--fail-if", line.diff.fail_if, "exit code 1 if this holds, as 'p99>1.1x'")
      ->option_text("CONDITION")
      ->expected(1)
      ->take_all();
  diff->add_flag("--certainly", line.diff.certainly,
                 "... only if it does so over the whole confidence interval");
  diff->add_flag("--json", line.diff.json, "as JSON");
}

void add_export(CLI::App& app, Line& line) {
  CLI::App* sub = add(app, line, "export", "single intervals, for other programs",
                      [&line] { return verb_export(line.global, line.exports); });
  const auto file = [&](const char* name, std::string& into, const char* help) {
    sub->add_option(name, into, help)->option_text("FILE");
  };
  file("--perfetto", line.exports.perfetto,
       "the slowest and some typical ones, for ui.perfetto.dev");
  file("--csv", line.exports.csv, "all, with the time of each place, as a table");
  file("--sqlite", line.exports.sqlite, "the same as a database");
  file("--folded", line.exports.folded, "shares of the variance, for flame-graph tools");
  sub->add_option("dir", line.exports.trace, "a recording from elsewhere");
  sub->add_option("--interval", line.exports.interval, "name of the intervals");
}

void add_loop(CLI::App& app, Line& line) {
  CLI::App* loop = add(app, line, "loop", "measure, rank and break down until the cause is found",
                       [&line] { return verb_loop(line.global, line.loop); });
  CLI::Option* alone =
      loop->add_flag("--auto", line.loop.decide_alone, "decide by policy instead of asking");
  CLI::Option* resume =
      loop->add_flag("--resume", line.loop.resume, "go on where the last loop ended (the default)");
  CLI::Option* restart =
      loop->add_flag("--restart", line.loop.restart, "begin the search anew")->excludes(resume);
  loop->add_option("--from", line.loop.from, "go back to this iteration and decide again")
      ->option_text("N")
      ->check(CLI::Range(1, 1000))
      ->excludes(restart);
  loop->add_flag("--keep-traces", line.loop.keep_traces, "keep the traces of all iterations");
  loop->add_flag("--json", line.loop.json, "print the final report as JSON, and nothing else")
      ->needs(alone);
  loop->add_option("--max-iterations", line.loop.max_iterations, "stop after so many")
      ->check(CLI::Range(1, 1000));
  loop->add_option("--overhead-budget", line.loop.overhead_budget,
                   "percent by which measuring may raise the mean latency before plans are thinned")
      ->option_text("PERCENT")
      ->check(CLI::Range(0.0, 10000.0));
  loop->add_option("--interval", line.loop.interval, "name of the interval to be explained");
}

void add_verbs(CLI::App& app, Line& line) {
  add(app, line, "init", "write a vprof.json for a source tree",
      [&line] { return verb_init(line.global); });
  add(app, line, "check", "tell what would go wrong", [&line] { return verb_check(line.global); });
  add_loop(app, line);
  add_single_steps(app, line);
  add_profiles(app, line);
  add_export(app, line);
  CLI::App* history = add(app, line, "history", "what each iteration expanded, found and decided",
                          [&line] { return verb_history(line.global, line.history); });
  history->add_flag("--json", line.history.json, "as JSON");
  CLI::App* report = add(app, line, "report", "print the last report",
                         [&line] { return verb_report(line.global, line.report); });
  report->add_flag("--json", line.report.json, "as JSON");
  report->add_flag("--tree", line.report.tree, "the variance tree");
  report->add_option("--html", line.report.html, "as one HTML file, for a browser")
      ->option_text("FILE");
  report->add_option("--iteration", line.report.iteration, "that of an earlier iteration")
      ->check(CLI::Range(1, 1000));
  CLI::App* graph = add(app, line, "graph", "callers and callees of a function",
                        [&line] { return verb_graph(line.global, line.graph); });
  graph->add_option("function", line.graph.function, "its name; none: the whole program");
  CLI::Option* dot = graph->add_flag("--dot", line.graph.dot, "as a DOT graph");
  graph->add_flag("--json", line.graph.json, "as JSON")->excludes(dot);
  CLI::App* source = add(app, line, "source", "what was inserted into a function, as a diff",
                         [&line] { return verb_source(line.global, line.function); });
  source->add_option("function", line.function, "its name")->required();
}

/// What shells and man(1) want to know.
void add_descriptions(CLI::App& app, Line& line) {
  const auto print = [](const std::string& text) -> Result<int> {
    std::fputs(text.c_str(), stdout);
    return 0;
  };
  CLI::App* completion =
      add(app, line, "completion", "print completion for a shell: bash or zsh", [=, &app, &line] {
        const CommandText text = describe(app, VPROF_VERSION);
        return print(line.shell == "zsh" ? zsh_completion(text) : bash_completion(text));
      });
  completion->add_option("shell", line.shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  add(app, line, "manual", "print the manual page, in roff",
      [=, &app] { return print(manual_page(describe(app, VPROF_VERSION))); });
}

int error_line(const std::string& message) {
  std::fprintf(stderr, "vprof: %s\n", message.c_str());
  return kUserError;
}

std::string one_line(std::string text) {
  for (char& c : text) {
    c = c == '\n' ? ' ' : c;
  }
  return text;
}

int run_verb(const Line& line) {
  if (!line.directory.empty() && ::chdir(line.directory.c_str()) != 0) {
    return error_line("cannot enter directory " + line.directory);
  }
  const Result<int> result = line.verb();
  if (result) {
    return *result;
  }
  if (!interrupt::requested()) {
    return error_line(result.error().message);
  }
  std::fprintf(stderr, "vprof: interrupted; the same command goes on from here\n");
  return interrupt::exit_code();
}

int vprof_main(int argc, char** argv) {
  Line line;
  CLI::App app("Tells why the latency of a C or C++ server varies.", "vprof");
  app.set_version_flag("--version", "vprof " VPROF_VERSION);
  app.require_subcommand(1);
  app.add_option("-C", line.directory, "directory of vprof.json")->option_text("DIR");
  app.add_option("--config", line.global.config, "a configuration file of another name")
      ->option_text("FILE");
  add_verbs(app, line);
  add_descriptions(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      return app.exit(error);
    }
    return error_line(one_line(error.what()) + "; `vprof --help` lists the verbs");
  }
  return run_verb(line);
}

}  // namespace
}  // namespace vprof::driver

int main(int argc, char** argv) {
  // Orphans of a workload come to us, so that the dead ones can be told from the living
  // (process.cpp).
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  vprof::driver::interrupt::install();
  try {
    return vprof::driver::vprof_main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "vprof: unexpected: %s\n", error.what());
    return 2;
  }
}
