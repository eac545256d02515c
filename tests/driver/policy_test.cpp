#include "search/policy.h"

#include <catch2/catch.hpp>

#include "profile_fixture.h"
#include "search/ask.h"
#include "search/iterations.h"

using namespace vprof;
using namespace vprof::driver;
using namespace vprof::test;

TEST_CASE("the policy expands by rank, at most k, above the threshold") {
  State state;
  state.expanded = {kHandle};
  analyzer::Options options;
  options.k = 1;
  const Profile p = profile({variance(kHandle, 1, FactorStatus::kExpanded), variance(kStore, 0.6),
                             variance(kParse, 0.3)});
  Decision decision = decide_automatically(p, program(), state, options);
  CHECK(decision.expand == std::vector<std::string>{kStore});
  CHECK(decision.why == std::vector<std::string>{"store (60 % of the variance)"});
  options.k = 3;
  CHECK(decide_automatically(p, program(), state, options).expand ==
        std::vector<std::string>{kStore, kParse});
  Profile low = p;
  low.threshold = 0.5;
  CHECK(decide_automatically(low, program(), state, options).expand ==
        std::vector<std::string>{kStore});
}

TEST_CASE(
    "what is certainly above the threshold and can be broken down needs no further intervals") {
  State state;
  state.expanded = {kHandle};
  Profile p = profile({variance("wait(lock)", 0.6, FactorStatus::kLeaf), variance(kStore, 0.3)});
  p.threshold = 0.05;
  p.factors[0].share_ci95 = {0.5, 0.7};
  p.factors[1].share_ci95 = {0.04, 0.6};
  CHECK_FALSE(goes_deeper(p, program(), state, {}));
  p.factors[1].share_ci95 = {0.06, 0.6};
  CHECK(goes_deeper(p, program(), state, {}));
  state.expanded.push_back(kStore);
  CHECK_FALSE(goes_deeper(p, program(), state, {}));
}

TEST_CASE("factors among the first k that cannot be broken down are answers") {
  State state;
  state.expanded = {kHandle};
  const Profile p = profile({variance("wait(lock)", 0.5, FactorStatus::kLeaf),
                             variance("helper@a.c:3", 0.3, FactorStatus::kLeaf),
                             variance("body(handle)", 0.01, FactorStatus::kLeaf)});
  const Decision decision = decide_automatically(p, program(), state, {});
  CHECK(decision.expand.empty());
  CHECK(ids(decision.selected) == std::vector<std::string>{"wait(lock)", "helper@a.c:3"});
}

TEST_CASE("a covariance is broken down only when no variance is left") {
  State state;
  const Profile both = profile({covariance(kStore, kParse, 0.7), variance(kHandle, 0.2)});
  CHECK(decide_automatically(both, program(), state, {}).expand ==
        std::vector<std::string>{kHandle});
  state.expanded = {kHandle};
  CHECK(decide_automatically(both, program(), state, {}).expand ==
        std::vector<std::string>{kStore, kParse});
  state.expanded = {kHandle, kStore, kParse};
  CHECK(decide_automatically(both, program(), state, {}).expand.empty());
}

TEST_CASE("the body of a function that was never expanded is broken down like the function") {
  State state;
  Factor body = variance("body(store)", 0.9, FactorStatus::kLeaf);
  body.definition = "b.c:5";
  CHECK(decide_automatically(profile({body}), program(), state, {}).expand ==
        std::vector<std::string>{kStore});
  state.expanded = {kStore};
  const Decision decision = decide_automatically(profile({body}), program(), state, {});
  CHECK(decision.expand.empty());
  CHECK(ids(decision.selected) == std::vector<std::string>{"body(store)"});
}

TEST_CASE("a factor set aside is not expanded, nor is the body of an expanded function") {
  State state;
  state.expanded = {kParse};
  state.set_aside = {{.id = kStore, .name = "store"}};
  Factor body = variance(kParse, 0.9, FactorStatus::kLeaf);
  body.functions = {"body(parse)"};
  CHECK(decide_automatically(profile({variance(kStore, 0.9), body}), program(), state, {})
            .expand.empty());
  Profile p = profile({variance(kStore, 0.9)});
  mark_decisions(p, state);
  CHECK(p.factors[0].status == FactorStatus::kSetAside);
}

