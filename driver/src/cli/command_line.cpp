#include "cli/command_line.h"

#include <algorithm>

#include "cli/describe.h"
#include "cli/version.h"
#include "verbs/run.h"
#include "vprof/report/exports.h"

namespace vprof::driver {

namespace {

using Verb = std::function<Result<int>()>;

constexpr int kMostIterations = 1000;

CLI::App* add(CLI::App& app, CommandLine& line, const char* name, const char* help, Verb verb) {
  CLI::App* sub = app.add_subcommand(name, help);
  sub->fallthrough();  // accepts -C and --config after the verb
  sub->callback([&line, verb = std::move(verb)] { line.verb = verb; });
  return sub;
}

/// A verb without options of its own.
void add_plain(CLI::App& app, CommandLine& line, const char* name, const char* help,
               Result<int> (*verb)(const Global&)) {
  add(app, line, name, help, [&line, verb] { return verb(line.global); });
}

void add_init(CLI::App& app, CommandLine& line) {
  CLI::App* verb = add(app, line, "init", "write a vprof.json for a source tree",
                       [&line] { return verb_init(line.global, line.init); });
  verb->add_option("--from", line.init.from,
                   "take it from the catalogue of known programs; \"list\" shows them")
      ->option_text("NAME");
}

void add_try(CLI::App& app, CommandLine& line) {
  CLI::App* verb =
      add(app, line, "try", "guess how to build and measure a program, and print a first report",
          [&line] { return verb_try(line.global, line.tried); });
  verb->add_option(
          "function", line.tried.function,
          "the function that handles a request (guessed if left out); behind it `--` and the "
          "command")
      ->option_text("[-- COMMAND...]");
  verb->add_option("--build", line.tried.build, "how the program is built, if that is not guessed")
      ->option_text("COMMAND");
  verb->add_option("--seconds", line.tried.seconds, "end the command after this time")
      ->option_text("N")
      ->check(CLI::PositiveNumber);
}

void add_check(CLI::App& app, CommandLine& line) {
  CLI::App* verb = add(app, line, "check", "say what would go wrong, before it does",
                       [&line] { return verb_check(line.global, line.check); });
  verb->add_flag("--json", line.check.json, "print JSON");
}

/// A file that is written. One whose name begins with `--` is an option whose file was forgotten.
CLI::Option* add_output(CLI::App* verb, const std::string& names, std::string& file,
                        const std::string& help) {
  return verb->add_option(names, file, help)
      ->option_text("FILE")
      ->check([](const std::string& name) {
        return name.starts_with("--") ? "name a file; " + name + " is an option" : "";
      });
}

/// With or without the sign: 2, 2%.
void add_percent(CLI::App* verb, const char* name, double& value, const char* meaning) {
  verb->add_option(name, value, meaning)
      ->option_text("PERCENT")
      ->transform([](const std::string& text) {
        return text.ends_with('%') ? text.substr(0, text.size() - 1) : text;
      })
      ->check(CLI::Range(0.0, 10000.0));
}

void add_loop(CLI::App& app, CommandLine& line) {
  LoopOptions& options = line.loop;
  CLI::App* verb = add(app, line, "loop", "measure, rank and break down until the cause is found",
                       [&line] { return verb_loop(line.global, line.loop); });
  CLI::Option* alone =
      verb->add_flag("--auto", options.decide_alone, "decide by policy instead of asking");
  CLI::Option* resume = verb->add_flag("--resume", options.resume,
                                       "continue where the last loop ended (the default)");
  CLI::Option* restart =
      verb->add_flag("--restart", options.restart, "start a new search")->excludes(resume);
  verb->add_option("--from", options.from, "go back to this iteration and decide again")
      ->option_text("N")
      ->check(CLI::Range(1, kMostIterations))
      ->excludes(restart);
  verb->add_flag("--keep-traces", options.keep_traces, "keep the traces of all iterations");
  verb->add_flag("--json", options.json, "print the final report as JSON, and nothing else")
      ->needs(alone);
  verb->add_option("--max-iterations", options.max_iterations, "stop after this iteration")
      ->check(CLI::Range(1, kMostIterations));
  add_percent(verb, "--overhead-budget", options.overhead_budget,
              "by how many percent measuring may raise the mean latency before the plan is "
              "thinned");
  verb->add_option("--interval", options.interval, "name of the interval to explain");
}

void add_metrics(CLI::App* verb, std::string& file) {
  add_output(verb, "--metrics", file, "keep metrics for Prometheus in this file");
}

void add_live(CLI::App& app, CommandLine& line) {
  LiveOptions& options = line.live;
  CLI::App* verb = add(app, line, "live", "the same while the program runs: one build, one run",
                       [&line] { return verb_live(line.global, line.live); });
  CLI::Option* build =
      verb->add_flag("--build", options.build, "only build the program, and say how to start it");
  verb->add_option("--attach", options.attach,
                   "look at this process, or at what records into this directory")
      ->option_text("PID|DIR")
      ->excludes(build);
  add_percent(verb, "--budget", options.budget,
              "by how many percent measuring may slow the program down");
  verb->add_option("--epoch", options.most_epoch,
                   "how long to measure before a decision that is not clear, in seconds")
      ->option_text("SECONDS")
      ->check(CLI::Range(1.0, 86400.0));
  verb->add_flag("--restart", options.restart, "start a new search");
  verb->add_flag("--plain", options.plain, "lines instead of a screen, also at a terminal");
  verb->add_flag("--json", options.json, "print the final report as JSON, and nothing else");
  verb->add_option("--interval", options.interval, "name of the interval to explain");
  add_metrics(verb, options.metrics);
}

void add_table_options(CLI::App* verb, TableOptions& options) {
  verb->add_option("--parquet", options.out, "all, as tables that many hosts can share")
      ->option_text("DIR");
  verb->add_flag("--rollups", options.rollups, "... sums only, without single intervals");
  verb->add_option("--host", options.host, "... under this name of the host")->option_text("NAME");
  verb->add_option("--program-version", options.program_version, "... as this version")
      ->option_text("TEXT");
  verb->add_option("--hash", options.hash, "... with these hashed: labels, paths, hosts")
      ->option_text("WHAT")
      ->delimiter(',')
      ->allow_extra_args(false);
  verb->add_option("--leave-out", options.leave_out, "... or left out")
      ->option_text("WHAT")
      ->delimiter(',')
      ->allow_extra_args(false);
  verb->add_option("--salt-file", options.salt_file, "secret of the hash, the same on all hosts")
      ->option_text("FILE");
}

void add_watch(CLI::App& app, CommandLine& line) {
  WatchOptions& options = line.watch;
  CLI::App* verb = add(app, line, "watch", "keep the recordings of slow intervals while it runs",
                       [&line] { return verb_watch(line.global, line.watch); });
  verb->add_option("--slower-than", options.slower_than,
                   "what is slow: 50ms, or p99.9 of what has been measured so far")
      ->option_text("LATENCY")
      ->required();
  verb->add_option("--expand", options.expand,
                   "functions whose calls to measure, all of them, instead of the search's")
      ->option_text("FUNCTION...");
  verb->add_option("--attach", options.attach,
                   "watch this process, or what records into this directory")
      ->option_text("PID|DIR");
  verb->add_option("--for", options.seconds, "end after this time, in seconds")
      ->option_text("SECONDS")
      ->check(CLI::Range(1.0, 1e9));
  verb->add_option("--keep", options.keep_mb, "how much the kept recordings may take, in MiB")
      ->option_text("MIB")
      ->check(CLI::Range(1.0, 1e9));
  add_percent(verb, "--budget", options.budget,
              "by how many percent measuring may slow the program down");
  verb->add_flag("--json", options.json, "print the final report as JSON, and nothing else");
  verb->add_option("--interval", options.interval, "name of the interval to explain");
  add_metrics(verb, options.metrics);
  add_table_options(verb, options.tables);
}

void add_index(CLI::App& app, CommandLine& line) {
  add_plain(app, line, "index", "find the functions of the program and their calls", verb_index);
}

void add_instrument(CLI::App& app, CommandLine& line) {
  InstrumentOptions& options = line.instrument;
  CLI::App* verb = add(app, line, "instrument", "rewrite the mirror",
                       [&line] { return verb_instrument(line.global, line.instrument); });
  CLI::Option* expand =
      verb->add_option("--expand", options.expand,
                       "functions whose calls to measure, besides those of the intervals")
          ->option_text("FUNCTION...");
  verb->add_flag("--all", options.all, "measure every function and every call")->excludes(expand);
  verb->add_flag("--dry-run", options.dry_run, "show what would be inserted, change nothing");
}

void add_build(CLI::App& app, CommandLine& line) {
  add_plain(app, line, "build", "build the mirror", verb_build);
}

void add_record(CLI::App& app, CommandLine& line) {
  CLI::App* verb = add(app, line, "record", "run the workload and record it",
                       [&line] { return verb_record(line.global, line.record); });
  verb->add_flag("--baseline", line.record.baseline, "record intervals only");
  verb->add_option("command", line.record.command, "run this instead of \"run\" of vprof.json")
      ->option_text("[-- COMMAND...]");
  verb->positionals_at_end();
}

void add_analyze(CLI::App& app, CommandLine& line) {
  AnalyzeOptions& options = line.analyze;
  CLI::App* verb = add(app, line, "analyze", "analyse a recording",
                       [&line] { return verb_analyze(line.global, line.analyze); });
  verb->add_option("dir", options.trace, "a recording from elsewhere");
  verb->add_option("--interval", options.interval, "name of the interval to explain");
  verb->add_flag("--json", options.json, "print report.json");
  verb->add_option("--skip", options.skip,
                   "leave out intervals that began within this time of the start (2s, 300ms)")
      ->option_text("TIME");
  add_output(verb, "--profile", options.profile, "also write the profile to this file");
  verb->add_option("--threads", options.threads, "threads of the analysis (one per processor)");
}

void add_timeline(CLI::App& app, CommandLine& line) {
  TimelineOptions& options = line.timeline;
  CLI::App* verb = add(app, line, "timeline", "show one interval piece by piece",
                       [&line] { return verb_timeline(line.global, line.timeline); });
  verb->add_option("id", options.id, "the number in the report, or a trace id")->required();
  verb->add_option("dir", options.trace, "a recording from elsewhere");
  verb->add_option("--interval", options.interval, "name of the interval");
  verb->add_flag("--all", options.all, "each piece, also short ones");
  CLI::Option* json = verb->add_flag("--json", options.json, "print JSON");
  verb->add_flag("--trace-events", options.trace_events, "for Perfetto and other trace viewers")
      ->excludes(json);
}

void add_annotate(CLI::App& app, CommandLine& line) {
  AnnotateOptions& options = line.annotate;
  CLI::App* verb = add(app, line, "annotate", "show the source of a function with what calls cost",
                       [&line] { return verb_annotate(line.global, line.annotate); });
  verb->add_option("function", options.function, "its name")->required();
  verb->add_option("--interval", options.interval, "name of the interval");
  verb->add_flag("--json", options.json, "print JSON");
}

void add_merge(CLI::App& app, CommandLine& line) {
  CLI::App* verb = add(app, line, "merge", "add up profiles of several runs, processes or hosts",
                       [&line] { return verb_merge(line.global, line.merge); });
  verb->add_option("profiles", line.merge.profiles, "files, or directories of vprof.json")
      ->required();
  add_output(verb, "-o,--output", line.merge.output, "write the sum to this file");
  verb->add_flag("--json", line.merge.json, "print report.json");
}

void add_diff(CLI::App& app, CommandLine& line) {
  DiffOptions& options = line.diff;
  CLI::App* verb = add(app, line, "diff", "compare two profiles",
                       [&line] { return verb_diff(line.global, line.diff); });
  verb->add_option("a", options.a, "the profile before")->required();
  verb->add_option("b", options.b, "the profile after")->required();
  CLI::Option* fail_if =
      verb->add_option("--fail-if", options.fail_if,
                       "exit with 1 if this condition holds, such as 'p99>1.1x', 'p99(GET)>2ms', "
                       "'share(f)>10%' or 'change(f)>5%'")
          ->option_text("CONDITION")
          ->expected(1)
          ->take_all();
  verb->add_flag("--certainly", options.certainly,
                 "... only if it holds over the whole confidence interval");
  verb->add_flag("--force", options.force, "compare what looks like different programs");
  add_output(verb, "--junit", options.junit, "write the conditions as a test report, JUnit XML")
      ->needs(fail_if);
  CLI::Option* json = verb->add_flag("--json", options.json, "print JSON");
  verb->add_flag("--markdown", options.markdown, "print Markdown, for a pull request")
      ->excludes(json);
}

void add_export(CLI::App& app, CommandLine& line) {
  ExportOptions& options = line.exports;
  CLI::App* verb = add(app, line, "export", "write single intervals for other programs",
                       [&line] { return verb_export(line.global, line.exports); });
  for (const report::ExportFormat& format : report::export_formats()) {
    add_output(verb, fmt::format("--{}", format.name), options.files[format.name], format.help);
  }
  add_table_options(verb, options.tables);
  verb->add_option("dir", options.trace, "a recording from elsewhere");
  verb->add_option("--interval", options.interval, "name of the intervals");
}

void add_history(CLI::App& app, CommandLine& line) {
  CLI::App* verb = add(app, line, "history", "show what each iteration expanded and found",
                       [&line] { return verb_history(line.global, line.history); });
  verb->add_flag("--json", line.history.json, "print JSON");
}

void add_report(CLI::App& app, CommandLine& line) {
  ReportOptions& options = line.report;
  CLI::App* verb = add(app, line, "report", "print the last report",
                       [&line] { return verb_report(line.global, line.report); });
  CLI::Option* json = verb->add_flag("--json", options.json, "print JSON");
  CLI::Option* tree =
      verb->add_flag("--tree", options.tree, "print the variance tree")->excludes(json);
  add_output(verb, "--html", options.html, "write one HTML file for a browser")
      ->excludes(json)
      ->excludes(tree);
  verb->add_option("--iteration", options.iteration, "the report of an earlier iteration")
      ->check(CLI::Range(1, kMostIterations));
}

void add_graph(CLI::App& app, CommandLine& line) {
  GraphOptions& options = line.graph;
  CLI::App* verb = add(app, line, "graph", "show the callers and callees of a function",
                       [&line] { return verb_graph(line.global, line.graph); });
  verb->add_option("function", options.function, "its name; without one, the whole program");
  verb->add_flag("--names", options.names, "print the names of functions that begin like that");
  CLI::Option* dot = verb->add_flag("--dot", options.dot, "print a DOT graph");
  verb->add_flag("--json", options.json, "print JSON")->excludes(dot);
}

void add_source(CLI::App& app, CommandLine& line) {
  CLI::App* verb = add(app, line, "source", "show what was inserted into a function, as a diff",
                       [&line] { return verb_source(line.global, line.source); });
  verb->add_option("function", line.source.function, "its name")->required();
  verb->add_flag("--json", line.source.json, "print JSON");
}

void add_fleet(CLI::App& app, CommandLine& line) {
  CLI::App* verb = add(app, line, "fleet", "read the tables of many hosts",
                       [&line] { return verb_fleet(line.fleet); });
  verb->set_help_flag();  // it has a command line of its own
  verb->fallthrough(false);
  verb->prefix_command();
  verb->parse_complete_callback([verb, &line] { line.fleet = verb->remaining(); });
}

void add_mcp(CLI::App& app, CommandLine& line) {
  CLI::App* verb = add(app, line, "mcp", "let an assistant read results (Model Context Protocol)",
                       [&line] { return verb_mcp(line.global, line.mcp); });
  verb->add_flag("--allow-runs", line.mcp.allow_runs, "... and start the loop");
}

void add_completion(CLI::App& app, CommandLine& line) {
  CLI::App* verb =
      add(app, line, "completion", "print the completion for a shell: bash or zsh", [&app, &line] {
        const CommandText text = describe(app, VPROF_VERSION);
        return print(line.shell == "zsh" ? zsh_completion(text) : bash_completion(text));
      });
  verb->add_option("shell", line.shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
}

void add_manual(CLI::App& app, CommandLine& line) {
  add(app, line, "manual", "print the manual page, in roff",
      [&app] { return print(manual_page(describe(app, VPROF_VERSION))); });
}

}  // namespace

void define(CLI::App& app, CommandLine& line) {
  app.set_version_flag("--version", fmt::format("vprof {}", version_text()));
  app.require_subcommand(1);
  app.add_option("-C", line.directory, "directory of vprof.json")->option_text("DIR");
  app.add_option("--config", line.global.config, "a configuration file of another name")
      ->option_text("FILE");
  // In the order of the manual.
  for (const auto add_verb :
       {add_init,     add_try,        add_check, add_loop,   add_live,       add_watch,
        add_index,    add_instrument, add_build, add_record, add_analyze,    add_timeline,
        add_annotate, add_merge,      add_diff,  add_export, add_history,    add_report,
        add_graph,    add_source,     add_fleet, add_mcp,    add_completion, add_manual}) {
    add_verb(app, line);
  }
}

int take_tried_command(int argc, char** argv, CommandLine& command_line) {
  const std::vector<std::string> arguments(argv, argv + argc);
  size_t verb = 1;
  while (verb < arguments.size() && arguments[verb].starts_with('-')) {
    verb += arguments[verb] == "-C" || arguments[verb] == "--config" ? 2 : 1;
  }
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (verb >= arguments.size() || arguments[verb] != "try" || dashes == arguments.end()) {
    return argc;
  }
  command_line.tried.command.assign(dashes + 1, arguments.end());
  return static_cast<int>(dashes - arguments.begin());
}

}  // namespace vprof::driver
