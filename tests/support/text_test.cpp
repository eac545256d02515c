#include "vprof/support/text.h"

#include <catch2/catch.hpp>

using namespace vprof;
using Lines = std::vector<std::string>;

TEST_CASE("text: edit distance counts a swap of neighbours once") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("loop", "lop") == 1);
  CHECK(edit_distance("loop", "lopo") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("text: edit distance stops at its limit") {
  CHECK(edit_distance("kitten", "sitting", 4) == 3);
  CHECK(edit_distance("kitten", "sitting", 3) == 3);
  CHECK(edit_distance("kitten", "sitting", 1) == 1);
  CHECK(edit_distance("a", "abcdefgh", 2) == 2);
}

TEST_CASE("text: the last part of a name leaves template arguments alone") {
  CHECK(last_part("f") == "f");
  CHECK(last_part("ns::Class<a::b>::method") == "method");
  CHECK(last_part("ns::Class<a::b>") == "Class<a::b>");
  CHECK(last_part("f(a::b)") == "f(a::b)");
}

TEST_CASE("text: lines end with either line end, and the last may lack it") {
  CHECK(lines_of("").empty());
  CHECK(lines_of("a\r\n\nb") == Lines{"a", "", "b"});
  CHECK(lines_of("a\n") == Lines{"a"});
}

TEST_CASE("text: times have the unit that gives three digits") {
  CHECK(human_time(0) == "0 ns");
  CHECK(human_time(999) == "999 ns");
  CHECK(human_time(999.6) == "1.00 us");
  CHECK(human_time(12345) == "12.3 us");
  CHECK(human_time(207e3) == "207 us");
  CHECK(human_time(75e9) == "75.0 s");
  CHECK(human_time(1.08e6) == "1.08 ms");
  CHECK(human_time(-2.5e9) == "-2.50 s");
}

TEST_CASE("of lines that differ in nothing but numbers, the first one stands for all") {
  CHECK(without_repeats({"A: taken out of 112 intervals: 5.487 ms", "A: other",
                         "A: taken out of 1,127 intervals: 15 ms",
                         "A: taken out of 93 intervals: 1.943 ms",
                         "B: taken out of 112 intervals: 5.487 ms"}) ==
        std::vector<std::string>{"A: taken out of 112 intervals: 5.487 ms (and 2 more like it)",
                                 "A: other", "B: taken out of 112 intervals: 5.487 ms"});
  CHECK(without_repeats({}).empty());
}

TEST_CASE("printable: UTF-8 stays, control characters and other bytes do not") {
  for (const char* whole :
       {"", "GET", "\u6771\u4eac", "caf\u00e9", "\U0001f600", "\u00a0\ud7ff\ue000\U0010ffff"}) {
    CHECK(printable(whole) == whole);
  }
  CHECK(printable("a\nb\x1b[1m\x7f") == "a?b?[1m?");
  CHECK(printable("\xc2\x9b[31m") == "??[31m");  // the 8-bit form of an escape sequence
  CHECK(printable("caf\xe9!") == "caf?!");       // Latin-1
  CHECK(printable("\xe6\x9d") == "??");          // cut
  CHECK(printable("\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xff\x80") == "?? ??? ???? ??");
}
