#include "state.h"

#include <catch2/catch.hpp>

#include "session.h"
#include "temporary.h"

using namespace vprof::driver;
using vprof::test::Temporary;

TEST_CASE("a state comes back as it was saved") {
  const Temporary directory;
  const Workspace workspace(directory.path());
  fs::create_directories(workspace.dot);
  State state;
  state.iteration = 3;
  state.step = Step::kDecide;
  state.intervals = "i";
  state.expanded = {"f@a.c:1", "g@b.c:2"};
  state.selected = {{.id = "f@a.c:1", .name = "f"}};
  state.set_aside = {{.id = "wait(x)", .name = "wait(x)"}};
  state.history = {
      {.expanded = {"f"}, .sites = 4, .build_s = 1.5, .run_s = 2, .mean_ns = 3, .variance_ns2 = 4}};
  state.baseline_mean_ns = 12.5;
  state.configured = "c";
  state.built = "b";
  REQUIRE(save_state(workspace, state));
  const auto back = load_state(workspace);
  REQUIRE(back);
  CHECK(back->iteration == 3);
  CHECK(back->step == Step::kDecide);
  CHECK(back->expanded == state.expanded);
  CHECK(back->selected == state.selected);
  CHECK(back->set_aside == state.set_aside);
  REQUIRE(back->history.size() == 1);
  CHECK(back->history[0].sites == 4);
  CHECK(back->history[0].run_s == 2);
  CHECK(back->baseline_mean_ns == 12.5);
  CHECK(back->built == "b");
  CHECK(restarted(*back).iteration == 0);
  CHECK(restarted(*back).built == "b");
}

TEST_CASE("no state is a fresh one, a damaged one is an error") {
  const Temporary directory;
  const Workspace workspace(directory.path());
  CHECK(load_state(workspace)->iteration == 0);
  vprof::test::write(workspace.state(), "{\"schema\": 1, \"iteration\": \"x\"}");
  CHECK_THAT(load_state(workspace).error(), Catch::Contains("state.json"));
  vprof::test::write(workspace.state(), "{\"schema\"");
  CHECK_FALSE(load_state(workspace));
}

TEST_CASE("one vprof at a time in one directory") {
  const Temporary directory;
  const Workspace workspace(directory.path());
  fs::create_directories(workspace.dot);
  {
    const auto lock = take_lock(workspace);
    REQUIRE(lock);
    CHECK_THAT(take_lock(workspace).error(), Catch::Contains("another vprof"));
  }
  CHECK(take_lock(workspace));
}