TEST_CASE("what may be chance is no answer") {
  State state;
  state.expanded = {kHandle};
  Profile p = profile({variance("wait(a)", 0.5, FactorStatus::kLeaf),
                       variance("wait(b)", 0.3, FactorStatus::kLeaf)});
  p.factors[0].significant = false;
  analyzer::Options options;
  options.k = 1;
  CHECK(ids(decide_automatically(p, program(), state, options).selected) ==
        std::vector<std::string>{"wait(b)"});
}

TEST_CASE("what may be chance may still come before the first factor") {
  Profile report = profile({variance("wait(lock)", 0.5), variance("wait(disk)", 0.3)});
  report.threshold = 0.05;
  report.factors[0].specificity = 1;
  report.factors[0].score = 0.5;
  report.factors[1].specificity = 10;
  report.factors[1].score = 0.1;  // no more than that of the least certain cause
  CHECK_FALSE(may_be_overtaken(report));
  report.factors[1].significant = false;
  CHECK(may_be_overtaken(report));
  report.factors[1].specificity = 1;
  CHECK_FALSE(may_be_overtaken(report));
  report.factors[1].specificity = 100;
  report.factors[1].weight = 0.01;  // below the threshold
  CHECK_FALSE(may_be_overtaken(report));
  CHECK_FALSE(may_be_overtaken({}));
  report.interval.slowest_part = 0.4;
  CHECK_FALSE(may_be_overtaken(report));
  report.interval.slowest_part = 0.6;
  CHECK(may_be_overtaken(report));
}

TEST_CASE("calls that are too many within one interval are neither expanded nor an answer") {
  State state;
  state.iteration = 2;
  state.demoted = {{.function = "store",
                    .key = kStore,
                    .position = "b.c:5:3",
                    .since = 3,
                    .heavy_in = "intervals of more than 8 ms"}};
  Factor body = variance(kStore, 0.9, FactorStatus::kLeaf);
  body.functions = {"body(store)"};
  for (const Profile& p : {profile({variance(kStore, 0.9)}), profile({body}),
                           profile({covariance(kStore, kStore, 1)})}) {
    CHECK(decide_automatically(p, program(), state, {}).expand.empty());
    CHECK(decide_automatically(p, program(), state, {}).selected.empty());
  }
  // What is only called often and varies little may be broken down if it varies after all.
  state.demoted[0].heavy_in.clear();
  CHECK(decide_automatically(profile({variance(kStore, 0.9)}), program(), state, {}).expand ==
        std::vector<std::string>{kStore});
}

TEST_CASE("a function is an answer if it was expanded and nothing in it is measured") {
  State state;
  state.expanded = {kHandle, kStore};
  Profile p = profile({variance(kStore, 0.9, FactorStatus::kExpanded)});
  p.tree.function = "order";
  p.tree.children.resize(1);
  Node& store = p.tree.children[0];
  store.function_key = kStore;
  CHECK(ids(decide_automatically(p, program(), state, {}).selected) ==
        std::vector<std::string>{kStore});
  store.children.resize(1);
  CHECK(decide_automatically(p, program(), state, {}).selected.empty());
}

TEST_CASE("a large contribution without a weight is neither expanded nor an answer") {
  Profile p = profile({variance(kStore, 2.5), variance("wait(a)", 2.5, FactorStatus::kLeaf)});
  for (Factor& factor : p.factors) {
    factor.share = factor.weight = 0;
  }
  const Decision decision = decide_automatically(p, program(), {}, {});
  CHECK(decision.expand.empty());
  CHECK(decision.selected.empty());
}

namespace {

/// `callers` functions, each of which reaches slow() by a function of its own.
instrumenter::Program with_callers(int callers) {
  instrumenter::Program made = program();
  for (int i = 0; i < callers; ++i) {
    const std::string n = std::to_string(i);
    made.functions.push_back(function("caller" + n + "@e.c:1" + n, {"step" + n + "@e.c:2" + n}));
    made.functions.push_back(function("step" + n + "@e.c:2" + n, {"slow@e.c:99", "log@"}));
  }
  made.functions.push_back(function("slow@e.c:99", {"log@"}));
  std::sort(made.functions.begin(), made.functions.end(),
            [](const auto& a, const auto& b) { return a.key < b.key; });
  made.finish();
  return made;
}

Profile called_from(int callers, double share) {
  Profile p;
  p.tree.function = "order";
  for (int i = 0; i < callers; ++i) {
    const std::string n = std::to_string(i);
    p.tree.children.push_back(measured("caller" + n + "@e.c:1" + n, share));
  }
  return p;
}

}  // namespace

