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

TEST_CASE("a pointer is one call above the highest function behind it, and its callers above it") {
  Program program = with_unit();
  Function high = addressed(program, "high", "int (int)");
  const Function deep = function("deep", "d.c", 1);
  program.functions.front().calls.push_back(call(high, deep, 1, 2, Form::kStatement));
  program.functions.push_back(deep);
  add_pointer_call(program, "(*p)", "int (int)");
  program.finish();
  CHECK(program.by_key(high.key)->height == 1);
  CHECK(program.by_key("(*p)@")->height == 2);
  CHECK(program.find("caller of (*p)").front()->height == 3);
}

TEST_CASE("a circle that only a pointer closes leaves the heights of its functions alone") {
  Program program = with_unit();
  // visit() calls step() through a pointer; step() calls middle(), which calls visit() again.
  addressed(program, "step", "int (int)");
  add_pointer_call(program, "(*p)", "int (int)");
  Function& visit = program.functions[1];
  const Function middle = function("middle", "m.c", 1);
  Function made = middle;
  made.calls = {call(middle, visit, 1, 2, Form::kStatement)};
  program.functions[0].calls = {call(program.functions[0], middle, 1, 2, Form::kStatement)};
  program.functions.push_back(made);
  program.finish();
  CHECK(program.find("caller of (*p)").front()->height == 1);
  CHECK(program.find("middle").front()->height == 2);
  CHECK(program.find("step").front()->height == 3);
  CHECK(program.by_key("(*p)@")->height == 4);
}

namespace {

/// `caller` passes `passed` to `receiver`.
Call passing(const Function& caller, const Function& passed, const Function& receiver,
             CallKind kind = CallKind::kCallback) {
  Call c = call(caller, passed, 7, 7, Form::kRefused);
  c.kind = kind;
  c.receiver_key = receiver.key;
  c.receiver_name = receiver.name;
  return c;
}

}  // namespace

TEST_CASE("library functions reach the functions passed to them, and are above them") {
  Program program;
  const Function compare = function("compare", "q.c", 1);
  const Function work = function("work", "q.c", 5);
  const Function task = function("task", "q.c", 9);
  const Function library = function("qsort", "", 0);
  const Function start = function("pthread_create", "", 0);
  const Function post = function("post", "", 0);
  Function caller = function("caller", "q.c", 20);
  caller.calls = {call(caller, library, 1, 9, Form::kStatement), passing(caller, compare, library),
                  call(caller, start, 11, 19, Form::kStatement),
                  passing(caller, work, start, CallKind::kSpawn),
                  passing(caller, task, post, CallKind::kTask)};
  program.functions = {compare, work, task, library, start, post, caller};
  program.finish();
  CHECK(targets(program, "qsort@") == Keys{compare.key});
  CHECK(targets(program, "pthread_create@").empty());
  CHECK(targets(program, "post@") == Keys{task.key});
  CHECK(program.by_key("qsort@")->height == 1);
  CHECK(program.by_key("pthread_create@")->height == 0);
  CHECK(program.by_key(caller.key)->height == 2);
  CHECK(program.expandable(*program.by_key("qsort@")));
}

TEST_CASE(
    "a call operator reaches what its class is made from, or else any class, and all that is "
    "kept") {
  Program program;
  const Function by_type = function("handler", "h.cc", 1);
  const Function contained = function("in_vector", "h.cc", 5);
  const Function bound = function("bound", "h.cc", 9);
  const Function compare = function("compare", "h.cc", 13);
  const Function constructor = function("std::function<R (A...)>::function<F>", "", 0);
  const Function moved = function("moved", "h.cc", 17);
  const Function assignment = function("std::move_only_function<R (A...)>::operator=", "", 0);
  const Function call_operator = function("std::function<R (A...)>::operator()", "", 0);
  const Function other = function("folly::FunctionTraits<R (A...)>::operator()", "", 0);
  const Function emplace = function("std::vector<job>::emplace_back", "", 0);
  const Function sort = function("std::sort", "", 0);
  const Function submit = function("pool::submit", "h.cc", 30);
  Function caller = function("caller", "h.cc", 20);
  caller.calls = {passing(caller, by_type, constructor), passing(caller, contained, emplace),
                  passing(caller, bound, submit), passing(caller, compare, sort),
                  passing(caller, moved, assignment)};
  program.functions = {by_type, contained, bound,  compare, constructor, call_operator, other,
                       emplace, sort,      submit, caller,  moved,       assignment};
  program.finish();
  CHECK(targets(program, call_operator.key) == Keys{bound.key, by_type.key, contained.key});
  CHECK(targets(program, other.key) == Keys{bound.key, by_type.key, contained.key, moved.key});
  CHECK(targets(program, "std::sort@") == Keys{compare.key});
  CHECK(targets(program, emplace.key).empty());
  CHECK(targets(program, assignment.key).empty());
}

TEST_CASE("a pointer or a virtual method that is passed on is looked through") {
  Program program = with_unit();
  const Function compare = addressed(program, "compare", "int (int)");
  Function base = function("Base::run", "", 0);
  base.usr = "usr:base";
  Function derived = function("Derived::run", "v.cc", 2);
  derived.overrides = {"usr:base"};
  const Function library = function("std::invoke", "", 0);
  const Function pointer = function("(*order)", "", 0);
  Function caller = function("caller", "v.cc", 20);
  caller.calls = {passing(caller, pointer, library), passing(caller, base, library)};
  caller.calls[0].type = "int (int)";
  for (const Function& f : {base, derived, library, pointer, caller}) {
    program.functions.push_back(f);
  }
  program.finish();
  CHECK(targets(program, "std::invoke@") == Keys{derived.key, compare.key});
}

