#include "search/look_ahead.h"

#include <catch2/catch.hpp>

#include "program_fixture.h"

using namespace vprof;
using namespace vprof::driver;
using vprof::test::function;

namespace {

using Names = std::vector<std::string>;

///   a ─▶ b ─▶ c ─┬─▶ d ─▶ leaf                     c calls two functions that can be expanded
///                └─▶ wide ─▶ 50 calls, and e
instrumenter::Program chain(const std::vector<instrumenter::Function>& more = {}) {
  instrumenter::Program made;
  Names many(50, "leaf@");
  many.emplace_back("e@w.c:2");
  made.functions = {function("a@c.c:1", {"b@c.c:2", "leaf@"}),
                    function("b@c.c:2", {"c@c.c:3", "c@c.c:3"}),
                    function("c@c.c:3", {"d@c.c:4", "wide@w.c:1"}),
                    function("d@c.c:4", {"leaf@"}),
                    function("wide@w.c:1", many),
                    function("e@w.c:2", {"leaf@"}),
                    function("leaf@", {})};
  made.functions.insert(made.functions.end(), more.begin(), more.end());
  made.finish();
  return made;
}

}  // namespace

TEST_CASE("a chain of single callees is expanded at once") {
  CHECK(look_ahead({"a@c.c:1"}, chain(), {}, kSingleCallees) == Names{"b@c.c:2", "c@c.c:3"});
  // However large the last one is: there is nothing to choose.
  State state;
  state.expanded = {"d@c.c:4"};
  CHECK(look_ahead({"a@c.c:1"}, chain(), state, kSingleCallees) ==
        Names{"b@c.c:2", "c@c.c:3", "wide@w.c:1", "e@w.c:2"});
}

TEST_CASE("several callees are expanded together if they add few call sites") {
  const Names all = {"b@c.c:2", "c@c.c:3", "d@c.c:4", "wide@w.c:1", "e@w.c:2"};
  CHECK(look_ahead({"a@c.c:1"}, chain(), {}, {.sites = 100}) == all);
  // b has two call sites, c two, d one and wide 51.
  CHECK(look_ahead({"a@c.c:1"}, chain(), {}, {.sites = 56}) == all);
  CHECK(look_ahead({"a@c.c:1"}, chain(), {}, {.sites = 55}) == Names{"b@c.c:2", "c@c.c:3"});
}

TEST_CASE("what was decided on ends a chain, and so does recursion") {
  State state;
  state.set_aside = {{.id = "c@c.c:3", .name = "c"}};
  CHECK(look_ahead({"a@c.c:1"}, chain(), state, kSingleCallees) == Names{"b@c.c:2"});
  const auto program = chain({function("r@r.c:1", {"s@r.c:2"}), function("s@r.c:2", {"r@r.c:1"})});
  CHECK(look_ahead({"r@r.c:1"}, program, {}, kSingleCallees) == Names{"s@r.c:2"});
}

TEST_CASE("a pointer to one function takes no iteration of its own") {
  auto program =
      chain({function("call@p.c:1", {"(*sync)@"}), function("(*sync)@", {}),
             function("real@p.c:5", {"flush@p.c:9"}), function("flush@p.c:9", {"leaf@"})});
  for (auto& f : program.functions) {
    f.usr = f.key;
    f.type = f.key == "real@p.c:5" ? "int (int)" : "";
    for (auto& call : f.calls) {
      call.type = call.callee_key == "(*sync)@" ? "int (int)" : "";
    }
  }
  program.units.resize(1);
  program.units[0].address_taken = {"real@p.c:5"};
  program.finish();
  REQUIRE(program.by_key("(*sync)@")->targets == Names{"real@p.c:5"});
  CHECK(look_ahead({"call@p.c:1"}, program, {}, kSingleCallees) ==
        Names{"(*sync)@", "flush@p.c:9"});
}

