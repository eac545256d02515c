#include "search/ask.h"

#include <poll.h>
#include <unistd.h>

#include <cstdio>

#include "pipeline/analysis.h"
#include "pipeline/source_excerpt.h"
#include "process/interrupt.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

using analyzer::Factor;

constexpr int kLookMs = 100;  // how late Ctrl-C at a question may be noticed

enum class Answer : uint8_t { kExpand, kAccept, kSetAside, kQuit };

void put(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

std::string place(const Factor& factor) {
  if (!factor.definition.empty()) {
    return factor.definition;
  }
  return factor.instances.empty() ? "" : factor.instances[0].site;
}

std::string path_of(const Factor& factor) {
  std::string text;
  if (factor.instances.empty()) {
    return text;
  }
  for (const std::string& name : factor.instances[0].path) {
    text += (text.empty() ? "" : " > ") + name;
  }
  const size_t more = factor.instances.size() - 1;
  return more == 0 ? text
                   : fmt::format("{}  (and {} other place{})", text, more, more == 1 ? "" : "s");
}

void introduce(const Factor& factor) {
  put(fmt::format("\n{}. {}  {}\n", factor.rank, factor_name(factor), place(factor)));
  put(fmt::format("   {:.1f} % of the variance (95 % interval {:.1f} to {:.1f})\n",
                  100 * factor.contribution, 100 * factor.ci95[0], 100 * factor.ci95[1]));
  if (const std::string path = path_of(factor); !path.empty()) {
    put(fmt::format("   {}\n", path));
  }
}

/// One factor until there is an answer.
class Question {
 public:
  Question(const analyzer::Profile& profile, const instrumenter::Program& program,
           const Session& session, const ReadLine& read_line)
      : profile_(profile), program_(program), session_(session), read_line_(read_line) {}

  Answer ask(const Factor& factor, bool expandable) {
    introduce(factor);
    while (true) {
      put(fmt::format(
          "   {}[a]ccept as an answer, [s]et aside, sh[o]w source, show [t]ree, [q]uit ({}): ",
          expandable ? "[e]xpand, " : "", expandable ? 'e' : 'a'));
      const auto line = read_line_();
      if (!line) {
        return quit();
      }
      const char key = line->empty() ? (expandable ? 'e' : 'a') : (*line)[0];
      if (key == 'e' && expandable) {
        return Answer::kExpand;
      }
      if (key == 'a') {
        return Answer::kAccept;
      }
      if (key == 's') {
        return Answer::kSetAside;
      }
      if (key == 'q') {
        return Answer::kQuit;
      }
      show(key, factor);
    }
  }

 private:
  static Answer quit() {
    put("\n");
    return Answer::kQuit;
  }

  void show(char key, const Factor& factor) {
    if (key == 'o') {
      put(source_excerpt(session_, program_, factor));
    } else if (key == 't') {
      put(report::tree_text(profile_, 0.01, text_options()));
    } else if (key == 'e') {
      put("   it cannot be broken down further\n");
    } else {
      put("   please type one of the letters in brackets\n");
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
    // Not a plain read: a Ctrl-C just before it would set the flag and leave us waiting for a key.
    struct pollfd waiting{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    while (!interrupt::requested() && ::poll(&waiting, 1, kLookMs) == 0) {
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
  Question question(profile, program, session, read_line);
  const size_t group = static_cast<size_t>(session.config.factors.k);
  size_t asked = 0;
  for (const Factor* factor : undecided(profile, session.state)) {
    if (asked > 0 && asked % group == 0 && !decision.expand.empty()) {
      break;
    }
    ++asked;
    const std::vector<std::string> keys = expandable_keys(profile, *factor, program, session.state);
    const Decided self{.id = factor_id(*factor), .name = factor_name(*factor)};
    const Answer answer = question.ask(*factor, !keys.empty());
    if (answer == Answer::kQuit) {
      decision.quit = true;
      break;
    }
    if (answer == Answer::kAccept) {
      decision.selected.push_back(self);
    }
    if (answer == Answer::kSetAside) {
      decision.set_aside.push_back(self);
    }
    if (answer == Answer::kExpand) {
      decision.expand.insert(decision.expand.end(), keys.begin(), keys.end());
      decision.why.push_back(expansion_reason(*factor));
    }
  }
  return decision;
}

}  // namespace vprof::driver
