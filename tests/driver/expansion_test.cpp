// What factors are broken down into: waits, what threads do, and what is behind library functions.
#include "search/expansion.h"

#include <catch2/catch.hpp>

#include "profile_fixture.h"
#include "search/policy.h"

using namespace vprof;
using namespace vprof::driver;
using namespace vprof::test;

namespace {

/// start() starts a thread with pump(), passes on_tick() to a library function, puts it into a
/// std::function, and calls that.
instrumenter::Program with_callbacks() {
  using instrumenter::CallKind;
  instrumenter::Program made = program();
  instrumenter::Function start =
      function("start@d.c:20", {"pthread_create@", "pump@d.c:1", "each@", "on_tick@d.c:9",
                                "std::function<T>::operator()@", "on_tick@d.c:9"});
  start.calls[1].kind = CallKind::kSpawn;
  start.calls[3].kind = start.calls[5].kind = CallKind::kCallback;
  start.calls[3].receiver_key = "each@";
  start.calls[5].receiver_key = "std::function<T>::function@";
  for (const auto& f :
       {start, function("pump@d.c:1", {"log@"}), function("on_tick@d.c:9", {"log@"}),
        function("each@", {}), function("std::function<T>::function@", {}),
        function("std::function<T>::operator()@", {})}) {
    made.functions.push_back(f);
  }
  std::sort(made.functions.begin(), made.functions.end(),
            [](const auto& a, const auto& b) { return a.key < b.key; });
  made.finish();
  return made;
}

/// A wait in lock(); `share` of it is for a thread outside every measured function.
Profile waiting(double share) {
  Profile p = profile({variance("wait(lock)", 0.9, FactorStatus::kLeaf)});
  p.factors[0].instances = {
      {.path = {"order", "lock", "wait(lock)"}, .location = "", .contribution = 0.9}};
  Node untracked;
  untracked.kind = NodeKind::kUntracked;
  untracked.function = "untracked(pump)";
  untracked.share = share;
  Node wait;
  wait.kind = NodeKind::kWait;
  wait.function = "wait(lock)";
  wait.children = {untracked};
  Node lock = measured("lock@", 0.9);
  lock.children = {wait};
  p.tree.function = "order";
  p.tree.children = {lock};
  return p;
}

}  // namespace

TEST_CASE("a wait for an unmeasured thread expands the functions that threads start with") {
  const auto all = with_callbacks();
  State state;
  const Decision decision = decide_automatically(waiting(0.8), all, state, {});
  CHECK(decision.expand == std::vector<std::string>{"main@a.c:30", "pump@d.c:1"});
  CHECK(decision.why == std::vector<std::string>{"wait(lock) (90 % of the variance)"});
  CHECK(decision.selected.empty());
  // Below the threshold the wait is an answer.
  CHECK(decide_automatically(waiting(0.01), all, state, {}).expand.empty());
  CHECK(decide_automatically(waiting(0.01), all, state, {}).selected.size() == 1);
  // Next come functions passed to others, which may start threads with them. Then nothing is left.
  state.expanded = decision.expand;
  CHECK(decide_automatically(waiting(0.8), all, state, {}).expand ==
        std::vector<std::string>{"on_tick@d.c:9"});
  state.expanded.emplace_back("on_tick@d.c:9");
  CHECK(decide_automatically(waiting(0.8), all, state, {}).expand.empty());
}

TEST_CASE("a wait for an unmeasured thread goes on below functions that never return") {
  // main ─▶ set_up, serve_forever ─▶ work ─▶ handle; only `work` calls in a loop.
  auto made = program();
  const auto calls = [&](const std::string& key) -> std::vector<instrumenter::Call>& {
    return std::ranges::find(made.functions, key, &instrumenter::Function::key)->calls;
  };
  made.functions.push_back(function("serve_forever@e.c:1", {"work@e.c:9"}));
  made.functions.push_back(function("set_up@e.c:20", {"log@"}));
  made.functions.push_back(function("work@e.c:9", {"handle@a.c:10", "store@b.c:5"}));
  made.functions.back().calls[1].in_loop = true;
  calls("main@a.c:30").push_back(call("set_up@e.c:20"));
  calls("main@a.c:30").push_back(call("serve_forever@e.c:1"));
  std::ranges::sort(made.functions, {}, &instrumenter::Function::key);
  made.finish();

  State state;
  Profile p = waiting(0.8);
  CHECK(decide_automatically(p, made, state, {}).expand == std::vector<std::string>{"main@a.c:30"});
  state.expanded = {"main@a.c:30"};
  CHECK(decide_automatically(p, made, state, {}).expand ==
        std::vector<std::string>{"serve_forever@e.c:1"});
  state.expanded.emplace_back("serve_forever@e.c:1");
  CHECK(decide_automatically(p, made, state, {}).expand == std::vector<std::string>{"work@e.c:9"});
  state.expanded.emplace_back("work@e.c:9");
  CHECK(decide_automatically(p, made, state, {}).expand.empty());
  // What is in the profile has returned.
  state.expanded = {"main@a.c:30"};
  p.tree.children.push_back(measured("serve_forever@e.c:1", 0));
  CHECK(decide_automatically(p, made, state, {}).expand.empty());
}

