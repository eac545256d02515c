// The verbs of vprof and their options.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "verbs/verbs.h"

namespace vprof::driver {

/// What the user typed. Parsing fills it in.
struct CommandLine {
  std::string directory;              ///< of `-C`; empty: the working directory
  std::function<Result<int>()> verb;  ///< runs the verb with its options
  Global global;

  InitOptions init;
  TryOptions tried;
  LoopOptions loop;
  LiveOptions live;
  WatchOptions watch;
  InstrumentOptions instrument;
  RecordOptions record;
  AnalyzeOptions analyze;
  TimelineOptions timeline;
  MergeOptions merge;
  DiffOptions diff;
  ExportOptions exports;
  HistoryOptions history;
  ReportOptions report;
  GraphOptions graph;
  CheckOptions check;
  AnnotateOptions annotate;
  SourceOptions source;
  McpOptions mcp;
  std::vector<std::string> fleet;  ///< arguments after the verb
  std::string shell;               ///< of `vprof completion`
};

/// Adds all options and verbs to `app`. Parsing writes to `command_line`, which must outlive `app`.
void define(CLI::App& app, CommandLine& command_line);

/// Takes what follows `--` of `vprof try` off the arguments, whose positional ones could not be
/// told from it. Returns how many arguments are left.
int take_tried_command(int argc, char** argv, CommandLine& command_line);

}  // namespace vprof::driver
