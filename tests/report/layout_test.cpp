#include "text/layout.h"

#include <catch2/catch.hpp>

using namespace vprof::report;

TEST_CASE("counts and parts") {
  CHECK(human_count(0) == "0");
  CHECK(human_count(999) == "999");
  CHECK(human_count(1000) == "1,000");
  CHECK(human_count(1234567) == "1,234,567");
  CHECK(percent(0.1234) == "12.3 %");
  CHECK(percent(-0.0001) == "0.0 %");
  CHECK(plural(1, "wait", "waits") == "1 wait");
}

TEST_CASE("text is cut by columns, not by bytes") {
  CHECK(columns("± 3") == 3);
  CHECK(fit("äöü", 3) == "äöü");
  CHECK(fit("äöüß", 3) == "äö…");
  CHECK(fit("abc", 0).empty());
  CHECK(pad("ä", 3) == "ä  ");
}

TEST_CASE("wide characters take two columns, combining ones none") {
  CHECK(columns("漢字") == 4);
  CHECK(columns("e\u0301") == 1);
  CHECK(fit("漢字漢字", 5) == "漢字…");
  CHECK(fit("漢字漢字", 4) == "漢…");
  CHECK(fit("xe\u0301yz", 3) == "xe\u0301…");
  CHECK(columns("\xff\xfe") == 2);
}

TEST_CASE("a path keeps its ends") {
  const std::vector<std::string> path = {"request", "handle", "process_order", "slow_path"};
  CHECK(fit_path(path, 80) == "request > handle > process_order > slow_path");
  CHECK(fit_path(path, 41) == "request > … > process_order > slow_path");
  CHECK(fit_path(path, 25) == "request > … > slow_path");
  CHECK(fit_path(path, 8) == "sl…_path");  // the end of a name says most
  CHECK(fit_path({"request", "f"}, 8) == "f");
  CHECK(fit_path({}, 8).empty());
}

TEST_CASE("a path keeps what tells it from others") {
  const std::vector<std::string> path = {"request", "a", "wait(lock)", "owner", "b", "slow_path"};
  CHECK(fit_path(path, 80, false, 2) == "request > a > wait(lock) > owner > b > slow_path");
  CHECK(fit_path(path, 44, false, 2) == "request > … > wait(lock) > … > b > slow_path");
  CHECK(fit_path(path, 40, false, 2) == "request > … > wait(lock) > … > slow_path");
  CHECK(fit_path(path, 39, false, 2) == "request > … > owner > b > slow_path");  // no room for it
  CHECK(fit_path(path, 40, false, 4) == "request > … > owner > b > slow_path");
}

TEST_CASE("paragraphs break at spaces") {
  CHECK(wrap("one two three", 2, 14) == "  one two\n  three\n");
  CHECK(wrap("", 2, 20).empty());
}

TEST_CASE("a word that is longer than a line goes on in the next one") {
  CHECK(wrap("at src/a/very/long/path.c:1234 there", 2, 14) ==
        "  at\n  src/a/very/l\n  ong/path.c:1\n  234 there\n");
}

TEST_CASE("a name is cut in its middle") {
  CHECK(fit_name("orders::Stock::compact", 30) == "orders::Stock::compact");
  CHECK(fit_name("orders::Stock::compact", 13) == "orde…:compact");
  CHECK(fit_name("orders::Stock::compact", 13, true) == "ord...compact");
  CHECK(columns(fit_name("漢字漢字漢字漢字", 7)) <= 7);
  CHECK(fit_name("abc", 0).empty());
}

TEST_CASE("escape sequences take no columns") {
  CHECK(columns("\x1b[1;31mred\x1b[0m") == 3);
  CHECK(wrap("\x1b[1mone two\x1b[0m three", 0, 13) == "\x1b[1mone two\x1b[0m three\n");
}

TEST_CASE("ASCII instead of what a terminal may not have") {
  CHECK(to_ascii("62.0 % ± 4.0") == "62.0 % +- 4.0");
  CHECK(to_ascii("a … b, us², 3 × 4") == "a ... b, us^2, 3 x 4");
  CHECK(to_ascii("häß漢") == "h???");
  CHECK(to_ascii("bad \xff byte") == "bad ? byte");
  CHECK(bar(0.5, 4, true) == "##  ");
  CHECK(fit("abcdefgh", 6, true) == "abc...");
  CHECK(fit_path({"request", "a", "b", "slow_path"}, 25, true) == "request > ... > slow_path");
}

TEST_CASE("bars are clamped to 0 and 1") {
  CHECK(bar(1, 4) == "████");
  CHECK(bar(2, 4) == "████");
  CHECK(bar(-1, 4) == "    ");
  CHECK(bar(0.5, 4) == "██  ");
  CHECK(bar(0.53125, 4) == "██▏ ");
}