TEST_CASE(
    "a wait at a barrier expands the function around it before those that threads start with") {
  const auto all = with_callbacks();
  Profile p = waiting(0.8);
  Node region;
  region.function = "pump";
  region.function_key = "pump@d.c:1";
  Node body;  // part of a library's function, which is no function of the program
  body.function = "apply";
  body.children = {p.tree.children[0]};
  body.children[0].function = "wait(pthread_barrier_wait)";
  region.children = {body};
  p.tree.children = {region};
  p.factors[0].functions = {"wait(pthread_barrier_wait)"};
  p.factors[0].instances[0].path = {"order", "pump", "apply", "wait(pthread_barrier_wait)"};
  State state;
  CHECK(decide_automatically(p, all, state, {}).expand == std::vector<std::string>{"pump@d.c:1"});
  state.expanded = {"pump@d.c:1"};
  CHECK(decide_automatically(p, all, state, {}).expand == std::vector<std::string>{"main@a.c:30"});
}

namespace {

/// A wait for a file at the end of this path of keys, the interval left out.
Profile waits_in(const std::vector<std::string>& keys) {
  Profile p = profile({variance("wait(fdatasync)", 0.9, FactorStatus::kLeaf)});
  Node below;
  below.kind = NodeKind::kWait;
  below.function = "wait(fdatasync)";
  below.share = 0.9;
  std::vector<std::string> path = {below.function};
  for (size_t i = keys.size(); i-- > 0;) {
    Node around = measured(keys[i], 0.9);
    around.children = {below};
    path.insert(path.begin(), around.function);
    below = around;
  }
  path.insert(path.begin(), "order");
  p.tree.function = "order";
  p.tree.children = {below};
  p.factors[0].instances = {{.path = path, .location = "", .contribution = 0.9, .share = 0.9}};
  return p;
}

}  // namespace

TEST_CASE("a wait is an answer only when the function that waits is known") {
  State state;
  state.expanded = {kHandle};
  const Decision decision = decide_automatically(waits_in({kHandle, kStore}), program(), state, {});
  CHECK(decision.expand == std::vector<std::string>{kStore});
  CHECK(decision.selected.empty());
  state.expanded.push_back(kStore);
  const Decision next =
      decide_automatically(waits_in({kHandle, kStore, "lock@"}), program(), state, {});
  CHECK(next.expand.empty());
  REQUIRE(next.selected.size() == 1);
  CHECK(next.selected[0].id == "wait(fdatasync)");
  CHECK(next.selected[0].name == "wait(fdatasync) in lock");
  // The call itself is no place: its caller is.
  const Decision in_call =
      decide_automatically(waits_in({kHandle, kStore, "fdatasync@"}), program(), state, {});
  REQUIRE(in_call.selected.size() == 1);
  CHECK(in_call.selected[0].name == "wait(fdatasync) in store");
}

TEST_CASE("where a request waits is looked for although what others did explains the wait") {
  // store, which is not expanded, waits for a lock; its holder waits for the disk.
  Profile p = waits_in({kHandle, kStore, "holder@a.c:50"});
  Node& store = p.tree.children[0].children[0];
  Node lock = measured("", 0.9);
  lock.kind = NodeKind::kWait;
  lock.function = "wait(pthread_mutex_lock)";
  lock.children = store.children;
  store.children = {lock};
  p.factors[0].instances[0].path.insert(p.factors[0].instances[0].path.end() - 2, lock.function);
  State state;
  state.expanded = {kHandle};
  const Decision decision = decide_automatically(p, program(), state, {});
  CHECK(decision.expand == std::vector<std::string>{kStore});
  CHECK(decision.why ==
        std::vector<std::string>{"wait(pthread_mutex_lock) (90 % of the variance)"});
  // Then it is known.
  state.expanded.push_back(kStore);
  CHECK(decide_automatically(p, program(), state, {}).expand.empty());
  // What is little does not matter.
  state.expanded = {kHandle};
  store.children[0].share = 0.04;
  CHECK(decide_automatically(p, program(), state, {}).expand.empty());
}

TEST_CASE("a wait in a function that makes no call is made by a handler or a plug-in") {
  auto made = program();
  made.functions.push_back(function("on_signal@s.c:1", {"dump@s.c:5"}));
  made.functions.push_back(function("dump@s.c:5", {"fdatasync@"}));
  made.functions.push_back(function("fdatasync@", {}));
  made.functions.push_back(function("(*handler)@", {}));
  made.functions.push_back(function("flushes@s.c:9", {"fdatasync@"}));
  made.functions.back().calls[0].form = instrumenter::Form::kRefused;
  std::ranges::sort(made.functions, {}, &instrumenter::Function::key);
  made.finish();
  State state;
  state.expanded = {kHandle, kParse};
  const std::vector<std::string> callers = {"dump@s.c:5", "on_signal@s.c:1"};
  const auto expanded = [&](const std::string& around) {
    return decide_automatically(waits_in({kHandle, kParse, around}), made, state, {}).expand;
  };
  CHECK(expanded("helper@a.c:3") == callers);
  CHECK(expanded("(*handler)@") == callers);
  CHECK(decide_automatically(waits_in({kHandle, kParse}), made, state, {}).expand == callers);
  // A library function may do anything, and one that makes the call is the answer.
  CHECK(expanded("log@").empty());
  CHECK(expanded("flushes@s.c:9").empty());
  // Once they are measured, nothing is left to look for.
  state.expanded.insert(state.expanded.end(), callers.begin(), callers.end());
  CHECK(expanded("helper@a.c:3").empty());
}

