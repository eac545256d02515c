#include <unistd.h>

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "sample.h"

using namespace sample;

namespace {

/// main → a → b → c (library); b ↔ d recursive; a → die (noreturn) → deep → c.
Program chain() {
  Program program;
  Function main_f = function("main", "m.c", 1);
  Function a = function("ns::a", "a.c", 1);
  Function b = function("b", "b.c", 1);
  Function c = function("c", "", 0);
  Function d = function("d", "b.c", 9);
  Function die = function("die", "b.c", 20);
  Function deep = function("deep", "b.c", 30);
  main_f.calls = {call(main_f, a, 1, 2, Form::kStatement)};
  a.calls = {call(a, b, 1, 2, Form::kStatement), call(a, die, 3, 4, Form::kStatement)};
  a.calls[1].noreturn = true;
  b.calls = {call(b, c, 1, 2, Form::kStatement), call(b, d, 3, 4, Form::kStatement)};
  d.calls = {call(d, b, 1, 2, Form::kStatement)};
  die.calls = {call(die, deep, 1, 2, Form::kStatement)};
  deep.calls = {call(deep, a, 1, 2, Form::kStatement)};
  program.functions = {main_f, a, b, c, d, die, deep};
  program.finish();
  return program;
}

}  // namespace

TEST_CASE("heights: longest chain below, recursion is one step, error paths do not count") {
  const Program program = chain();
  CHECK(program.by_key("c@")->height == 0);
  CHECK(program.by_key("b@b.c:1")->height == 1);
  CHECK(program.by_key("d@b.c:9")->height == 1);
  CHECK(program.by_key("ns::a@a.c:1")->height == 2);
  CHECK(program.by_key("main@m.c:1")->height == 3);
}

TEST_CASE("a long chain of calls does not need a deep stack") {
  Program program;
  constexpr int kLength = 200000;
  for (int i = 0; i < kLength; ++i) {
    program.functions.push_back(function("f" + std::to_string(i), "f.c", i + 1));
  }
  for (int i = 0; i + 1 < kLength; ++i) {
    program.functions[i].calls = {
        call(program.functions[i], program.functions[i + 1], 1, 2, Form::kStatement)};
  }
  program.finish();
  CHECK(program.find("f0").front()->height == kLength - 1);
}

TEST_CASE("functions are found by key, name, last part of the name, and place") {
  const Program program = chain();
  CHECK(program.find("ns::a").size() == 1);
  CHECK(program.find("a").front()->name == "ns::a");
  CHECK(program.find("a@a.c").size() == 1);
  CHECK(program.find("a@b.c").empty());
  CHECK(program.find("ns::a@a.c:1").size() == 1);
  CHECK(program.find("nobody").empty());
}

TEST_CASE("suggestions are near the name, best first, and only defined functions") {
  Program program = chain();
  program.functions.push_back(function("process_order", "o.c", 1));
  program.functions.push_back(function("process_orders", "o.c", 5));
  program.functions.push_back(function("proces_order", "", 0));
  program.finish();
  CHECK(program.suggestions("proces_order") ==
        std::vector<std::string>{"process_order", "process_orders"});
  CHECK(program.suggestions("zzzzzzzz").empty());
}

TEST_CASE("callers, and what can be expanded") {
  const Program program = chain();
  const auto callers = program.callers(*program.by_key("b@b.c:1"));
  REQUIRE(callers.size() == 2);
  CHECK(callers[0]->name == "d");
  CHECK(callers[1]->name == "ns::a");
  CHECK(program.expandable(*program.by_key("b@b.c:1")));
  CHECK_FALSE(program.expandable(*program.by_key("c@")));
}

TEST_CASE("a function whose calls are all trivial, refused or error paths is a leaf") {
  Program program;
  Function leaf = function("leaf", "l.c", 1);
  Function accessor = function("accessor", "l.c", 9);
  accessor.trivial = true;
  Function library = function("library", "", 0);
  leaf.calls = {call(leaf, accessor, 1, 2, Form::kStatement),
                call(leaf, library, 3, 4, Form::kRefused)};
  program.functions = {leaf, accessor, library};
  program.finish();
  CHECK_FALSE(program.expandable(*program.find("leaf").front()));
}

