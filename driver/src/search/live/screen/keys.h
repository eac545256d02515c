// Keys of the screen of `vprof live`: what each changes on the screen, or asks of the search.
#pragma once

#include <optional>

#include "search/live/screen/onlooker.h"

namespace vprof::driver {

enum class Key : uint8_t {
  kNone,
  kCharacter,
  kUp,
  kDown,
  kPageUp,
  kPageDown,
  kHome,
  kEnd,
  kReturn,
  kBack,  ///< Escape, or to the left
};

struct KeyPress {
  Key key = Key::kNone;
  char32_t character = 0;  ///< of kCharacter
};

/// A text about the selected factor, or about the whole.
enum class Page : uint8_t { kHelp, kDetails, kSource, kTree, kSlowOne };

/// What is to be done beyond changing the view.
struct Reaction {
  std::optional<Wish> wish;
  std::optional<Page> page;
};

/// Changes what the user looks at, as far as the key says so.
Reaction react(const KeyPress& press, const report::LiveStatus& status, report::ScreenSize size,
               report::LiveView& view);

/// What the keys do, for the page of kHelp.
std::string keys_in_words();

}  // namespace vprof::driver