TEST_CASE("a function under many callers is looked for under all of them") {
  const auto all = with_callers(8);
  State state;
  const Profile p = called_from(8, 0.03);
  const Decision first = decide_automatically(p, all, state, {});
  CHECK(first.expand.size() == 8);
  REQUIRE(first.why.size() == 1);
  CHECK(first.why[0].find("(24 % of the variance together)") != std::string::npos);
  // Next come the functions in between, then nothing is left.
  state.expanded = first.expand;
  Profile next = p;
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    next.tree.children[static_cast<size_t>(i)].children = {
        measured("step" + n + "@e.c:2" + n, 0.03)};
  }
  const Decision second = decide_automatically(next, all, state, {});
  CHECK(second.expand.size() == 8);
  CHECK(second.expand[0].starts_with("step"));
  state.expanded.insert(state.expanded.end(), second.expand.begin(), second.expand.end());
  CHECK(decide_automatically(next, all, state, {}).expand.empty());
}

TEST_CASE("what all functions use of the C++ library does not say what they have in common") {
  instrumenter::Program all = with_callers(8);
  for (instrumenter::Function& function : all.functions) {
    if (function.name.starts_with("caller")) {
      function.calls.push_back(function.calls.front());
      function.calls.back().callee_key = "std::string::size@";
    }
  }
  all.functions.push_back(function("plain@e.c:200", {"std::string::size@"}));
  std::sort(all.functions.begin(), all.functions.end(),
            [](const auto& a, const auto& b) { return a.key < b.key; });
  all.finish();
  Profile p = called_from(8, 0.03);
  p.tree.children.push_back(measured("plain@e.c:200", 0.02));
  const Decision decision = decide_automatically(p, all, {}, {});
  CHECK(decision.expand.size() == 8);
  REQUIRE(decision.why.size() == 1);
  CHECK(decision.why[0] == "8 callers of slow (24 % of the variance together)");
}

TEST_CASE("callers that only wait have nothing in common to look for") {
  Profile p = called_from(8, 0.03);
  for (Node& caller : p.tree.children) {
    Node& wait = caller.children.emplace_back();
    wait.kind = NodeKind::kWait;
    wait.function = "wait(lock)";
    wait.share = 0.02;
    Node& preempted = caller.children.emplace_back();
    preempted.kind = NodeKind::kPreempted;
    preempted.function = "preempted";
    preempted.share = 0.005;
    Node& body = caller.children.emplace_back();
    body.kind = NodeKind::kBody;
    body.function = "body(" + caller.function + ")";
    body.share = 0.005;
  }
  CHECK(decide_automatically(p, with_callers(8), {}, {}).expand.empty());
  for (Node& caller : p.tree.children) {
    caller.children[0].share = 0;
    caller.children[2].share = 0.025;
  }
  CHECK(decide_automatically(p, with_callers(8), {}, {}).expand.size() == 8);
}

TEST_CASE("callers that are little together, or set aside, end the search") {
  const auto all = with_callers(8);
  CHECK(decide_automatically(called_from(8, 0.005), all, {}, {}).expand.empty());
  CHECK(decide_automatically(called_from(1, 0.04), all, {}, {}).expand.empty());
  State state;
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    state.set_aside.push_back({.id = "caller" + n + "@e.c:1" + n, .name = "caller" + n});
  }
  CHECK(decide_automatically(called_from(8, 0.03), all, state, {}).expand.empty());
}

