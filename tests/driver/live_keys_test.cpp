#include <catch2/catch.hpp>

#include "search/live/screen/keys.h"

using namespace vprof::driver;
using vprof::report::LiveStatus;
using vprof::report::LiveView;
using vprof::report::ScreenSize;

namespace {

LiveStatus with_factors(const std::vector<std::string>& ids) {
  LiveStatus status;
  for (const std::string& id : ids) {
    status.factors.push_back({.id = id, .name = id, .location = ""});
  }
  return status;
}

constexpr ScreenSize kSize{.rows = 12, .columns = 80};

Reaction typed(char32_t letter, const LiveStatus& status, LiveView& view) {
  return react({.key = Key::kCharacter, .character = letter}, status, kSize, view);
}

}  // namespace

TEST_CASE("a letter is about the factor that is selected, also when the order changes") {
  LiveView view;
  LiveStatus status = with_factors({"f", "g", "h"});
  react({.key = Key::kDown}, status, kSize, view);
  CHECK(view.selected == "g");
  status = with_factors({"g", "h", "f"});
  const Reaction reaction = typed(U'a', status, view);
  REQUIRE(reaction.wish);
  CHECK(reaction.wish->what == Wish::What::kAccept);
  CHECK(reaction.wish->factor == "g");
  CHECK(typed(U's', status, view).wish->what == Wish::What::kSetAside);
  CHECK(typed(U'e', status, view).wish->what == Wish::What::kExpand);
  // It has gone: the first one is selected.
  status = with_factors({"h"});
  CHECK(typed(U'e', status, view).wish->factor == "h");
}

TEST_CASE("without a factor, letters ask for nothing") {
  LiveView view;
  for (const char32_t letter : U"eas") {
    if (letter != 0) {
      CHECK_FALSE(typed(letter, {}, view).wish);
      CHECK_FALSE(view.notice.empty());
    }
  }
  react({.key = Key::kDown}, {}, kSize, view);
  react({.key = Key::kEnd}, {}, kSize, view);
  CHECK(view.selected.empty());
}

TEST_CASE("q goes back from a page, and else stops the search") {
  LiveView view;
  const LiveStatus status = with_factors({"f"});
  view.page.title = "a page";
  CHECK_FALSE(typed(U'q', status, view).wish);
  CHECK(view.page.title.empty());
  REQUIRE(typed(U'q', status, view).wish);
  CHECK(typed(4, status, view).wish->what == Wish::What::kQuit);  // the end of input
  CHECK(typed(U'?', status, view).page == Page::kHelp);
  CHECK(react({.key = Key::kReturn}, status, kSize, view).page == Page::kDetails);
  CHECK_FALSE(typed(U'x', status, view).wish);
  CHECK(view.notice == "? explains the keys");
}

TEST_CASE("a page scrolls from its first line to its last") {
  LiveView view;
  view.page.title = "a page";
  view.page.lines.resize(25);  // of which 10 are shown
  const auto top_after = [&](Key key) {
    react({.key = key}, {}, kSize, view);
    return view.page_top;
  };
  CHECK(top_after(Key::kUp) == 0);
  CHECK(top_after(Key::kDown) == 1);
  CHECK(top_after(Key::kPageDown) == 11);
  CHECK(top_after(Key::kPageDown) == 15);
  CHECK(top_after(Key::kEnd) == 15);
  CHECK(top_after(Key::kPageUp) == 5);
  CHECK(top_after(Key::kHome) == 0);
  view.page.lines.resize(3);
  CHECK(top_after(Key::kEnd) == 0);
}
