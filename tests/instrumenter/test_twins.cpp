// Which functions of an armed program have a twin, and which gates open it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "rewrite/instrumentation.h"
#include "rewrite/results.h"
#include "rewrite/twins.h"
#include "sample.h"
#include "vprof/instrumenter/frontier.h"

using namespace sample;
using namespace vprof;
using namespace vprof::instrumenter;

namespace {

constexpr uint32_t kFromCxx = 100;

/// The program of one file in which each line is a function: `static int f(int a) { g(a); }`.
/// Each `name(` in a body is a call of that function.
Program program_of(const std::string& text) {
  Program program;
  uint32_t number = 0;
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const size_t open = text.find('(', at);
    const size_t name = text.rfind(' ', open) + 1;
    Function f = function(text.substr(name, open - name), "a.c", ++number);
    f.usr = (text.compare(at, 6, "static") == 0 ? "c:a.c@F@" : "c:@F@") + f.name;
    f.head_begin = static_cast<uint32_t>(at);
    f.name_begin = static_cast<uint32_t>(name);
    f.name_end = static_cast<uint32_t>(open);
    f.body = static_cast<uint32_t>(text.find('{', open) + 1);
    f.body_end = static_cast<uint32_t>(text.find('\n', open));
    f.params = {"a"};
    f.size = 150;
    program.functions.push_back(f);
  }
  for (Function& f : program.functions) {
    for (const Function& callee : program.functions) {
      const std::string name = callee.name + "(";
      for (size_t at = text.find(name, f.body); at < f.body_end; at = text.find(name, at + 1)) {
        const auto end = static_cast<uint32_t>(text.find(')', at) + 1);
        f.calls.push_back(call(f, callee, static_cast<uint32_t>(at), end, Form::kExpression));
      }
    }
  }
  program.units.push_back({"a.c", {"a.c"}, "", {}});
  program.file_hashes["a.c"] = content_hash(text);
  program.finish();
  return program;
}

Function& at(Program& program, const std::string& name) {
  const auto found = std::ranges::find(program.functions, name, &Function::name);
  REQUIRE(found != program.functions.end());
  return *found;
}

std::set<std::string> names(const std::set<const Function*>& functions) {
  std::set<std::string> out;
  for (const Function* f : functions) {
    out.insert(f->name);
  }
  return out;
}

/// Every function that calls something has sites.
Twins twins_of(const Program& program, const std::string& text) {
  const auto twins = choose_twins(
      program,
      [](const Function& f) { return f.calls.empty() ? Inserted::kNothing : Inserted::kInBody; },
      [&](const std::string&) -> Result<std::string> { return text; }, kFromCxx);
  REQUIRE(twins);
  return *twins;
}

using Names = std::set<std::string>;

const std::string kText =
    "static int leaf(int a) { return a; }\n"
    "static int inner(int a) { return leaf(a); }\n"
    "int outer(int a) { return inner(a); }\n";

}  // namespace

TEST_CASE("a static function that only copies reach has no gate of its own") {
  const Program program = program_of(kText);
  const Twins twins = twins_of(program, kText);
  CHECK(names(twins.gated) == Names{"outer"});
  CHECK(names(twins.copied) == Names{"leaf"});
  REQUIRE(twins.behind.size() == 1);
  CHECK(twins.behind.begin()->first->name == "inner");
  CHECK(names(twins.gates_of(twins.behind.begin()->first)) == Names{"outer"});
}

TEST_CASE("what has events keeps its gate: its callers may have been entered long ago") {
  const Program program = program_of(kText);
  const auto with_events = [](const Function& f) {
    return f.name == "leaf"    ? Inserted::kNothing
           : f.name == "inner" ? Inserted::kEvents
                               : Inserted::kInBody;
  };
  const auto twins = choose_twins(
      program, with_events, [](const std::string&) -> Result<std::string> { return kText; },
      kFromCxx);
  REQUIRE(twins);
  CHECK(names(twins->gated) == Names{"inner", "outer"});
}