namespace {

struct Talk {
  std::vector<std::string> lines;
  size_t at = 0;
  ReadLine reader() {
    return [this]() -> std::optional<std::string> {
      if (at == lines.size()) {
        return std::nullopt;
      }
      return lines[at++];
    };
  }
};

Decision talk(const Profile& p, std::vector<std::string> lines, int k = 3,
              const instrumenter::Program& all = program()) {
  Session session{.config = {},
                  .workspace = Workspace("/nowhere"),
                  .locations = {},
                  .state = {},
                  .lock = Lock()};
  session.config.source = "/nowhere";
  session.config.factors.k = k;
  Talk t{.lines = std::move(lines)};
  return ask(p, all, session, t.reader());
}

}  // namespace

TEST_CASE("answers are taken one by one") {
  const Profile p = profile({variance(kStore, 0.5), variance(kParse, 0.3),
                             variance("wait(l)", 0.2, FactorStatus::kLeaf)});
  const Decision decision = talk(p, {"e", "s", "a"});
  CHECK(decision.expand == std::vector<std::string>{kStore});
  CHECK(ids(decision.set_aside) == std::vector<std::string>{kParse});
  CHECK(ids(decision.selected) == std::vector<std::string>{"wait(l)"});
  CHECK_FALSE(decision.quit);
}

TEST_CASE("an empty answer is the default: expand what can be, accept the rest") {
  const Profile p = profile({variance(kStore, 0.5), variance("wait(l)", 0.2, FactorStatus::kLeaf)});
  const Decision decision = talk(p, {"", ""});
  CHECK(decision.expand.size() == 1);
  CHECK(decision.selected.size() == 1);
}

TEST_CASE("after a look or a typing error the question is repeated; the end of input quits") {
  const Profile p = profile({variance(kStore, 0.5)});
  CHECK(talk(p, {"t", "o", "x", "a"}).selected.size() == 1);
  CHECK(talk(p, {"o"}).quit);
  CHECK(talk(p, {"q"}).quit);
  CHECK(talk(p, {}).quit);
}

TEST_CASE("callers of one function that are too small each are asked about together") {
  const auto all = with_callers(8);
  const auto answers = [&](std::vector<std::string> lines) {
    return talk(called_from(8, 0.03), std::move(lines), 3, all);
  };
  CHECK(answers({"e"}).expand.size() == 8);
  CHECK(answers({"x", ""}).expand.size() == 8);
  CHECK(answers({"s"}).expand.empty());
  CHECK_FALSE(answers({"s"}).quit);
  CHECK(answers({"q"}).quit);
  CHECK(answers({}).quit);
}

TEST_CASE("the next group of factors is asked about only while none is expanded") {
  const Profile p = profile({variance(kStore, 0.5), variance(kParse, 0.3), variance(kWorker, 0.2)});
  CHECK(talk(p, {"e"}, 1).expand.size() == 1);
  const Decision decision = talk(p, {"s", "e"}, 1);
  CHECK(decision.set_aside.size() == 1);
  CHECK(decision.expand == std::vector<std::string>{kParse});
}

TEST_CASE("the policy leaves what the user has accepted") {
  State state;
  state.expanded = {kHandle};
  state.selected = {{.id = kStore, .name = "store", .by_user = true}};
  const Profile measured = profile({variance(kStore, 0.6), variance(kParse, 0.3)});
  CHECK(decide_automatically(measured, program(), state, {}).expand ==
        std::vector<std::string>{kParse});
  state.selected[0].by_user = false;  // by the policy, which decides anew
  CHECK(decide_automatically(measured, program(), state, {}).expand ==
        std::vector<std::string>{kStore, kParse});
}

TEST_CASE("what the user decides in between belongs to the iteration, and stays") {
  State state;
  state.history.resize(2);
  state.history[0].selected = {"old"};
  state.selected = {{.id = "old", .name = "old", .by_user = true},
                    {.id = "new", .name = "new", .by_user = true},
                    {.id = "guess", .name = "guess"}};
  state.set_aside = {{.id = "aside", .name = "aside", .by_user = true}};
  Decision decision;
  decision.selected = {{.id = "found", .name = "found"}};
  record(decision, true, state);
  CHECK(ids(state.selected) == std::vector<std::string>{"old", "new", "found"});
  CHECK(state.history[1].selected == std::vector<std::string>{"new", "found"});
  CHECK(state.history[1].set_aside == std::vector<std::string>{"aside"});
}