TEST_CASE("a parameter that a template calls reaches what the template is given, or all kept") {
  Program program;
  const Function job = function("serve::lambda", "t.h", 1);
  const Function other = function("other", "t.h", 5);
  const Function given = function("(*work)", "", 0);
  const Function stored = function("(*callback_)", "", 0);
  const Function constructor = function("Button::Button", "t.h", 40);
  Function timed = function("timed", "t.h", 9);
  Function click = function("Button::click", "t.h", 13);
  for (const auto& [caller, callee] : {std::pair{&timed, &given}, {&click, &stored}}) {
    Call c = call(*caller, *callee, 1, 5, Form::kStatement);
    c.kind = CallKind::kIndirect;
    caller->calls.push_back(c);
  }
  Function caller = function("caller", "t.h", 20);
  caller.calls = {passing(caller, job, timed), passing(caller, other, constructor)};
  program.functions = {job, other, given, stored, constructor, timed, click, caller};
  program.finish();
  CHECK(targets(program, "(*work)@") == Keys{job.key});
  CHECK(targets(program, "(*callback_)@") == Keys{other.key, job.key});
  CHECK(program.expandable(*program.by_key("(*work)@")));
}

TEST_CASE("a call in a template reaches what its instantiations call there, and what it is given") {
  Program program;
  const Function fetch = function("Disk::fetch", "t.h", 1);
  const Function job = function("serve::lambda", "t.h", 3);
  const Function other = function("other", "t.h", 5);
  const Function given = function("(*backend.fetch)", "", 0);
  const Function constructor = function("Button::Button", "t.h", 40);
  Function load = function("load", "t.h", 9);
  for (const auto& [callee, kind] :
       {std::pair{&given, CallKind::kIndirect}, {&fetch, CallKind::kInstance}}) {
    load.calls.push_back(call(load, *callee, 1, 5, Form::kStatement));
    load.calls.back().kind = kind;
  }
  Function caller = function("caller", "t.h", 20);
  caller.calls = {passing(caller, job, load), passing(caller, other, constructor)};
  program.functions = {fetch, job, other, given, constructor, load, caller};
  program.finish();
  CHECK(targets(program, "(*backend.fetch)@") == Keys{fetch.key, job.key});
  CHECK_FALSE(is_call(program.by_key(load.key)->calls[1]));
}

TEST_CASE("a wrapper calls what it is given, others call what they name") {
  Program program = with_unit();
  const Function leaf = addressed(program, "leaf", "int (int)");
  add_pointer_call(program, "(*p)", "int (int)");
  const Function function_object = function("std::function<R (A...)>::operator()", "", 0);
  const Function own_object = function("callable::operator()", "w.h", 30);
  const Function constructor = function("std::function<R (A...)>::function<F>", "", 0);
  const Function compare = function("compare::operator()", "w.h", 40);
  const Function sort = function("std::sort", "", 0);
  Function guarded = function("guarded", "w.h", 1);
  guarded.calls = {call(guarded, function_object, 1, 5, Form::kStatement),
                   passing(guarded, leaf, constructor)};
  Function vendored = own_object;
  vendored.calls = {program.functions[1].calls.front()};
  Function by_vendored = function("by_vendored", "w.h", 5);
  by_vendored.calls = {call(by_vendored, own_object, 1, 5, Form::kStatement)};
  Function sorts = function("sorts", "w.h", 9);
  sorts.calls = {call(sorts, sort, 1, 5, Form::kStatement), passing(sorts, leaf, sort),
                 call(sorts, compare, 6, 9, Form::kStatement)};
  for (const Function& f :
       {function_object, constructor, compare, sort, guarded, vendored, by_vendored, sorts}) {
    program.functions.push_back(f);
  }
  program.finish();
  const auto wraps = [&](const std::string& name) {
    return is_wrapper(program, *program.find(name).front());
  };
  CHECK(wraps("caller of (*p)"));
  CHECK(wraps("guarded"));
  CHECK(wraps("callable::operator()"));
  CHECK(wraps("by_vendored"));
  CHECK_FALSE(wraps("sorts"));
  CHECK_FALSE(wraps("leaf"));
  CHECK_FALSE(wraps("std::function<R (A...)>::operator()"));  // the analysis knows that by itself
}

TEST_CASE("resuming a coroutine may run any coroutine of the program") {
  Program program = with_unit();
  Function coroutine = function("serve", "s.cpp", 1);
  coroutine.coroutine = true;
  program.functions.push_back(coroutine);
  program.functions.push_back(function("plain", "s.cpp", 9));
  const Function resume = function("std::coroutine_handle<>::resume", "", 0);
  const Function called = function("std::coroutine_handle::operator()", "", 0);
  const Function destroy = function("std::coroutine_handle::destroy", "", 0);
  for (const Function& f : {resume, called, destroy}) {
    program.functions.push_back(f);
  }
  program.finish();
  CHECK(targets(program, resume.key) == Keys{coroutine.key});
  CHECK(targets(program, called.key) == Keys{coroutine.key});
  CHECK(targets(program, destroy.key).empty());
}