TEST_CASE("a function that measured ones far below explain is not broken down") {
  // store is not expanded, and most of its time is in functions that were measured for a wait.
  Profile p = waits_in({kHandle, kStore, "lock@"});
  p.factors.insert(p.factors.begin(), variance(kStore, 1));
  Node& store = p.tree.children[0].children[0];
  REQUIRE(store.function_key == kStore);
  Node body;
  body.kind = NodeKind::kBody;
  body.function = "body(store)";
  State state;
  state.expanded = {kHandle};
  for (const double rest : {0.01, 0.2}) {
    CAPTURE(rest);
    store.share = 0.9 + rest;
    body.share = rest;
    store.children.resize(1);
    store.children.push_back(body);
    const Decision decision = decide_automatically(p, program(), state, {});
    CHECK(decision.expand.empty() == (rest < 0.05));
  }
}

TEST_CASE("an interval's own time is looked for around where it begins and ends, outwards") {
  instrumenter::Program all;
  all.functions = {function("Request::Request@r.cpp:1", {"log@"}),
                   function("Request::~Request@r.cpp:2", {"log@"}),
                   function("answer@r.cpp:4", {"log@"}),
                   function("main@r.cpp:9", {"serve@r.cpp:6"}),
                   function("other@r.cpp:8", {"log@"}),
                   function("serve@r.cpp:6", {"Request::Request@r.cpp:1", "answer@r.cpp:4"})};
  std::sort(all.functions.begin(), all.functions.end(),
            [](const auto& a, const auto& b) { return a.key < b.key; });
  all.finish();
  Profile p = profile({variance("body(request)", 0.9)});
  p.tree.function = "request";
  State state;
  state.expanded = {"Request::Request@r.cpp:1", "Request::~Request@r.cpp:2"};
  state.history.emplace_back();
  state.history.back().expanded = {"Request::Request", "Request::~Request"};
  CHECK(decide_automatically(p, all, state, {}).expand ==
        std::vector<std::string>{"serve@r.cpp:6"});
  // Expanded for another reason, so its callers have nothing to do with the interval.
  state.expanded.push_back("answer@r.cpp:4");
  state.expanded.push_back("serve@r.cpp:6");
  CHECK(decide_automatically(p, all, state, {}).expand == std::vector<std::string>{"main@r.cpp:9"});
  state.expanded.push_back("main@r.cpp:9");
  const Decision last = decide_automatically(p, all, state, {});
  CHECK(last.expand.empty());
  CHECK(ids(last.selected) == std::vector<std::string>{"body(request)"});
}

TEST_CASE("a wait outside every measured function is looked for in all threads") {
  const auto all = with_callbacks();
  State state;
  const Decision decision = decide_automatically(waits_in({}), all, state, {});
  CHECK(decision.expand == std::vector<std::string>{"main@a.c:30", "pump@d.c:1"});
  CHECK(decision.selected.empty());
  state.expanded = decision.expand;
  CHECK(decide_automatically(waits_in({}), all, state, {}).selected.size() == 1);
}

TEST_CASE("a library function is broken down if functions of the program are behind it") {
  const auto all = with_callbacks();
  for (const char* name : {"each@", "std::function<T>::operator()@"}) {
    State state;
    const Profile p = profile({variance(name, 0.7, FactorStatus::kLeaf)});
    CHECK(decide_automatically(p, all, state, {}).expand == std::vector<std::string>{name});
    CHECK(all.by_key(name)->targets == std::vector<std::string>{"on_tick@d.c:9"});
    state.expanded = {name};
    CHECK(decide_automatically(p, all, state, {}).expand.empty());
  }
  const Profile other = profile({variance("log@", 0.7, FactorStatus::kLeaf)});
  CHECK(decide_automatically(other, all, {}, {}).expand.empty());
}

TEST_CASE("a wait for an unmeasured thread expands the tasks of executors as well") {
  auto all = with_callbacks();
  for (auto& f : all.functions) {
    for (auto& call : f.calls) {
      if (call.receiver_key == "each@") {
        call.kind = instrumenter::CallKind::kTask;
      }
    }
  }
  CHECK(decide_automatically(waiting(0.8), all, {}, {}).expand ==
        std::vector<std::string>{"main@a.c:30", "on_tick@d.c:9", "pump@d.c:1"});
}