TEST_CASE("of functions without sites, those are copied that would be lost without") {
  const std::string text =
      "static int shared(int a) { return a; }\n"
      "static int alone(int a) { return a; }\n"
      "int f(int a) { return shared(a) + alone(a); }\n"
      "int g(int a) { return shared(a); }\n";
  Program one = program_of(text);
  CHECK(names(twins_of(one, text).copied) == Names{"alone"});
  at(one, "alone").size = 151;  // a call of it costs little beside it
  CHECK(twins_of(one, text).copied.empty());

  // The copy of `passes` is all that keeps `inner` without a gate.
  const std::string chain =
      "static int inner(int a) { return a; }\n"
      "static int passes(int a) { return inner(a); }\n"
      "int f(int a) { return passes(a); }\n"
      "int g(int a) { return passes(a); }\n";
  const auto with_sites = [](const Function& f) {
    return f.name == "passes" ? Inserted::kNothing : Inserted::kInBody;
  };
  const Program program = program_of(chain);
  const auto twins = choose_twins(
      program, with_sites, [&](const std::string&) -> Result<std::string> { return chain; },
      kFromCxx);
  REQUIRE(twins);
  CHECK(names(twins->copied) == Names{"passes"});
  CHECK(names(twins->gated) == Names{"f", "g"});
}

TEST_CASE("a static function that something else reaches keeps its gate") {
  Program program = program_of(kText);
  SECTION("its address is taken") { program.units[0].address_taken = {"c:a.c@F@inner"}; }
  SECTION("a call of it cannot be moved") { at(program, "outer").calls[0].macro = "CALL"; }
  SECTION("a function without a copy calls it") {
    const std::string text = kText + "int more(int a) { return inner(a); }\n";
    program = program_of(text);
    at(program, "more").unique = true;
    CHECK(names(twins_of(program, text).gated) == Names{"inner", "outer"});
    return;
  }
  CHECK(names(twins_of(program, kText).gated) == Names{"inner", "outer"});
}

TEST_CASE("a copy calls no copy that the compiler may not see") {
  const auto holds = [](const std::string& text) {
    return Conditions(text).hold_always_at(static_cast<uint32_t>(text.find("f(")));
  };
  CHECK(holds("static int f(int a) {}\n"));
  CHECK_FALSE(holds("#if __GNUC__ > 4\nstatic int f(int a) {}\n#endif\n#define X\n"));
  CHECK_FALSE(
      holds("#ifdef A\n#define f g\n#else\nstatic int f(int a) {}\n#endif\nint b;\n#undef X\n"));
  CHECK(holds("#ifdef A\n#endif\nstatic int f(int a) {}\n#ifdef B\n#endif\n"));
  const std::string guarded = "/* header */\n#ifndef H\n#define H\n#ifdef A\n#endif\n";
  CHECK(holds(guarded + "static int f(int a) {}\n#endif /* H */\n"));
  CHECK_FALSE(holds(guarded + "# if 1\nstatic int f(int a) {}\n# endif\n#endif\n"));
  CHECK_FALSE(holds("#ifdef A\nint a;\n#endif\n#ifdef B\nstatic int f(int a) {}\n#endif\n"));
}

TEST_CASE("a static function under a condition keeps its gate, and copies call the original") {
  const std::string text = "#if __GNUC__ > 4\n#else\n" + kText.substr(0, kText.find("int outer")) +
                           "#endif\n" + kText.substr(kText.find("int outer"));
  Program program = program_of(kText);
  for (Function& f : program.functions) {
    const uint32_t by = f.name == "outer" ? 30 : 23;
    for (uint32_t* at : {&f.head_begin, &f.name_begin, &f.name_end, &f.body, &f.body_end}) {
      *at += by;
    }
    for (Call& c : f.calls) {
      c.begin += by;
      c.end += by;
    }
  }
  const Twins twins = twins_of(program, text);
  CHECK(names(twins.gated) == Names{"inner", "outer"});
  CHECK(calls_of_copies(program, twins, at(program, "outer"), text).empty());
}

TEST_CASE("functions that call only each other keep their gates") {
  const std::string text =
      "static int even(int a) { return odd(a); }\n"
      "static int odd(int a) { return even(a); }\n";
  CHECK(names(twins_of(program_of(text), text).gated) == Names{"even", "odd"});
}