TEST_CASE("how often a call in a loop is made, only a measurement tells") {
  auto program = chain();
  const auto in_loop = [&](const std::string& caller, size_t call) {
    for (auto& f : program.functions) {
      if (f.key == caller) {
        f.calls[call].in_loop = true;
      }
    }
  };
  SECTION("the call of the next function") {
    in_loop("b@c.c:2", 0);
    in_loop("b@c.c:2", 1);
    CHECK(look_ahead({"b@c.c:2"}, program, {}, kSingleCallees).empty());
  }
  SECTION("a call in the next function") {
    in_loop("b@c.c:2", 0);
    CHECK(look_ahead({"a@c.c:1"}, program, {}, kSingleCallees).empty());
  }
}

namespace {

///   step ─▶ exec ─┬─▶ halt ─▶ commit ─▶ (*sync) ─▶ unix_sync ─▶ full_sync ─▶ fsync
///                 └─▶ work                                       other ─▶ fsync64
instrumenter::Program storage(size_t width = 1) {
  instrumenter::Program made;
  made.functions = {function("step@s.c:1", {"exec@s.c:2"}),
                    function("exec@s.c:2", {"halt@s.c:3", "work@s.c:4"}),
                    function("halt@s.c:3", {"commit@s.c:5"}),
                    function("work@s.c:4", {"malloc@"}),
                    function("commit@s.c:5", Names(width, "(*sync)@")),
                    function("unix_sync@u.c:1", {"full_sync@u.c:2"}),
                    function("full_sync@u.c:2", {"fsync@"}),
                    function("other@u.c:9", {"fsync64@"}),
                    function("main@m.c:1", {"step@s.c:1", "other@u.c:9"}),
                    function("(*sync)@", {}),
                    function("fsync@", {}),
                    function("fsync64@", {}),
                    function("malloc@", {})};
  for (auto& f : made.functions) {
    f.usr = f.key;
    f.type = f.key == "unix_sync@u.c:1" ? "int (int)" : "";
    for (auto& call : f.calls) {
      call.type = call.callee_key == "(*sync)@" ? "int (int)" : "";
    }
  }
  made.units.resize(1);
  made.units[0].address_taken = {"unix_sync@u.c:1"};
  made.finish();
  return made;
}

using Keys = std::set<std::string>;

}  // namespace

TEST_CASE("one iteration measures the chain of calls that leads to a wait") {
  const auto program = storage();
  State state;
  state.expanded = {"step@s.c:1"};
  CHECK(callers_that_wait("wait(fsync)", program.by_key("exec@s.c:2"), program, state) ==
        Keys{"commit@s.c:5", "exec@s.c:2", "full_sync@u.c:2", "halt@s.c:3", "unix_sync@u.c:1"});
  // Anywhere.
  CHECK(callers_that_wait("wait(fsync)", nullptr, program, state).contains("other@u.c:9"));
  CHECK(callers_that_wait("wait(fdatasync)", nullptr, program, state).empty());
  // Those measured already are not asked for again; what leads to them is.
  state.expanded.push_back("full_sync@u.c:2");
  CHECK(callers_that_wait("wait(fsync)", program.by_key("exec@s.c:2"), program, state).empty());
}

TEST_CASE("the chain ends where it would add many call sites") {
  const auto program = storage(200);
  CHECK(callers_that_wait("wait(fsync)", program.by_key("exec@s.c:2"), program, {}) ==
        Keys{"full_sync@u.c:2", "unix_sync@u.c:1"});
}

TEST_CASE("a call that many functions make is looked for from above") {
  auto program = storage();
  for (int i = 0; i < 30; ++i) {
    const std::string n = std::to_string(i);
    program.functions.push_back(function("locks" + n + "@l.c:" + n, {"pthread_mutex_lock@"}));
  }
  program.functions.push_back(function("pthread_mutex_lock@", {}));
  program.finish();
  CHECK(callers_that_wait("wait(pthread_mutex_lock)", nullptr, program, {}).empty());
}
