// vprof: parses the command line and runs one verb.
#include <algorithm>

#include "cli/command_line.h"
#include "verbs/run.h"
#include "vprof/support/text.h"

namespace vprof::driver {
namespace {

/// The first argument that is no option: the verb, or what the user took for it.
std::string verb_in(const std::vector<std::string>& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "-C" || arguments[i] == "--config") {
      ++i;
    } else if (!arguments[i].starts_with('-')) {
      return arguments[i];
    }
  }
  return "";
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

std::string did_you_mean(const std::string& what, const std::vector<std::string>& known) {
  const std::string near = nearest(what, known);
  return near.empty() ? ";" : fmt::format("; did you mean '{}'?", near);
}

/// What is wrong with the command line, and what the user may have meant.
std::string explain(const CLI::ParseError& error, CLI::App& app, int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands({})) {
    verbs.push_back(verb->get_name());
  }
  const std::string verb = verb_in(arguments);
  const bool known = std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
  if (!verb.empty() && !known) {
    return fmt::format("there is no verb '{}'{} `vprof --help` lists the verbs", verb,
                       did_you_mean(verb, verbs));
  }
  const CLI::App& used = known ? *app.get_subcommand(verb) : app;
  std::vector<std::string> options = option_names(used);
  for (const std::string& argument : arguments) {
    const std::string name = argument.substr(0, argument.find('='));
    const bool is_option = name.starts_with("--") && name.size() > 2;
    if (is_option && std::find(options.begin(), options.end(), name) == options.end() &&
        std::string(error.what()).find(argument) != std::string::npos) {
      return fmt::format("there is no option {}{} `vprof {} --help` lists the options", name,
                         did_you_mean(name, options), verb);
    }
  }
  return std::string(error.what()) + "; `vprof --help` lists the verbs";
}

int vprof_main(int argc, char** argv) {
  CommandLine line;
  CLI::App app("Tells why the latency of a C or C++ server varies.", "vprof");
  define(app, line);
  try {
    app.parse(take_tried_command(argc, argv, line), argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      return when_written(app.exit(error));  // --help and --version
    }
    return exit_with(explain(error, app, argc, argv));
  }
  return run(line.verb, line.directory);
}

}  // namespace
}  // namespace vprof::driver

int main(int argc, char** argv) {
  vprof::driver::prepare_process();
  try {
    return vprof::driver::vprof_main(argc, argv);
  } catch (const std::exception& error) {
    return vprof::driver::exit_with(std::string("unexpected: ") + error.what());
  }
}
