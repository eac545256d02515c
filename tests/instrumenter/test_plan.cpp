#include <unistd.h>

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "rewrite/text/value_text.h"
#include "sample.h"

using namespace vprof;
using namespace vprof::instrumenter;

namespace {

Result<Plan> plan_of(const std::string& text) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("vprof-test-plan-" + std::to_string(::getpid()) + ".json"))
                               .string();
  std::ofstream(path) << text;
  Result<Plan> plan = load_plan(path);
  std::filesystem::remove(path);
  return plan;
}

Result<Plan> plan_with_object(const std::string& value) {
  return plan_of(R"({"sync":[{"index":0,"role":"acquire","function":"f","object":")" + value +
                 "\"}]}");
}

}  // namespace

TEST_CASE("values name arguments, results and members") {
  vprof::instrumenter::Function f = sample::function("f", "f.c", 1);
  f.params = {"lock", "mode"};
  const auto text = [&](const std::string& value) {
    const Result<Plan> plan = plan_with_object(value);
    REQUIRE(plan);
    const Result<ValueText> found = value_text(plan->sync[0].value(), f, "k");
    return found ? Result<std::string>(found->or_else("0")) : tl::unexpected(found.error());
  };
  CHECK(*text("arg:0") == "(lock)");
  CHECK(*text("arg:0.a.b") == "(lock).a.b");
  CHECK(*text("arg:1->a.b[0]") ==
        "VPROF_VIA(0, VPROF_STEP(k1, (mode)) VPROF_STEP_AT(k2, k1->a.b, 0), k2[0], }})");
  CHECK(*text("*arg:0->p") ==
        "VPROF_VIA(0, VPROF_STEP(k1, (lock)) VPROF_STEP(k2, k1->p), *k2, }})");
  CHECK(*text("*arg:0") == "VPROF_VIA(0, VPROF_STEP(k1, (lock)), *k1, })");
  CHECK(*text("thread") == "VPROF_THREAD_KEY");
  CHECK_FALSE(text("arg:2"));
  CHECK(text("arg:2").error().message.find("2 parameters") != std::string::npos);
  CHECK_FALSE(text("this"));
}

TEST_CASE("values that could have an effect or make no sense are refused") {
  for (const char* value : {"arg", "arg:x", "arg:0(1)", "arg:0->f()", "arg:0 + 1", "",
                            "arg:0;abort()", "result", "threads", "*thread", "thread->x", "**arg:0",
                            "arg:0->", "arg:0.", "arg:0[]", "arg:0[1", "arg:0x"}) {
    const Result<Plan> plan = plan_with_object(value);
    INFO(value);
    REQUIRE_FALSE(plan);
    CHECK(plan.error().message.find("is not a value") != std::string::npos);
  }
}

TEST_CASE("the error for a damaged plan is one line with the name of the file") {
  for (
      const char* text :
      {"", "{", "[]", R"({"sync":[{"index":0}]})",
       R"({"sync":[{"index":0,"role":"enqueue","function":"f","object":"arg:0"}]})",
       R"({"intervals":[{"index":0,"name":"x","begin":[{"function":"f","key":"arg:0","at":"noon"}]}]})"}) {
    const Result<Plan> plan = plan_of(text);
    INFO(text);
    REQUIRE_FALSE(plan);
    CHECK(plan.error().message.find("vprof-test-plan-") != std::string::npos);
    CHECK(plan.error().message.find('\n') == std::string::npos);
  }
}

TEST_CASE("a plan survives a round trip") {
  const std::string text = R"({"all": false, "demoted": ["a.c:1:2"], "exclude": ["x*"],
    "expanded": ["f@a.c:1"], "measured": [], "schema": 1, "armed": true, "cxx_twins_from": 300,
    "intervals": [
      {"index": 0, "name": "all of f", "function": "f@a.c:1"},
      {"index": 1, "name": "points",
       "begin": [{"function": "f", "at": "entry", "key": "arg:0"}],
       "end": [{"function": "g", "at": "exit", "key": "*arg:0->conn"}],
       "switch": [{"function": "h", "at": "entry", "key": "thread"}],
       "label": [{"function": "f", "at": "entry", "value": "arg:1->name"},
                 {"function": "g", "at": "entry", "value": "arg:1", "key": "arg:0"}]}],
    "sync": [
      {"index": 0, "role": "acquire", "function": "lock", "object": "this", "shared": true},
      {"index": 1, "role": "dequeue", "function": "pop", "task": "return"}]})";
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("vprof-test-plan-" + std::to_string(::getpid()) + ".json"))
                               .string();
  const Result<Plan> plan = plan_of(text);
  REQUIRE(plan);
  REQUIRE(save_plan(*plan, path));
  std::ifstream file(path);
  CHECK(nlohmann::json::parse(file) == nlohmann::json::parse(text));
  std::filesystem::remove(path);
}
