#include "workspace/state.h"

#include <catch2/catch.hpp>

#include "search/iterations.h"
#include "temporary.h"
#include "vprof/instrumenter/sites.h"
#include "workspace/session.h"

using namespace vprof;
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
  state.history.resize(1);
  state.history[0].expanded = {"f"};
  state.history[0].sites = 4;
  state.history[0].run_s = 2;
  state.history[0].mean_ratio = 1.02;
  state.history[0].selected = {"g"};
  state.history[0].leading = {{.factor = "f", .contribution = 0.5}};
  state.history[0].demoted = 1;
  state.baseline.count = 7;
  state.baseline.mean_ns = 12.5;
  state.baseline.mean_ci95 = {12, 13};
  state.baseline.iteration = 2;
  state.demoted = {{.function = "h",
                    .position = "a.c:1:2",
                    .calls = 9,
                    .cost = 0.25,
                    .since = 3,
                    .heavy_in = "GET"}};
  state.configured = "c";
  state.built = "b";
  REQUIRE(save_state(workspace.state(), state));
  const auto back = load_state(workspace.state());
  REQUIRE(back);
  CHECK(back->iteration == 3);
  CHECK(back->step == Step::kDecide);
  CHECK(back->expanded == state.expanded);
  CHECK(back->selected == state.selected);
  CHECK(back->set_aside == state.set_aside);
  REQUIRE(back->history.size() == 1);
  CHECK(back->history[0].sites == 4);
  CHECK(back->history[0].run_s == 2);
  CHECK(back->history[0].mean_ratio == 1.02);
  CHECK(back->history[0].selected == std::vector<std::string>{"g"});
  CHECK(back->history[0].leading.at(0).contribution == 0.5);
  CHECK(back->history[0].demoted == 1);
  CHECK(back->baseline.count == 7);
  CHECK(back->baseline.mean_ns == 12.5);
  CHECK(back->baseline.mean_ci95[1] == 13);
  CHECK(back->baseline.iteration == 2);
  REQUIRE(back->demoted.size() == 1);
  CHECK(back->demoted[0].position == "a.c:1:2");
  CHECK(back->demoted[0].cost == 0.25);
  CHECK(back->demoted[0].since == 3);
  CHECK(back->demoted[0].heavy_in == "GET");
  CHECK(back->built == "b");
  CHECK(restarted(*back).iteration == 0);
  CHECK(restarted(*back).built == "b");
  State edited = *back;
  forget_overhead(edited);
  CHECK(edited.baseline.count == 0);
  CHECK(edited.demoted.empty());
}

TEST_CASE("a missing state file is a fresh state, a damaged one is an error") {
  const Temporary directory;
  const Workspace workspace(directory.path());
  CHECK(load_state(workspace.state())->iteration == 0);
  vprof::test::write(workspace.state(), "{\"schema\": 1, \"iteration\": \"x\"}");
  CHECK_THAT(load_state(workspace.state()).error().message, Catch::Contains("state.json"));
  vprof::test::write(workspace.state(), "{\"schema\"");
  CHECK_FALSE(load_state(workspace.state()));
}

TEST_CASE("a directory has one vprof at a time") {
  const Temporary directory;
  const Workspace workspace(directory.path());
  fs::create_directories(workspace.dot);
  {
    const auto lock = take_lock(workspace);
    REQUIRE(lock);
    CHECK_THAT(take_lock(workspace).error().message, Catch::Contains("another vprof"));
  }
  CHECK(take_lock(workspace));
}

namespace {

/// One call of `f` in each of these lines, and the scope of a function.
instrumenter::SitesFile calls_in(const std::vector<uint32_t>& lines) {
  instrumenter::SitesFile sites;
  sites.functions.resize(1);
  sites.functions[0].key = "f@a.c:1";
  sites.functions[0].name = "f";
  const auto add = [&](instrumenter::SiteKind kind, uint32_t line) {
    instrumenter::SitesFile::SiteEntry site;
    site.id = static_cast<uint32_t>(sites.sites.size() + 1);
    site.kind = kind;
    site.file = "a.c";
    site.line = line;
    site.rule = "statement";
    sites.sites.push_back(site);
  };
  add(instrumenter::SiteKind::kFunction, 1);
  for (const uint32_t line : lines) {
    add(instrumenter::SiteKind::kCall, line);
  }
  return sites;
}

}  // namespace

TEST_CASE("new call sites are counted one by one, whatever left the plan") {
  const Temporary directory;
  Session session{.config = {},
                  .workspace = Workspace(directory.path()),
                  .locations = {},
                  .state = {},
                  .lock = Lock()};
  const auto next = [&](const std::vector<uint32_t>& lines) {
    ++session.state.iteration;
    fs::create_directories(session.workspace.iteration(session.state.iteration));
    REQUIRE(instrumenter::save_sites(calls_in(lines), session.workspace.sites().string()));
    const auto counted = keep_sites(session);
    REQUIRE(counted);
    return *counted;
  };
  CHECK(next({10, 11, 12}) == 3);
  CHECK(next({12, 13, 14}) == 2);  // two came, two left
  CHECK(next({12}) == 0);
  fs::remove(session.workspace.kept_sites(3));
  CHECK(next({12}) == std::nullopt);
}
