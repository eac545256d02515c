// `vprof try [FUNCTION] -- COMMAND...`: from a source tree to a first report. Guesses what
// vprof.json has to say, writes it, and runs one iteration.
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

#include "discovery/catalogue.h"
#include "discovery/draft.h"
#include "pipeline/html/html_report.h"
#include "pipeline/results.h"
#include "pipeline/steps.h"
#include "process/commands.h"
#include "process/interrupt.h"
#include "search/iterative_refinement.h"
#include "verbs/verbs.h"
#include "vprof/report/terminal.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("%+,-./:=@_").find(c) != std::string_view::npos;
}

/// The command as one line for a shell. A program in the source tree means its copy.
std::string shell_text(const std::vector<std::string>& command, const fs::path& source) {
  std::string text;
  for (std::string word : command) {
    const fs::path relative = fs::path(word).lexically_relative(source);
    if (text.empty() && fs::path(word).is_absolute() && *relative.begin() != "..") {
      word = "./" + relative.string();
    }
    if (word.empty() || !std::ranges::all_of(word, is_plain)) {
      std::string quoted = "'";
      for (const char c : word) {
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
      }
      word = quoted + "'";
    }
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

/// Error: the text of the source has no such function, but one with a similar name.
Result<void> check_function(const std::string& name, const ScannedSource& scanned) {
  std::vector<std::string> names;
  for (const ScannedFunction& one : scanned.functions) {
    const auto calls_it = [&](const ScannedCall& call) { return call.name == name; };
    if (may_mean(name, one) || std::ranges::any_of(one.calls, calls_it)) {
      return {};  // a macro may define what is called
    }
    names.push_back(one.name);
    names.emplace_back(last_part(one.name));
  }
  const std::string near = nearest(name, names);
  return near.empty() ? Result<void>()
                      : fail("there is no function {} in the source; did you mean {}?", name, near);
}

/// Error: a guess is not possible.
Result<void> check_draft(const Draft& draft, const TryOptions& options) {
  if (draft.system.name.empty() && options.build.empty()) {
    return fail(
        "there is no CMakeLists.txt, configure, meson.build or Makefile here; say how the program "
        "is built: `vprof try --build 'make -C src' -- COMMAND`");
  }
  if (draft.proposals.candidates.empty() && !draft.annotated) {
    return fail(
        "no function in {} looks like a request handler; name yours: `vprof try FUNCTION -- "
        "COMMAND`",
        counted(draft.files, "source file"));
  }
  return {};
}

void say_guesses(const Draft& draft) {
  const std::string& configure = draft.system.configure;
  say(fmt::format("  build     {}{}{}", configure, configure.empty() ? "" : " && ",
                  draft.system.build));
  const std::vector<Candidate>& candidates = draft.proposals.candidates;
  if (draft.annotated) {
    say("  request   what the source marks with vprof_begin and vprof_end");
  } else {
    say(fmt::format("  request   {}: {}", title(candidates[0]), candidates[0].reasons[0]));
  }
  for (size_t i = 1; i < candidates.size() && !draft.annotated; ++i) {
    say(fmt::format("       or   {}", title(candidates[i])));
  }
  say(fmt::format("  workload  {}", draft.run));
}

fs::path schema_here() {
  const auto locations = find_locations();
  return locations ? locations->schemas / "vprof.schema.json" : fs::path();
}

/// Writes the entry of the catalogue that has all functions of the program, if there is one.
Result<bool> write_known(const Global& global, const ScannedSource& scanned) {
  const auto locations = find_locations();
  if (!locations || scanned.annotated) {
    return false;
  }
  const std::vector<CatalogueEntry> entries = VPROF_TRY(load_catalogue(locations->catalogue));
  const CatalogueEntry* known = entry_of(entries, scanned);
  if (known == nullptr) {
    return false;
  }
  VPROF_TRY(write_file_atomic(global.config, with_member(*known, schema_member(schema_here()))));
  say(fmt::format("wrote {} from the catalogue, which knows this program: {}: {}",
                  shown(global.config), known->names[0], known->summary));
  return true;
}

/// Writes vprof.json with what can be guessed, and says so.
Result<void> write_guesses(const Global& global, const TryOptions& options) {
  const fs::path source = fs::absolute(global.config).lexically_normal().parent_path();
  const ScannedSource scanned = scan_tree(source);
  if (!options.function.empty()) {
    VPROF_TRY(check_function(options.function, scanned));
  } else if (options.build.empty() && VPROF_TRY(write_known(global, scanned))) {
    return {};
  }
  Draft draft = draft_for(source, scanned, options.function);
  draft.run = shell_text(options.command, source);
  VPROF_TRY(check_draft(draft, options));
  if (!options.build.empty()) {
    draft.system = {.name = "", .configure = "", .build = options.build};
  }
  VPROF_TRY(write_file_atomic(global.config, configuration(draft, schema_here())));
  say(fmt::format("wrote {}; these are guesses, which you can change there:",
                  shown(global.config)));
  say_guesses(draft);
  return {};
}

/// What the command line says holds for this run; vprof.json stays as it is.
Result<void> adopt(Session& session, const TryOptions& options) {
  Config& config = session.config;
  const bool same =
      config.intervals.size() == 1 && config.intervals[0].function == options.function;
  if (!options.function.empty() && !same) {
    VPROF_TRY(check_function(options.function, scan_tree(config.source)));
    say(fmt::format("for this run a request is a call of {}; {} stays as it is", options.function,
                    shown(config.file)));
    Interval interval;
    interval.name = options.function;
    interval.function = options.function;
    config.intervals = {interval};
  }
  if (!options.build.empty()) {
    config.build = options.build;
  }
  if (!options.command.empty()) {
    config.run = shell_text(options.command, config.source);
  }
  return {};
}

/// Builds the program as it is. Error: it is not what the command runs.
Result<void> build_it(Session& session, const TryOptions& options) {
  VPROF_TRY(mirror_step(session));
  VPROF_TRY(first_build_step(session));
  const fs::path program = options.command.empty() ? "" : options.command[0];
  const fs::path built = session.workspace.mirror() / program;
  std::error_code error;
  if (program.is_absolute() || !program.has_parent_path() || fs::exists(built, error)) {
    return {};
  }
  const std::vector<std::string> programs = built_programs(session);
  return fail("the build does not make {}; {}", program.string(),
              programs.empty()
                  ? fmt::format("its log is in {}", shown(session.workspace.iteration(0)))
                  : fmt::format("it makes {}", listed(programs)));
}

/// The same error, with what to do if a guess was wrong.
tl::unexpected<Error> after_guesses(const Error& error, const Global& global) {
  if (error.kind == ErrorKind::kInterrupted) {
    return tl::unexpected(error);
  }
  return fail(error.kind,
              "{}. If a guess was wrong, correct it in {} and run the same command again",
              error.message, shown(global.config));
}

/// The same error, with what to do if there was no request.
tl::unexpected<Error> without_request(const Error& error) {
  if (error.kind != ErrorKind::kNoInterval) {
    return tl::unexpected(error);
  }
  return fail(
      error.kind,
      "{}. Was there load on the program? `vprof try FUNCTION -- ...` takes another function",
      error.message);
}

/// Error: a measurement would put more aside than another measurement.
Result<void> check_search(const Session& session) {
  const int n = session.state.iteration;
  return n <= 1
             ? Result<void>()
             : fail(
                   "there is a search of {} iterations in {}, which this would put aside; `vprof "
                   "loop` continues it, `vprof loop --restart` begins a new one",
                   n, shown(session.workspace.dot));
}

Result<void> say_result(const Session& session) {
  const auto [profile, context] = VPROF_TRY(read_report(session.workspace.report()));
  say("\n" + report::text(profile, context, report::text_options()));
  if (const auto html = write_html_report(session); html && !html->empty()) {
    say(fmt::format("\nreport for a browser: {}", shown(*html)));
  }
  say(fmt::format(
      "\nnext: `vprof loop` breaks down what varies most. It runs the workload again and again, so "
      "\"run\" in {} must end by itself. If these are not the requests that you mean, `vprof try "
      "FUNCTION -- ...` takes others",
      shown(session.config.file)));
  return {};
}

}  // namespace

Result<int> verb_try(const Global& global, const TryOptions& options) {
  std::error_code error;
  const bool there = fs::exists(global.config, error);
  if (options.function.find('/') != std::string::npos) {
    return fail("write `--` before the command: `vprof try [FUNCTION] -- {}`", options.function);
  }
  if (!there && options.command.empty()) {
    return fail(
        "say how the program is started: `vprof try [FUNCTION] -- COMMAND...`, such as `vprof try "
        "-- ./server --port 8080`");
  }
  if (!there) {
    VPROF_TRY(write_guesses(global, options));
  }
  auto session = VPROF_TRY(open_session(global.config, Access::kWrite));
  VPROF_TRY(check_search(session));
  if (there) {
    say(fmt::format("using {}", shown(global.config)));
  }
  VPROF_TRY(adopt(session, options));
  if (auto built = build_it(session, options); !built) {
    return there ? tl::unexpected(built.error()) : after_guesses(built.error(), global);
  }
  LoopOptions loop;
  loop.decide_alone = true;
  loop.only_measure = true;
  loop.restart = session.state.iteration > 0;
  loop.stop_after_s = options.seconds;
  if (auto measured = refine(session, loop); !measured) {
    return without_request(measured.error());
  }
  VPROF_TRY(say_result(session));
  return 0;
}

}  // namespace vprof::driver
