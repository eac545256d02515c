#include "cli/describe.h"

namespace vprof::driver {

namespace {

OptionText text_of(const CLI::Option& option) {
  OptionText text;
  for (const std::string& name : option.get_snames()) {
    text.names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    text.names.push_back("--" + name);
  }
  text.help = option.get_description();
  if (option.get_type_size() == 0) {
    return text;
  }
  text.value = option.get_option_text();
  if (text.value.empty()) {
    text.value = option.get_type_name();
  }
  if (option.get_positional()) {
    text.value = option.get_name(true);
  }
  return text;
}

std::vector<OptionText> options_of(const CLI::App& app) {
  std::vector<OptionText> all;
  for (const CLI::Option* option : app.get_options()) {
    all.push_back(text_of(*option));
  }
  return all;
}

}  // namespace

CommandText describe(const CLI::App& app, const std::string& version) {
  CommandText command{.version = version, .options = options_of(app), .verbs = {}};
  for (const CLI::App* verb : app.get_subcommands({})) {
    command.verbs.push_back(
        {.name = verb->get_name(), .help = verb->get_description(), .options = options_of(*verb)});
  }
  return command;
}

}  // namespace vprof::driver
