#include <catch2/catch.hpp>

#include "sample.h"

using namespace sample;

namespace {

using Keys = std::vector<std::string>;

/// Adds a function of a type whose address is taken.
Function addressed(Program& program, const std::string& name, const std::string& type) {
  Function f = function(name, "t.c", static_cast<uint32_t>(program.functions.size()) + 1);
  f.usr = "usr:" + name;
  f.type = type;
  program.functions.push_back(f);
  program.units.front().address_taken.push_back(f.usr);
  return f;
}

/// Adds a caller through a pointer of a type, and the pseudo-function of the pointer.
void add_pointer_call(Program& program, const std::string& pointer, const std::string& type) {
  Function caller =
      function("caller of " + pointer, "c.c", static_cast<uint32_t>(program.functions.size()) + 1);
  const Function callee = function(pointer, "", 0);
  Call c = call(caller, callee, 1, 5, Form::kExpression);
  c.kind = CallKind::kIndirect;
  c.type = type;
  caller.calls.push_back(c);
  program.functions.push_back(caller);
  program.functions.push_back(callee);
}

Program with_unit() {
  Program program;
  program.units.push_back({"t.c", {}, "", {}});
  return program;
}

Keys targets(const Program& program, const std::string& key) {
  REQUIRE(program.by_key(key) != nullptr);
  return program.by_key(key)->targets;
}

}  // namespace

TEST_CASE("a pointer reaches the functions of its type whose address is taken") {
  Program program = with_unit();
  const Function same = addressed(program, "same", "int (int)");
  addressed(program, "other_result", "long (int)");
  addressed(program, "other_parameter", "int (long)");
  Function never = function("never_taken", "n.c", 1);
  never.type = "int (int)";
  program.functions.push_back(never);
  add_pointer_call(program, "(*p)", "int (int)");
  program.finish();
  CHECK(targets(program, "(*p)@") == Keys{same.key});
  CHECK(program.expandable(*program.by_key("(*p)@")));
}

TEST_CASE(
    "functions and pointers without declared parameters match every type with their return type") {
  Program program = with_unit();
  const Function declared = addressed(program, "declared", "int (int (*)(void), long)");
  const Function old_style = addressed(program, "old_style", "int (?)");
  addressed(program, "other", "void (?)");
  add_pointer_call(program, "(*any)", "int (?)");
  add_pointer_call(program, "(*exact)", "int (char)");
  program.finish();
  CHECK(targets(program, "(*any)@") == Keys{declared.key, old_style.key});
  CHECK(targets(program, "(*exact)@") == Keys{old_style.key});
}

TEST_CASE("a virtual method reaches all its overriders, direct and indirect") {
  Program program;
  Function base = function("Base::f", "", 0);
  base.usr = "usr:base";
  Function middle = function("Middle::f", "v.cc", 2);
  middle.usr = "usr:middle";
  middle.overrides = {"usr:base"};
  Function last = function("Last::f", "v.cc", 3);
  last.usr = "usr:last";
  last.overrides = {"usr:middle"};
  program.functions = {base, middle, last};
  program.finish();
  CHECK(targets(program, "Base::f@") == Keys{last.key, middle.key});
  CHECK(targets(program, middle.key) == Keys{last.key});
  CHECK(targets(program, last.key).empty());
}

TEST_CASE("a macro with several calls that is measured as a whole reaches the functions it calls") {
  Program program;
  Function f = function("f", "m.c", 1);
  const Function a = function("a", "m.c", 2);
  const Function b = function("b", "m.c", 3);
  for (const Function* callee : {&a, &b}) {
    Call c = call(f, *callee, 10, 20, Form::kStatement);
    c.macro = "BOTH";
    f.calls.push_back(c);
  }
  Call alone = call(f, a, 30, 40, Form::kStatement);
  alone.macro = "ONE";
  f.calls.push_back(alone);
  program.functions = {f, a, b, function("BOTH", "", 0), function("ONE", "", 0)};
  program.finish();
  CHECK(targets(program, "BOTH@") == Keys{a.key, b.key});
  CHECK(targets(program, "ONE@").empty());
}

TEST_CASE(
    "a pointer is as high as the highest function behind it; callers through pointers are not") {
  Program program = with_unit();
  Function high = addressed(program, "high", "int (int)");
  const Function deep = function("deep", "d.c", 1);
  program.functions.front().calls.push_back(call(high, deep, 1, 2, Form::kStatement));
  program.functions.push_back(deep);
  add_pointer_call(program, "(*p)", "int (int)");
  program.finish();
  CHECK(program.by_key(high.key)->height == 1);
  CHECK(program.by_key("(*p)@")->height == 1);
  CHECK(program.find("caller of (*p)").front()->height ==
        0);  // only direct and virtual calls count
}
