// The part of `vprof check` that looks at vprof.json: each command, function, pattern and number.
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <sstream>

#include "checks/checklist.h"
#include "discovery/scan/source_scan.h"
#include "pipeline/steps.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

using instrumenter::Program;

/// The program that a command line starts with, after any `NAME=value`; empty if only a shell can
/// tell.
std::string program_of(const std::string& command) {
  std::istringstream in(command);
  for (std::string word; in >> word;) {
    if (word.find_first_of("\"'`$(){}[]|&;<>*?") != std::string::npos) {
      return "";
    }
    if (word.find('=') == std::string::npos) {
      return word;
    }
  }
  return "";
}

bool shell_knows(const std::string& word) {
  static const std::vector<std::string> builtins = {"cd", "test", "export", "exec", "set",
                                                    "if", "for",  "while",  "true", "."};
  return std::find(builtins.begin(), builtins.end(), word) != builtins.end();
}

void check_command(Checklist& list, const Config& config, const std::string& key,
                   const std::string& command) {
  if (command.empty()) {
    return;
  }
  const std::string program = program_of(command);
  if (program.empty() || shell_knows(program) || !on_path(program, config.source).empty()) {
    list.ok(key, command);
  } else if (program.find('/') != std::string::npos) {
    list.note(key, fmt::format("there is no program {} in the source tree", program),
              "this is fine only if the build creates it");
  } else {
    list.problem(key, fmt::format("there is no program {}", program),
                 fmt::format("install it, or correct \"{}\" in {}", key, config.location(0)));
  }
}

/// A function that vprof.json names, and its line there.
struct Named {
  std::string what;  ///< `intervals "request" begin`
  std::string function;
  int line = 0;
};

void add(std::vector<Named>& all, const std::string& what, const std::vector<Point>& points) {
  for (const Point& point : points) {
    all.push_back({what, point.function, point.line});
  }
}

std::vector<Named> named_functions(const Config& config) {
  std::vector<Named> all;
  for (const Interval& interval : config.intervals) {
    const std::string what = fmt::format("interval \"{}\"", interval.name);
    if (!interval.function.empty()) {
      all.push_back({what, interval.function, interval.line});
    }
    add(all, what + " begin", interval.begin);
    add(all, what + " end", interval.end);
    add(all, what + " switch", interval.switches);
    add(all, what + " label", interval.label);
    add(all, what + " trace_context", interval.trace_context);
  }
  for (const Sync& sync : config.sync) {
    all.push_back({"sync " + sync.role, sync.function, sync.line});
  }
  return all;
}

/// The functions of the program: from the index, or from a text search before the first index.
class KnownFunctions {
 public:
  explicit KnownFunctions(const Session& session) : session_(session) {
    std::error_code error;
    if (fs::exists(session.workspace.index(), error)) {
      program_ = load_index(session);
    }
    if (!is_certain()) {
      scanned_ = scan_tree(session.config.source);
    }
  }

  bool is_certain() const { return program_.has_value(); }
  const Program& program() const { return *program_; }
  bool annotated() const {
    if (!is_certain()) {
      return scanned_.annotated;
    }
    const auto targets = resolve(session_.config, *program_);
    return targets.has_value() && !targets->roots.empty();
  }

  void check(Checklist& list, const Named& named) const {
    const std::string what =
        fmt::format("{} ({})", named.what, session_.config.location(named.line));
    if (is_certain()) {
      return check_in_index(list, named, what);
    }
    const std::string name = named.function.substr(0, named.function.find('@'));
    std::vector<std::string> all;
    for (const ScannedFunction& f : scanned_.functions) {
      if (may_mean(named.function, f)) {
        return list.ok(
            what, fmt::format("{}  {}:{}, according to a text search", f.name, f.file, f.line));
      }
      all.push_back(f.name);
    }
    const std::string near = nearest(name, all);
    list.note(what,
              fmt::format("there is no function {} in the text of the source", named.function),
              near.empty() ? "fine only if a macro or a library defines it; `vprof index` will tell"
                           : fmt::format("did you mean {}?", near));
  }

