#include <catch2/catch.hpp>

#include "rewrite/interval_graph.h"
#include "sample.h"

using namespace sample;
using namespace vprof::instrumenter;

namespace {

/// main starts a thread with worker and calls set_up → open → read_config; worker calls request,
/// where an interval begins, and tidy → sweep → remove; request calls store.
Program server() {
  Program program;
  Function main_f = function("main", "m.c", 1);
  Function worker = function("worker", "m.c", 2);
  Function request = function("request", "m.c", 3);
  const Function store = function("store", "m.c", 4);
  Function set_up = function("set_up", "m.c", 5);
  Function open = function("open", "m.c", 6);
  const Function read_config = function("read_config", "m.c", 7);
  Function tidy = function("tidy", "m.c", 8);
  Function sweep = function("sweep", "m.c", 9);
  const Function remove = function("remove", "m.c", 10);
  main_f.calls = {call(main_f, worker, 1, 2, Form::kRefused),
                  call(main_f, set_up, 3, 4, Form::kStatement)};
  main_f.calls[0].kind = CallKind::kSpawn;
  set_up.calls = {call(set_up, open, 1, 2, Form::kStatement)};
  open.calls = {call(open, read_config, 1, 2, Form::kStatement)};
  worker.calls = {call(worker, request, 1, 2, Form::kStatement),
                  call(worker, tidy, 3, 4, Form::kStatement)};
  tidy.calls = {call(tidy, sweep, 1, 2, Form::kStatement)};
  sweep.calls = {call(sweep, remove, 1, 2, Form::kStatement)};
  request.calls = {call(request, store, 1, 2, Form::kStatement)};
  program.functions = {main_f, worker,      request, store, set_up,
                       open,   read_config, tidy,    sweep, remove};
  program.finish();
  return program;
}

Plan plan_of_requests() {
  Plan plan;
  plan.intervals.emplace_back();
  plan.intervals.back().function = "request";
  return plan;
}

}  // namespace

TEST_CASE("the graph of the intervals is no higher if main and a worker's loop are expanded") {
  const Program program = server();
  Plan plan = plan_of_requests();
  CHECK(program.by_key("main@m.c:1")->height == 3);
  CHECK(interval_graph(program, plan).height == 1);
  plan.expanded = {"main@m.c:1", "worker@m.c:2", "request@m.c:3"};
  const IntervalGraph graph = interval_graph(program, plan);
  CHECK(graph.height == 1);
  CHECK(graph.above == std::set<std::string>{"main@m.c:1", "worker@m.c:2"});
}

TEST_CASE("an expanded function beside the intervals counts: others may wait for its work") {
  Plan plan = plan_of_requests();
  plan.expanded = {"tidy@m.c:8"};
  CHECK(interval_graph(server(), plan).height == 2);
}
