#include "config/config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <thread>

#include "config/config_reader.h"
#include "config/named_functions.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

const Keys top_keys = {"$schema",   "source",         "configure", "build",
                       "run",       "run_timeout",    "env",       "compile_commands",
                       "intervals", "sync",           "factors",   "exclude",
                       "record",    "max_iterations", "jobs",      "overhead_budget"};
const Keys factor_keys = {"k", "threshold", "ranking", "specificity", "dominance"};
const Keys record_keys = {"leave_out", "ring_mb", "max_mb"};

void read_specificity(ObjectReader& reader, analyzer::Specificity& specificity) {
  const std::string wanted = reader.string("specificity", analyzer::rule_of(specificity).name);
  std::vector<std::string> names;
  for (size_t i = 0; i < analyzer::kSpecificityRules.size(); ++i) {
    const std::string name = analyzer::kSpecificityRules.at(i).name;
    if (name == wanted) {
      specificity = static_cast<analyzer::Specificity>(i);
      return;
    }
    names.push_back(fmt::format("\"{}\"", name));
  }
  reader.report("specificity",
                fmt::format("\"specificity\" must be {}, not \"{}\"", listed(names, "or"), wanted));
}

void read_ranking(ObjectReader& reader, analyzer::Ranking& ranking) {
  const std::string wanted =
      reader.string("ranking", analyzer::kRankings.at(static_cast<size_t>(ranking)));
  const auto found = std::find(analyzer::kRankings.begin(), analyzer::kRankings.end(), wanted);
  if (found != analyzer::kRankings.end()) {
    ranking = static_cast<analyzer::Ranking>(found - analyzer::kRankings.begin());
    return;
  }
  reader.report("ranking",
                fmt::format("\"ranking\" must be \"share\" or \"variance\", not \"{}\"", wanted));
}

analyzer::Options read_factors(ObjectReader& top) {
  analyzer::Options options;
  auto reader = top.object("factors", factor_keys);
  if (!reader) {
    return options;
  }
  options.k = reader->integer("k", options.k, 1, 100);
  options.threshold = reader->number("threshold", options.threshold, 0, 1);
  options.dominance = reader->number("dominance", options.dominance, 0, 1);
  read_ranking(*reader, options.ranking);
  read_specificity(*reader, options.specificity);
  return options;
}

void check_wait_kinds(ObjectReader& record, const std::vector<std::string>& names) {
  const std::vector<std::string> kinds = analyzer::wait_class_names();
  for (const std::string& name : names) {
    if (std::find(kinds.begin(), kinds.end(), name) != kinds.end()) {
      continue;
    }
    const std::string near = nearest(name, kinds);
    const std::string hint = near.empty() ? fmt::format("the kinds are {}", fmt::join(kinds, ", "))
                                          : fmt::format("did you mean \"{}\"?", near);
    record.report("leave_out", fmt::format("\"{}\" is not a kind of wait; {}", name, hint));
  }
}

void read_record(ObjectReader& top, Config& config) {
  auto record = top.object("record", record_keys);
  if (!record) {
    return;
  }
  config.leave_out = record->strings("leave_out");
  config.ring_mb = record->integer("ring_mb", 0, 0, 1 << 20);
  config.max_mb = record->integer("max_mb", 0, 0, 1 << 24);
  check_wait_kinds(*record, config.leave_out);
}

/// The source tree as an absolute path without a slash at its end.
fs::path read_source(ObjectReader& top, const fs::path& directory) {
  const fs::path written = top.string("source", ".");
  fs::path source = (directory / written).lexically_normal();
  if (!source.has_filename()) {
    source = source.parent_path();
  }
  std::error_code error;
  if (!fs::is_directory(source, error)) {
    top.report("source", fmt::format("source directory \"{}\" does not exist", written.string()));
  }
  return source;
}

std::string read_command(ObjectReader& top, const std::string& key, const std::string& hint) {
  top.require(key, hint);
  std::string command = top.string(key);
  if (top.has(key) && command.empty()) {
    top.report(key, fmt::format("\"{}\" must not be empty", key));
  }
  return command;
}

Config read_all(ObjectReader& top, const fs::path& file) {
  const int processors = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  Config config;
  config.file = fs::absolute(file).lexically_normal();
  config.configure = top.string("configure");
  config.build =
      read_command(top, "build", "give the command that builds the program, such as \"make -j4\"");
  config.run =
      read_command(top, "run", "give the command that runs the workload and ends by itself");
  config.run_timeout_s = top.number("run_timeout", config.run_timeout_s, 0, 1e6);
  config.env = top.string_map("env", "{\"NAME\": \"value\"}");
  config.compile_commands = top.string("compile_commands");
  config.intervals = read_intervals(top);
  config.sync = read_sync(top);
  config.factors = read_factors(top);
  config.exclude = top.strings("exclude");
  read_record(top, config);
  config.overhead_budget = top.number("overhead_budget", config.overhead_budget, 0, 100);
  config.max_iterations = top.integer("max_iterations", config.max_iterations, 0, 1000);
  config.jobs = top.integer("jobs", processors, 1, 1024);
  config.source = read_source(top, config.file.parent_path());
  top.string("$schema");  // for editors
  return config;
}

}  // namespace

std::string Config::location(int line) const {
  return line > 0 ? fmt::format("{}:{}", shown(file), line) : shown(file);
}

Result<Config> parse_config(const std::string& text, const fs::path& file) {
  auto json = parse_located_json(text);
  if (!json) {
    return fail("{}:{}", shown(file), json.error().message);
  }
  ReadState state{.file = shown(file), .json = std::move(*json), .error = ""};
  if (const std::string& path = state.json.duplicate; !path.empty()) {
    state.report(path, fmt::format("key \"{}\" appears twice", path.substr(path.rfind('/') + 1)));
  }
  ObjectReader top(state, state.json.value, "", "the configuration", top_keys);
  Config config = read_all(top, file);
  if (!state.error.empty()) {
    return fail("{}", state.error);
  }
  return config;
}

Result<Config> load_config(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) {
    return fail("there is no {} here; `vprof init` writes one, `-C DIR` looks elsewhere",
                shown(file));
  }
  const std::string text = VPROF_TRY(read_file(file));
  return parse_config(text, fs::absolute(file));
}

std::vector<std::string> known_keys() {
  Keys all = top_keys;
  for (const std::string& key : factor_keys) {
    all.push_back("factors." + key);
  }
  for (const std::string& key : record_keys) {
    all.push_back("record." + key);
  }
  const Keys nested = keys_of_named_functions();
  all.insert(all.end(), nested.begin(), nested.end());
  return all;
}

}  // namespace vprof::driver
