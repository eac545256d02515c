#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <memory>

#include "program/merge.h"
#include "sample.h"

using namespace sample;
using vprof::instrumenter::merge_units;
using vprof::instrumenter::Unit;
using vprof::instrumenter::UnitView;

namespace {

struct UnitWith {
  Unit unit;
  std::vector<Function> functions;
};

Program merged(const std::vector<UnitWith>& units) {
  std::vector<UnitView> facts;
  for (const UnitWith& one : units) {
    facts.push_back({one.unit, {}});
    for (const Function& function : one.functions) {
      facts.back().functions.push_back(std::make_shared<const Function>(function));
    }
  }
  return merge_units(std::move(facts));
}

Function header_function(Form form, uint32_t end) {
  Function f = function("inline_f", "h.h", 3);
  Function callee = function("g", "", 0);
  f.usr = "inline_f";
  f.calls = {call(f, callee, 10, end, form)};
  return f;
}

}  // namespace

TEST_CASE("a header function that all units read alike is one function") {
  const Program program =
      merged({{Unit{"a.c", {}, "", {}}, {header_function(Form::kStatement, 20)}},
              {Unit{"b.c", {}, "", {}}, {header_function(Form::kStatement, 20)}}});
  CHECK(program.find("inline_f").size() == 1);
  CHECK(program.by_key("inline_f@h.h:3")->calls.size() == 1);
  CHECK(program.conflicts.empty());
}

TEST_CASE(
    "calls of one name that begin at one place, as in `a | b | c`, are no different readings") {
  Function chain = header_function(Form::kValue, 20);
  chain.calls.push_back(call(chain, function("g", "", 0), 10, 30, Form::kValue));
  const Function part = header_function(Form::kValue, 20);  // in `#ifdef`, the other one is not
  const std::vector<std::vector<Function>> all = {
      {chain, chain}, {chain, part}, {part, chain}, {chain, part, chain}};
  for (const std::vector<Function>& readings : all) {
    std::vector<UnitWith> units;
    for (const Function& reading : readings) {
      units.push_back({Unit{fmt::format("{}.c", units.size()), {}, "", {}}, {reading}});
    }
    const Program program = merged(units);
    REQUIRE(program.by_key("inline_f@h.h:3")->calls.size() == 2);
    for (const Call& c : program.by_key("inline_f@h.h:3")->calls) {
      CHECK(c.form == Form::kValue);
    }
    CHECK(program.conflicts.empty());
  }
}

TEST_CASE("a call that units read differently is refused and noted, in any order of the units") {
  const Function one = header_function(Form::kStatement, 20);
  const Function other = header_function(Form::kExpression, 18);
  for (const bool swapped : {false, true}) {
    const Program program = merged({{Unit{"a.c", {}, "", {}}, {swapped ? other : one}},
                                    {Unit{"b.c", {}, "", {}}, {swapped ? one : other}}});
    for (const Call& c : program.by_key("inline_f@h.h:3")->calls) {
      CHECK(c.form == Form::kRefused);
    }
    CHECK(program.conflicts.size() == 1);
  }
}

TEST_CASE(
    "what is a call in one unit and a macro without one in another is refused, in any order") {
  for (const auto& [form, expected] : {std::pair{Form::kValue, Form::kRefused},
                                       {Form::kExpression, Form::kRefused},
                                       // Whatever the statement is, it may stand in a block.
                                       {Form::kStatement, Form::kStatement}}) {
    const Function one = header_function(form, 20);
    Function other = header_function(form, 20);
    other.calls.clear();
    other.bare_macros = {4, 10, 30};
    for (const bool swapped : {false, true}) {
      const Program program = merged({{Unit{"a.c", {}, "", {}}, {swapped ? other : one}},
                                      {Unit{"b.c", {}, "", {}}, {swapped ? one : other}}});
      REQUIRE(program.by_key("inline_f@h.h:3")->calls.size() == 1);
      CHECK(program.by_key("inline_f@h.h:3")->calls[0].form == expected);
      CHECK(program.conflicts.size() == (expected == Form::kRefused ? 1 : 0));
    }
  }
}

TEST_CASE("a header read as C and as C++ takes the C++ form, which scope.h also defines in C") {
  Function c = header_function(Form::kExpression, 20);
  Function cxx = header_function(Form::kValue, 20);
  cxx.is_cxx = true;
  for (const bool swapped : {false, true}) {
    const Program program = merged({{Unit{"a.c", {}, "", {}}, {swapped ? cxx : c}},
                                    {Unit{"b.cc", {}, "", {}}, {swapped ? c : cxx}}});
    REQUIRE(program.by_key("inline_f@h.h:3")->calls.size() == 1);
    CHECK(program.by_key("inline_f@h.h:3")->calls[0].form == Form::kValue);
  }
}

TEST_CASE("calls in parts of a header that only some units see are all kept") {
  Function more = header_function(Form::kStatement, 20);
  more.calls.push_back(call(more, function("only_here", "", 0), 40, 50, Form::kStatement));
  const Program program =
      merged({{Unit{"a.c", {}, "", {}}, {header_function(Form::kStatement, 20)}},
              {Unit{"b.c", {}, "", {}}, {more}}});
  CHECK(program.by_key("inline_f@h.h:3")->calls.size() == 2);
}

TEST_CASE(
    "a call finds the definition in another unit, the nearest one if several programs have it") {
  Function caller = function("caller", "server/x/a.c", 1);
  Function declared = function("util", "", 0);
  caller.calls = {call(caller, declared, 1, 2, Form::kStatement)};
  caller.calls[0].callee_usr = "util";
  Function near = function("util", "server/util.c", 5);
  Function far = function("util", "client/util.c", 5);
  near.usr = far.usr = "util";
  const Program program = merged({{Unit{"client/util.c", {}, "", {}}, {far}},
                                  {Unit{"server/util.c", {}, "", {}}, {near}},
                                  {Unit{"server/x/a.c", {}, "", {}}, {caller}}});
  CHECK(program.find("caller").front()->calls[0].callee_key == "util@server/util.c:5");
}
