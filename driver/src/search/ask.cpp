#include "search/ask.h"

#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>

#include "pipeline/source.h"
#include "process/interrupt.h"
#include "search/expansion.h"
#include "vprof/report/message.h"
#include "vprof/report/terminal.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

using analyzer::Factor;

constexpr int kPromptPollMs = 100;  // how soon a prompt notices Ctrl-C

enum class Answer : uint8_t { kExpand, kAccept, kSetAside, kQuit };

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

std::string location_of(const Factor& factor) {
  if (!factor.definition.empty()) {
    return factor.definition;
  }
  return factor.instances.empty() ? "" : factor.instances[0].location;
}

/// The path to the first instance, and how many more there are.
std::string path_of(const Factor& factor) {
  if (factor.instances.empty()) {
    return "";
  }
  const std::string path = fmt::format("{}", fmt::join(factor.instances[0].path, " > "));
  const size_t more = factor.instances.size() - 1;
  return more == 0 ? path : fmt::format("{}  (and {})", path, counted(more, "other place"));
}

void introduce(const Factor& factor) {
  print(fmt::format("\n{}. {}  {}\n", factor.rank,
                    report::heading(factor_name(factor), STDOUT_FILENO), location_of(factor)));
  const bool pair = factor.kind == analyzer::FactorKind::kCovariance;
  const auto& ci95 = pair ? factor.ci95 : factor.share_ci95;
  print(fmt::format("   {:.1f} % of the variance (95 % interval {:.1f} to {:.1f}){}\n",
                    100 * (pair ? factor.contribution : factor.share), 100 * ci95[0], 100 * ci95[1],
                    factor.significant ? "" : ", which may be chance"));
  if (const std::string path = path_of(factor); !path.empty()) {
    print(fmt::format("   {}\n", path));
  }
}

/// Asks about one factor at a time.
class Questioner {
 public:
  Questioner(const analyzer::Profile& profile, const instrumenter::Program& program,
             const Session& session, const ReadLine& read_line)
      : profile_(profile), program_(program), session_(session), read_line_(read_line) {}

  /// Repeats the question until the user has decided. The end of input quits.
  Answer ask(const Factor& factor, bool expandable) {
    introduce(factor);
    const char preset = expandable ? 'e' : 'a';
    while (true) {
      print(fmt::format(
          "   {}[a]ccept as an answer, [s]et aside, sh[o]w source, show [t]ree, [q]uit ({}): ",
          expandable ? "[e]xpand, " : "", preset));
      const auto line = read_line_();
      if (!line) {
        print("\n");
        return Answer::kQuit;
      }
      const char key = line->empty() ? preset : line->front();
      if (const auto answer = answer_of(key, expandable)) {
        return *answer;
      }
      show(key, factor);
    }
  }

  /// Asks about functions that are too small each.
  Answer ask(const CommonCallee& callee) {
    print(fmt::format("\n{}, each too small to be listed by itself\n", callee.in_words()));
    while (true) {
      print("   [e]xpand them all, [s]kip them, [q]uit (e): ");
      const auto line = read_line_();
      if (!line) {
        print("\n");
        return Answer::kQuit;
      }
      if (const auto answer = answer_of(line->empty() ? 'e' : line->front(), true);
          answer && *answer != Answer::kAccept) {
        return *answer;
      }
      print("   please type one of the letters in brackets\n");
    }
  }

 private:
  static std::optional<Answer> answer_of(char key, bool expandable) {
    switch (key) {
      case 'e':
        return expandable ? std::optional(Answer::kExpand) : std::nullopt;
      case 'a':
        return Answer::kAccept;
      case 's':
        return Answer::kSetAside;
      case 'q':
        return Answer::kQuit;
      default:
        return std::nullopt;
    }
  }

  void show(char key, const Factor& factor) {
    if (key == 'o') {
      print(source_excerpt(session_, program_, factor));
    } else if (key == 't') {
      print(report::tree_text(profile_, report::text_options()));
    } else if (key == 'e') {
      print("   this factor cannot be broken down further\n");
    } else {
      print("   please type one of the letters in brackets\n");
    }
  }

  const analyzer::Profile& profile_;
  const instrumenter::Program& program_;
  const Session& session_;
  const ReadLine& read_line_;
};

}  // namespace

std::optional<std::string> read_terminal_line() {
  std::string line;
  while (true) {
    // A plain read() would miss a Ctrl-C that comes just before it and wait for a key.
    struct pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    while (!interrupt::requested() && ::poll(&input, 1, kPromptPollMs) == 0) {
    }
    if (interrupt::requested()) {
      return std::nullopt;
    }
    char c = '\0';
    if (::read(STDIN_FILENO, &c, 1) <= 0) {
      return std::nullopt;
    }
    if (c == '\n') {
      return line;
    }
    if (c != '\r') {
      line += c;
    }
  }
}

Decision ask(const analyzer::Profile& profile, const instrumenter::Program& program,
             const Session& session, const ReadLine& read_line) {
  Decision decision;
  Questioner questioner(profile, program, session, read_line);
  const auto k = static_cast<size_t>(session.config.factors.k);
  size_t asked = 0;
  for (const Factor* factor : undecided(profile, session.state)) {
    if (asked > 0 && asked % k == 0 && !decision.expand.empty()) {
      break;
    }
    ++asked;
    const std::vector<std::string> keys = expandable_keys(profile, *factor, program, session.state);
    switch (questioner.ask(*factor, !keys.empty())) {
      case Answer::kExpand:
        expand(decision, *factor, keys);
        break;
      case Answer::kAccept:
        decision.selected.push_back(decided(*factor));
        break;
      case Answer::kSetAside:
        decision.set_aside.push_back(decided(*factor));
        break;
      case Answer::kQuit:
        decision.quit = true;
        return decision;
    }
  }
  if (decision.expand.empty()) {
    State decided = session.state;
    decided.selected.insert(decided.selected.end(), decision.selected.begin(),
                            decision.selected.end());
    decided.set_aside.insert(decided.set_aside.end(), decision.set_aside.begin(),
                             decision.set_aside.end());
    const CommonCallee callee = find_common_callee(profile, program, decided);
    const Answer answer = callee.keys.empty() ? Answer::kSetAside : questioner.ask(callee);
    decision.quit = answer == Answer::kQuit;
    if (answer == Answer::kExpand) {
      expand_callers(decision, callee);
    }
  }
  return decision;
}

}  // namespace vprof::driver