TEST_CASE("what may run for long before a site is switched on has no twin") {
  const std::string text =
      "int step(int a) { return leaf(a); }\n"
      "int serve(int a) { return step(a); }\n"
      "int start(int a) { return serve(a); }\n"
      "int leaf(int a) { return 1; }\n";
  Program program = program_of(text);
  Function& step = at(program, "step");
  Function& serve = at(program, "serve");
  Function& start = at(program, "start");
  SECTION("a loop that never ends") {
    serve.endless = true;
    CHECK(names(twins_of(program, text).gated) == Names{"start", "step"});
  }
  SECTION("a loop near the start of a thread") {
    serve.loops = step.loops = true;
    CHECK(names(twins_of(program, text).gated) == Names{"serve", "start", "step"});
    Function spawner = function("spawner", "", 0);
    spawner.calls = {call(spawner, start, 1, 2, Form::kRefused)};
    spawner.calls[0].kind = CallKind::kSpawn;
    program.functions.push_back(spawner);
    program.finish();
    CHECK(names(twins_of(program, text).gated) == Names{"start"});
    for (const char* name : {"a", "b", "c"}) {  // what many call is no main loop
      Function caller = function(name, "", 0);
      caller.calls = {call(caller, at(program, "step"), 1, 2, Form::kRefused)};
      program.functions.push_back(caller);
    }
    program.finish();
    CHECK(names(twins_of(program, text).gated) == Names{"start", "step"});
  }
  SECTION("main") {
    start.name = "main";  // in the text it has another one, so it has no twin anyway
    serve.loops = true;
    CHECK(names(twins_of(program, text).gated) == Names{"step"});
  }
}

TEST_CASE("of files that others include, static functions have twins, unless C++ includes them") {
  Program program = program_of(kText);
  program.units.push_back({"b.c", {"b.c", "a.c"}, "", {}});
  CHECK(names(twins_of(program, kText).gated) == Names{"inner"});
  // Without sites, a header stays as it is, so that what depends on it is not built again.
  CHECK(twins_of(program, kText).copied.empty());
  program.units.push_back({"c.cc", {"c.cc", "a.c"}, "", {}});
  CHECK(twins_of(program, kText).all().empty());
}

TEST_CASE("functions of generated files have no twins") {
  const Program program = program_of(kText);
  CHECK(twins_of(program, "#line 3 \"a.y\"\n" + kText).all().empty());
}

TEST_CASE("of C++, all functions of a certain size have twins with gates, in headers as well") {
  Program program = program_of(kText);
  for (Function& f : program.functions) {
    f.is_cxx = true;
    f.size = kFromCxx;
  }
  program.units.push_back({"c.cc", {"c.cc", "a.c"}, "", {}});
  const auto gated = [&] {
    const Twins twins = twins_of(program, kText);
    CHECK(twins.copied.empty());
    CHECK(twins.behind.empty());
    CHECK(twins.called.empty());
    return names(twins.gated);
  };
  CHECK(gated() == Names{"inner", "outer"});  // `leaf` has no sites
  SECTION("one that is smaller") {
    --at(program, "inner").size;
    CHECK(gated() == Names{"outer"});
  }
  SECTION("one whose body may not be there twice") {
    at(program, "outer").unique = true;
    CHECK(gated() == Names{"inner"});
  }
  SECTION("a main loop") {
    at(program, "outer").endless = true;
    CHECK(gated() == Names{"inner"});
  }
  SECTION("a coroutine") {
    at(program, "outer").coroutine = true;
    CHECK(gated() == Names{"inner"});
  }
}

TEST_CASE("a frontier switches on the gates through which its sites are reached") {
  Program program = program_of(kText);
  Plan all;
  all.all = all.armed = true;
  const auto armed =
      instrument(program, all, {}, [](const std::string&) -> Result<std::string> { return kText; });
  REQUIRE(armed);
  const SitesFile sites = sites_of(program, all, *armed, {});
  const uint32_t outer = armed->gates.at(gate_identity(at(program, "outer")));

  SitesFile frontier = sites;
  std::erase_if(frontier.sites, [&](const SitesFile::SiteEntry& site) {
    return sites.functions.at(site.function - 1).name != "leaf";
  });
  REQUIRE(frontier.sites.size() == 1);
  const uint32_t site = frontier.sites[0].id;
  const auto on = numbers_to_switch_on(frontier, sites);
  CHECK(std::set(on.begin(), on.end()) == std::set{outer, site});
  CHECK(numbers_to_switch_on({}, sites).empty());

  // A number is for good, so that an epoch of an older build is read rightly.
  const auto again = instrument(program, all, sites.site_ids,
                                [](const std::string&) { return Result<std::string>(kText); });
  REQUIRE(again);
  CHECK(again->gates == armed->gates);
}