TEST_CASE("which functions are small helpers, and which do little") {
  Program program;
  Function f = function("f", "f.c", 1);
  Function library = function("library", "", 0);
  Function other = function("other", "o.c", 1);
  other.size = 500;
  std::vector<Function> more;
  const auto judged = [&](size_t callers) {
    program.functions = {f, library, other};
    program.functions.insert(program.functions.end(), more.begin(), more.end());
    for (size_t i = 0; i < callers; ++i) {
      Function caller = function("caller" + std::to_string(i), "", 0);
      caller.calls = {call(caller, f, 1, 2, Form::kStatement)};
      program.functions.push_back(caller);
    }
    program.finish();
    const Function& it = *program.find("f").front();
    return std::pair(vprof::instrumenter::is_small_helper(program, it),
                     vprof::instrumenter::does_little(program, it));
  };
  f.size = 120;
  f.calls = {call(f, other, 1, 2, Form::kStatement), call(f, library, 3, 4, Form::kExpression)};
  CHECK(judged(4) == std::pair(true, false));
  CHECK(judged(3) == std::pair(false, false));
  f.size = 121;
  CHECK(judged(4) == std::pair(false, false));
  // Tiny, it does no more than one call that counts.
  f.size = 40;
  CHECK(judged(1) == std::pair(false, false));
  f.calls[1].noreturn = true;
  CHECK(judged(1) == std::pair(true, false));
  other.size = 120;  // of one caller: it can be measured at its entry
  CHECK(judged(1) == std::pair(true, false));
  for (const char* name : {"a", "b", "c"}) {  // with f, 4: it is a small helper itself
    more.push_back(function(name, "", 0));
    more.back().calls = {call(more.back(), other, 1, 2, Form::kStatement)};
  }
  CHECK(judged(1) == std::pair(false, false));
  more.clear();
  other.size = 500;
  CHECK(judged(1) == std::pair(true, false));
  // A call through a pointer may reach it: then its entry says which function that was.
  Function base = function("base", "f.c", 1);
  base.usr = "usr of base";
  f.overrides = {base.usr};
  more = {base};
  CHECK(judged(1) == std::pair(false, false));
  f.overrides.clear();
  more.clear();
  f.size = 41;
  CHECK(judged(1) == std::pair(false, false));
  f.size = 40;
  std::swap(f.calls[0].noreturn, f.calls[1].noreturn);  // now it only calls the library
  CHECK(judged(1) == std::pair(false, false));
  std::swap(f.calls[0].noreturn, f.calls[1].noreturn);
  f.calls[0].trivial = true;
  CHECK(judged(1) == std::pair(false, true));
  f.loops = true;
  CHECK(judged(4) == std::pair(false, false));
}

TEST_CASE("in a large program, all functions are small helpers that are small or low") {
  Program program;
  Function f = function("f", "f.c", 1);
  Function caller = function("caller", "f.c", 9);
  Function callee = function("callee", "f.c", 20);
  Function leaf = function("leaf", "f.c", 30);
  caller.calls = {call(caller, f, 1, 2, Form::kStatement)};
  caller.size = 501;
  f.loops = true;
  callee.calls = {call(callee, leaf, 1, 2, Form::kStatement)};
  leaf.size = 501;
  const auto judged = [&](size_t others) {
    f.calls = {call(f, callee, 1, 2, Form::kStatement)};
    program.functions = {f, caller, callee, leaf};
    for (size_t i = 0; i < others; ++i) {
      program.functions.push_back(function("other" + std::to_string(i), "o.c", 1));
    }
    program.finish();
    return vprof::instrumenter::is_small_helper(program, *program.find("f").front());
  };
  f.size = 500;
  CHECK_FALSE(judged(9996));
  CHECK(judged(9997));
  f.endless = true;
  CHECK_FALSE(judged(9997));
  f.endless = false;
  f.size = 501;
  CHECK_FALSE(judged(9997));
  callee.calls.clear();
  CHECK(judged(9997));
}

TEST_CASE("the index survives a round trip; the error for any other file names it") {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("vprof-test-index-" + std::to_string(::getpid()) + ".json"))
                               .string();
  const Program program = chain();
  REQUIRE(vprof::instrumenter::save_program(program, path));
  const auto loaded = vprof::instrumenter::load_program(path);
  REQUIRE(loaded);
  CHECK(loaded->functions.size() == program.functions.size());
  const Function* a = loaded->by_key("ns::a@a.c:1");
  REQUIRE(a != nullptr);
  CHECK(a->calls.size() == 2);
  CHECK(a->calls[1].noreturn);
  CHECK(a->calls[0].form == Form::kStatement);
  CHECK(a->height == 2);
  std::ofstream(path) << "[1, 2";
  const auto broken = vprof::instrumenter::load_program(path);
  REQUIRE_FALSE(broken);
  CHECK(broken.error().message.find(path) == 0);
  std::filesystem::remove(path);
}
