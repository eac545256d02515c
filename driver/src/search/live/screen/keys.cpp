#include "search/live/screen/keys.h"

#include <algorithm>
#include <array>

namespace vprof::driver {

namespace {

constexpr char32_t kEndOfInput = 4;  // Ctrl-D

enum class Effect : uint8_t { kWish, kPage };

struct Letter {
  char32_t letter;
  Effect effect;
  Wish::What wish;
  Page page;
  const char* help;
};

constexpr std::array kLetters = {
    Letter{U'e',
           Effect::kWish,
           Wish::What::kExpand,
           {},
           "expand: end this epoch, and break the factor down next"},
    Letter{U'a',
           Effect::kWish,
           Wish::What::kAccept,
           {},
           "accept: it is an answer, no need to go further; again: take it back"},
    Letter{U's',
           Effect::kWish,
           Wish::What::kSetAside,
           {},
           "set aside: not an answer, not worth a look; again: take it back"},
    Letter{U'w',
           Effect::kPage,
           {},
           Page::kSlowOne,
           "the timeline of a slow interval in which it took long; again: the next"},
    Letter{U'o', Effect::kPage, {}, Page::kSource, "the source of the function"},
    Letter{U't',
           Effect::kPage,
           {},
           Page::kTree,
           "the variance tree: functions, waits and queues with their shares"},
    Letter{U'?', Effect::kPage, {}, Page::kHelp, "this text"},
};

std::string selected_id(const report::LiveStatus& status, const report::LiveView& view) {
  return status.factors.empty() ? "" : status.factors[report::selected_factor(status, view)].id;
}

/// Where `from` of `count` things is after the key.
size_t moved(Key key, size_t from, size_t count, size_t page) {
  const size_t last = count == 0 ? 0 : count - 1;
  switch (key) {
    case Key::kUp:
      return from == 0 ? 0 : from - 1;
    case Key::kDown:
      return std::min(from + 1, last);
    case Key::kPageUp:
      return from < page ? 0 : from - page;
    case Key::kPageDown:
      return std::min(from + page, last);
    case Key::kHome:
      return 0;
    case Key::kEnd:
      return last;
    default:
      return std::min(from, last);
  }
}

/// `j`, `k` and the space bar, as in pagers.
Key as_movement(const KeyPress& press) {
  switch (press.character) {
    case U'j':
      return Key::kDown;
    case U'k':
      return Key::kUp;
    case U' ':
      return Key::kPageDown;
    case U'g':
      return Key::kHome;
    case U'G':
      return Key::kEnd;
    default:
      return press.key;
  }
}

bool is_quit(const KeyPress& press) {
  return press.key == Key::kCharacter &&
         (press.character == U'q' || press.character == kEndOfInput);
}

Reaction react_on_page(const KeyPress& press, report::ScreenSize size, report::LiveView& view) {
  if (press.key == Key::kBack || is_quit(press)) {
    view.page = {};
    return {};
  }
  if (press.key == Key::kCharacter && press.character == U'w') {
    return {.wish = {}, .page = Page::kSlowOne};
  }
  const size_t rows = report::page_rows(size);
  const size_t lines = view.page.lines.size();
  const size_t tops = lines > rows ? lines - rows + 1 : 1;  // the last line stays at the end
  view.page_top = moved(as_movement(press), view.page_top, tops, rows);
  return {};
}

}  // namespace

Reaction react(const KeyPress& press, const report::LiveStatus& status, report::ScreenSize size,
               report::LiveView& view) {
  view.notice.clear();
  if (!view.page.title.empty()) {
    return react_on_page(press, size, view);
  }
  if (is_quit(press)) {
    return {.wish = Wish{.what = Wish::What::kQuit, .factor = ""}, .page = {}};
  }
  const std::string selected = selected_id(status, view);
  if (press.key == Key::kReturn) {
    return {.wish = {}, .page = Page::kDetails};
  }
  const auto letter = std::ranges::find(kLetters, press.character, &Letter::letter);
  if (press.key == Key::kCharacter && letter != kLetters.end()) {
    if (letter->effect == Effect::kPage) {
      return {.wish = {}, .page = letter->page};
    }
    if (selected.empty()) {
      view.notice = "no factor has been measured yet";
      return {};
    }
    view.selected = selected;  // it stays selected when the order changes
    return {.wish = Wish{.what = letter->wish, .factor = selected}, .page = {}};
  }
  const Key key = as_movement(press);
  if (key == Key::kCharacter) {
    view.notice = "? explains the keys";
  } else if (!selected.empty()) {
    const size_t at = moved(key, report::selected_factor(status, view), status.factors.size(), 10);
    view.selected = status.factors[at].id;
  }
  return {};
}

std::string keys_in_words() {
  std::string text = "Keys. Letters are about the factor that is selected.\n\n";
  const auto line = [&](const std::string& key, const std::string& what) {
    text += "  " + key + std::string(key.size() < 8 ? 8 - key.size() : 1, ' ') + what + "\n";
  };
  for (const Letter& one : kLetters) {
    line(std::string(1, static_cast<char>(one.letter)), one.help);
  }
  line("Return", "all about the factor");
  line("up down", "select, or scroll; also j and k, page up and down, Home, End");
  line("q", "stop the search, and print the report; on a page: back");
  line("Ctrl-C", "leave at once, without a report");
  text +=
      "\nThe bar of a factor is its share of the variance: full as far as it is certain, lighter "
      "as "
      "far as the 95 % confidence interval goes, which narrows with each interval that ends. "
      "\"answer\" is what you or the search have accepted, \"next\" what comes next because of "
      "you, \"leaf\" what has no calls to measure, \"chance?\" what may be nothing.\n"
      "\nThe search goes on meanwhile, and decides by itself what you do not decide. Whichever way "
      "it "
      "ends, the next `vprof live` goes on from there.\n";
  return text;
}

}  // namespace vprof::driver
