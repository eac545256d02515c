#include "program/options.h"

#include <array>
#include <cstdlib>

#include "workloads/workload.h"

namespace smf {

namespace {

struct Option {
  std::string_view name;
  std::string_view meaning;
  bool (*set)(Settings&, const std::string&);
};

template <typename Number>
bool parse(const std::string& text, Number& number, double least, double most = 1e15) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  number = static_cast<Number>(value);
  return !text.empty() && *end == '\0' && value >= least && value <= most &&
         static_cast<double>(number) == value;
}

bool parse_hints(const std::string& text, HintKind& hints) {
  hints = text == "none"       ? HintKind::kNone
          : text == "inverted" ? HintKind::kInverted
                               : HintKind::kRight;
  return text == "right" || hints != HintKind::kRight;
}

bool parse_bool(const std::string& text, bool& value) {
  value = text == "yes";
  return value || text == "no";
}

constexpr std::array<Option, 20> kOptions{{
    {"--workload", "what transactions do",
     [](Settings& s, const std::string& v) {
       s.workload = v;
       return make_workload(v) != nullptr;
     }},
    {"--system", "the concurrency control, and whether its transactions are scheduled",
     [](Settings& s, const std::string& v) {
       const System* found = find_system(v);
       s.system = found == nullptr ? s.system : found;
       return found != nullptr;
     }},
    {"--clients", "each begins its next transaction when the last is committed",
     [](Settings& s, const std::string& v) { return parse(v, s.clients, 1, 1e5); }},
    {"--seconds", "how long a run takes",
     [](Settings& s, const std::string& v) { return parse(v, s.seconds, 0, 1e6); }},
    {"--transactions", "after how many committed ones it ends before; 0: does not",
     [](Settings& s, const std::string& v) { return parse(v, s.transactions, 0); }},
    {"--warm-up", "how many of the seconds the figures leave out",
     [](Settings& s, const std::string& v) { return parse(v, s.warm_up, 0, 1e6); }},
    {"--seed", "of all random numbers",
     [](Settings& s, const std::string& v) { return parse(v, s.seed, 0); }},
    {"--operation-us", "network and I/O of an operation, on average",
     [](Settings& s, const std::string& v) { return parse(v, s.operation_us, 0); }},
    {"--commit-us", "network and I/O of a commit, on average",
     [](Settings& s, const std::string& v) { return parse(v, s.commit_us, 0); }},
    {"--sample", "of how many queued transactions the best is taken",
     [](Settings& s, const std::string& v) { return parse(v, s.sample, 1, 1e5); }},
    {"--workers", "how many transactions the server executes at a time",
     [](Settings& s, const std::string& v) { return parse(v, s.workers, 1, 1e5); }},
    {"--barrier", "after how many arrivals a barrier against starvation stands",
     [](Settings& s, const std::string& v) { return parse(v, s.barrier, 1, 1e9); }},
    {"--hot-share", "a key that this share of the transactions accesses is hot; 0: as suits",
     [](Settings& s, const std::string& v) { return parse(v, s.hot_share, 0, 1); }},
    {"--hold", "bolt-on: yes if a transaction waits for those in flight that it conflicts with",
     [](Settings& s, const std::string& v) { return parse_bool(v, s.hold); }},
    {"--hints", "right, none, or inverted: reads predicted as writes and writes as reads",
     [](Settings& s, const std::string& v) { return parse_hints(v, s.hints); }},
    {"--wrong-hints", "the share of transactions that name the keys of another one",
     [](Settings& s, const std::string& v) { return parse(v, s.wrong_hints, 0, 1); }},
    {"--forced-aborts", "the share of attempts that the client rolls back",
     [](Settings& s, const std::string& v) { return parse(v, s.forced_aborts, 0, 0.99); }},
    {"--check", "yes: is the history serializable? if not, the exit code is 1",
     [](Settings& s, const std::string& v) { return parse_bool(v, s.check); }},
    {"--sync", "yes: a commit survives a power failure",
     [](Settings& s, const std::string& v) { return parse_bool(v, s.sync); }},
    {"--directory", "of the database; default: a temporary one",
     [](Settings& s, const std::string& v) {
       s.directory = v;
       return !v.empty();
     }},
}};

}  // namespace

bool read_options(int count, const char* const* arguments, Settings& settings, std::string& error) {
  const std::string_view mode = count > 1 ? arguments[1] : "";
  if (mode != "run" && mode != "simulate") {
    error = "the first argument is run or simulate";
    return false;
  }
  settings.simulated = mode == "simulate";
  for (int i = 2; i < count; i += 2) {
    const Option* known = nullptr;
    for (const Option& option : kOptions) {
      known = option.name == arguments[i] ? &option : known;
    }
    if (known == nullptr || i + 1 == count) {
      error = std::string(arguments[i]) + (known == nullptr ? " is unknown" : " needs a value");
      return false;
    }
    if (!known->set(settings, arguments[i + 1])) {
      error = std::string(arguments[i]) + " cannot be " + arguments[i + 1];
      return false;
    }
  }
  if (settings.simulated && settings.system->control == "locks") {
    error = "locks cannot be simulated, since RocksDB's threads wait for them: use run";
    return false;
  }
  return true;
}

std::string usage() {
  std::string text = "usage: scheduling_lab run|simulate [OPTION VALUE]...\n";
  for (const Option& option : kOptions) {
    text += "  " + std::string(option.name) + std::string(17 - option.name.size(), ' ') +
            std::string(option.meaning) + "\n";
  }
  text += "systems:";
  for (const System& system : kSystems) {
    text += ' ' + std::string(system.name);
  }
  text += "\nworkloads:";
  for (const std::string_view name : workload_names()) {
    text += ' ' + std::string(name);
  }
  return text + "\n";
}

}  // namespace smf