 private:
  void check_in_index(Checklist& list, const Named& named, const std::string& what) const {
    const auto found =
        find_function(*program_, named.function, session_.config.location(named.line));
    if (!found) {
      return list.problem(what, found.error().message, "correct the name");
    }
    list.ok(what, (*found)->key);
  }

  const Session& session_;
  Result<Program> program_ = fail("there is no index");
  ScannedSource scanned_;
};

void check_functions(Checklist& list, const Session& session, const KnownFunctions& known) {
  const std::vector<Named> all = named_functions(session.config);
  const size_t before = list.problems();
  for (const Named& named : all) {
    known.check(list, named);
  }
  if (session.config.intervals.empty()) {
    if (known.annotated()) {
      list.ok("intervals", "annotated in the source (vprof_begin)");
    } else {
      list.problem("intervals", "neither vprof.json nor the source says what an interval is",
                   "name a function under \"intervals\", or call vprof_begin and vprof_end");
    }
  }
  if (!known.is_certain()) {
    return list.note(
        "functions", "not verified yet",
        "`vprof index` reads the program; after that, `vprof check` verifies the names");
  }
  const auto targets = resolve(session.config, known.program());
  if (!targets) {
    if (list.problems() == before) {
      list.problem("functions", targets.error().message, "correct the name");
    }
    return;
  }
  for (const std::string& warning : targets->warnings) {
    list.note("functions", warning, "check the name");
  }
  list.ok("functions", fmt::format("{}", fmt::join(targets->roots, ", ")));
}

/// A pattern that matches nothing is probably misspelt.
void check_exclude(Checklist& list, const Session& session, const KnownFunctions& known) {
  if (!known.is_certain()) {
    return;
  }
  for (const std::string& glob : session.config.exclude) {
    const auto& functions = known.program().functions;
    const auto hits = std::count_if(functions.begin(), functions.end(), [&](const auto& f) {
      return ::fnmatch(glob.c_str(), f.file.c_str(), 0) == 0 ||
             ::fnmatch(glob.c_str(), f.name.c_str(), 0) == 0;
    });
    if (hits > 0) {
      list.ok("exclude",
              fmt::format("{}: {}", glob, counted(static_cast<size_t>(hits), "function")));
    } else {
      list.note("exclude", fmt::format("{} matches no file and no function", glob),
                "check the pattern");
    }
  }
}

void check_rest(Checklist& list, const Config& config) {
  for (const auto& [name, value] : config.env) {
    list.ok("env", fmt::format("{}{}{}", name, value.empty() ? " removed" : "=", value));
  }
  list.ok(
      "factors",
      fmt::format("{} of at least {:.0f} % of the variance; overhead budget {:.0f} %",
                  config.factors.k, 100 * config.factors.threshold, 100 * config.overhead_budget));
  if (!config.leave_out.empty()) {
    list.ok("record", fmt::format("without waits of kind {}", fmt::join(config.leave_out, ", ")));
  }
  if (config.ring_mb > 0) {
    list.ok("record", fmt::format("the last {} MiB of each thread are kept", config.ring_mb));
  }
  if (config.max_mb > 0) {
    list.ok("record", fmt::format("at most {} MiB for each process", config.max_mb));
  }
}

}  // namespace

void check_configuration(Checklist& list, const Session& session) {
  const Config& config = session.config;
  list.ok("source", config.source.string());
  check_command(list, config, "configure", config.configure);
  check_command(list, config, "build", config.build);
  check_command(list, config, "run", config.run);
  const KnownFunctions known(session);
  check_functions(list, session, known);
  check_exclude(list, session, known);
  if (known.is_certain()) {
    check_spinning(list, config, known.program());
  }
  check_rest(list, config);
}

}  // namespace vprof::driver
