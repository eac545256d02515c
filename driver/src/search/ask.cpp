#include "search/ask.h"

#include <fmt/ranges.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "pipeline/source.h"
#include "process/interrupt.h"
#include "search/expansion.h"
#include "vprof/analyzer/marks.h"
#include "vprof/report/factor_words.h"
#include "vprof/report/message.h"
#include "vprof/report/terminal.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

using analyzer::Factor;

constexpr int kPromptPollMs = 100;  // how soon a prompt notices Ctrl-C

/// What was typed before a question was on the screen is no answer to it.
void forget_typed_ahead() { ::tcflush(STDIN_FILENO, TCIFLUSH); }

DecidedFactor decided_by_user(const Factor& factor) {
  DecidedFactor one = decided(factor);
  one.by_user = true;
  return one;
}

enum class Answer : uint8_t { kExpand, kAccept, kSetAside, kQuit };

/// Wrapped at the width of the terminal.
void print(const std::string& text) {
  std::fputs(report::for_terminal(text, STDOUT_FILENO).c_str(), stdout);
  std::fflush(stdout);
}

constexpr const char* kKeys =
    R"(   e  expand: measure the calls of this function in the next iteration
   a  accept: it is an answer, the search need not go further here
   s  set aside: neither an answer nor worth a look; do not ask about it again
   o  show the source of the function
   t  show the variance tree: all functions, waits and queues with their shares
   q  stop here; vprof loop goes on from this question
   Return alone is the key in parentheses.
   The share of a factor is how much of the variance of the latency goes with it. The first line
   has its rank and its place in the source. The order is that of the score: the share, as far as
   no callee explains it, times the specificity, which grows with the depth in the call graph.
)";

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
  const size_t more = analyzer::other_places(factor);
  return more == 0 ? path : fmt::format("{}  (and {})", path, counted(more, "other place"));
}

void introduce(const Factor& factor) {
  print(fmt::format("\n{}. {}  {}\n", factor.rank,
                    report::heading(factor_name(factor), STDOUT_FILENO), location_of(factor)));
  const bool pair = factor.kind == analyzer::FactorKind::kCovariance;
  const auto& ci95 = pair ? factor.ci95 : factor.share_ci95;
  print(fmt::format("   {:.1f} % of the variance (95 % interval {:.1f} to {:.1f}){}; score {}\n",
                    100 * (pair ? factor.contribution : factor.share), 100 * ci95[0], 100 * ci95[1],
                    factor.significant ? "" : ", which may be chance",
                    report::score_in_words(factor.score)));
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
    forget_typed_ahead();
    introduce(factor);
    const char preset = expandable ? 'e' : 'a';
    while (true) {
      print(fmt::format("   {}[a]ccept [s]et aside s[o]urce [t]ree [q]uit [?] ({}): ",
                        expandable ? "[e]xpand " : "", preset));
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
    forget_typed_ahead();
    print(fmt::format("\n{}, each too small to be listed by itself\n", callee.in_words()));
    while (true) {
      print("   [e]xpand them all, [s]kip them, [q]uit [?] (e): ");
      const auto line = read_line_();
      if (!line) {
        print("\n");
        return Answer::kQuit;
      }
      if (const auto answer = answer_of(line->empty() ? 'e' : line->front(), true);
          answer && *answer != Answer::kAccept) {
        return *answer;
      }
      print("   e measures what each of them calls, s goes on without them, q stops here\n");
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
      std::fputs(report::tree_text(profile_, report::text_options()).c_str(), stdout);
    } else if (key == '?') {
      print(kKeys);
    } else if (key == 'e') {
      print("   this factor cannot be broken down further\n");
    } else {
      print("   please type one of the letters in brackets; ? explains them\n");
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
    int ready = 0;
    do {
      ready = ::poll(&input, 1, kPromptPollMs);
    } while (!interrupt::requested() && (ready == 0 || (ready < 0 && errno == EINTR)));
    if (interrupt::requested()) {
      return std::nullopt;
    }
    char c = '\0';
    const ssize_t count = ::read(STDIN_FILENO, &c, 1);
    if (count < 0 && errno == EINTR) {
      continue;  // Ctrl-Z and fg, or Ctrl-C
    }
    if (count <= 0) {
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
        decision.selected.push_back(decided_by_user(*factor));
        break;
      case Answer::kSetAside:
        decision.set_aside.push_back(decided_by_user(*factor));
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
