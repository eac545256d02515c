#include "program/options.h"

#include <array>
#include <cstdlib>
#include <string_view>

#include "policies/policy.h"
#include "workloads/workload.h"

namespace lab {

namespace {

struct Option {
  std::string_view name;
  std::string_view meaning;
  bool (*set)(Settings&, const std::string&);
};

template <typename Number>
bool parse(const std::string& text, Number& number, double least) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  number = static_cast<Number>(value);
  return !text.empty() && *end == '\0' && value >= least && value < 1e15 &&
         static_cast<double>(number) == value;
}

constexpr std::array<Option, 16> kOptions{{
    {"--workload", "which locks transactions take",
     [](Settings& s, const std::string& v) {
       s.workload = v;
       return make_workload(v) != nullptr;
     }},
    {"--policy", "who is granted a lock that becomes free",
     [](Settings& s, const std::string& v) {
       s.policy = v;
       return make_policy(v) != nullptr;
     }},
    {"--patience", "the rule against starvation: 0 for a barrier, else how many newer waits",
     [](Settings& s, const std::string& v) { return parse(v, s.patience, 0); }},
    {"--transactions", "how many are committed",
     [](Settings& s, const std::string& v) { return parse(v, s.transactions, 1); }},
    {"--warm-up", "how many of these the figures leave out",
     [](Settings& s, const std::string& v) { return parse(v, s.warm_up, 0); }},
    {"--seed", "of all random numbers",
     [](Settings& s, const std::string& v) { return parse(v, s.seed, 0); }},
    {"--unit-us", "how long a unit of work takes",
     [](Settings& s, const std::string& v) { return parse(v, s.unit_us, 1); }},
    {"--clients", "each begins its next transaction when the last has ended",
     [](Settings& s, const std::string& v) { return parse(v, s.clients, 1); }},
    {"--rate", "transactions a second that come at random moments, in place of clients",
     [](Settings& s, const std::string& v) { return parse(v, s.rate, 0); }},
    {"--workers", "threads that execute transactions; 0: as many as clients",
     [](Settings& s, const std::string& v) { return parse(v, s.workers, 0); }},
    {"--logs", "to which commits are flushed; 0: none",
     [](Settings& s, const std::string& v) { return parse(v, s.logs, 0); }},
    {"--flush-us", "what a flush takes on average",
     [](Settings& s, const std::string& v) { return parse(v, s.flush_us, 0); }},
    {"--pages", "in the buffer pool; 0: there is none",
     [](Settings& s, const std::string& v) { return parse(v, s.pages, 0); }},
    {"--lru", "how a page becomes the youngest: mutex or lazy",
     [](Settings& s, const std::string& v) {
       s.lazy_lru = v == "lazy";
       return v == "lazy" || v == "mutex";
     }},
    {"--clean-us", "for how long the page cleaner locks the LRU list, on average",
     [](Settings& s, const std::string& v) { return parse(v, s.clean_us, 0); }},
    {"--read-us", "what it takes to read a page, on average",
     [](Settings& s, const std::string& v) { return parse(v, s.read_us, 0); }},
}};

template <typename Names>
std::string list(const Names& names) {
  std::string text;
  for (const std::string_view name : names) {
    text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text;
}

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
  return true;
}

std::string usage() {
  std::string text = "usage: lock_lab run|simulate [OPTION VALUE]...\n";
  for (const Option& option : kOptions) {
    text += "  " + std::string(option.name) + std::string(16 - option.name.size(), ' ') +
            std::string(option.meaning) + "\n";
  }
  return text + "policies: " + list(policy_names()) + "\nworkloads: " + list(workload_names()) +
         "\n";
}

}  // namespace lab
