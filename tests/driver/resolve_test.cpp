#include "config/resolve.h"

#include <catch2/catch.hpp>

#include "program_fixture.h"

using namespace vprof;
using namespace vprof::driver;
using Catch::Contains;
using vprof::test::program;

namespace {

Config config_of(const std::string& intervals) {
  const std::string text = R"({"source": "/", "build": "b", "run": "r", )" + intervals + "}";
  const auto config = parse_config(text, "vprof.json");
  INFO((config ? "" : config.error().message));
  REQUIRE(config);
  return *config;
}

std::string error_of(const std::string& intervals) {
  const auto targets = resolve(config_of(intervals), program());
  return targets ? "" : targets.error().message;
}

}  // namespace

TEST_CASE("names become keys and roots") {
  const auto targets = resolve(config_of(R"("intervals": {"name": "r", "function": "handle"},
                                            "sync": {"acquire": {"function": "store"}})"),
                               program());
  REQUIRE(targets);
  CHECK(targets->intervals[0].function == "handle@a.c:10");
  CHECK(targets->intervals[0].index == 0);
  CHECK(targets->sync[0].function == "store@b.c:5");
  CHECK(targets->sync[0].object->text == "arg:0");
  // `worker` calls the annotations.
  CHECK(targets->roots == std::vector<std::string>{"handle@a.c:10", "worker@c.c:7"});
  CHECK(targets->warnings.empty());
}

TEST_CASE("an interval that spans functions") {
  const auto targets =
      resolve(config_of(R"("intervals": {"begin": {"function": "parse", "key": "arg:0"},
      "end": {"function": "store", "key": "arg:1"}, "label": {"function": "parse", "value": "arg:2"},
      "trace_context": {"function": "parse", "value": "arg:3"}})"),
              program());
  REQUIRE(targets);
  const auto& interval = targets->intervals[0];
  REQUIRE(interval.begin.size() == 1);
  CHECK(interval.begin[0].function == "parse@a.c:1");
  CHECK(interval.begin[0].at == instrumenter::At::kEntry);
  CHECK(interval.begin[0].key.text == "arg:0");
  CHECK(interval.end[0].at == instrumenter::At::kExit);
  CHECK(interval.labels[0].value.text == "arg:2");
  CHECK(interval.trace_contexts.at(0).value.text == "arg:3");
  CHECK(interval.switches.empty());
}

TEST_CASE("an unknown name gets suggestions with their location") {
  CHECK_THAT(error_of("\n\"intervals\": {\"function\": \"handel\"}"),
             Contains("vprof.json:2: function \"handel\" is not in the program; did you mean "
                      "\"handle\" (a.c:10)"));
}

TEST_CASE("an ambiguous name gets its candidates") {
  const std::string error = error_of("\"intervals\": {\"function\": \"helper\"}");
  CHECK_THAT(error, Contains("ambiguous") && Contains("helper@a.c:3") && Contains("helper@b.c:3"));
  CHECK(error_of("\"intervals\": {\"function\": \"helper@b.c:3\"}").empty());
}

TEST_CASE("a function of a library cannot be an interval") {
  CHECK_THAT(error_of("\"intervals\": {\"function\": \"log\"}"),
             Contains("not defined in the source tree"));
}

TEST_CASE("a function of a library cannot be a lock or a queue of the program") {
  CHECK_THAT(error_of("\"intervals\": {\"function\": \"handle\"},\n"
                      "\"sync\": {\"acquire\": {\"function\": \"lock\"}}"),
             Contains("vprof.json:2: function \"lock\" is not defined in the source tree") &&
                 Contains("name a function that calls it"));
}

TEST_CASE("a function that nothing calls directly gets a warning") {
  const auto targets = resolve(config_of("\"intervals\": {\"function\": \"worker\"}"), program());
  REQUIRE(targets);
  REQUIRE(targets->warnings.size() == 1);
  CHECK_THAT(targets->warnings[0], Contains("worker") && Contains("c.c:7"));
  CHECK(resolve(config_of("\"intervals\": {\"function\": \"main\"}"), program())->warnings.empty());
}

TEST_CASE("a callback or a virtual method gets no warning") {
  vprof::instrumenter::Program taken = program();
  const std::string usr = "c:@F@worker";
  for (auto& function : taken.functions) {
    if (function.name == "worker") {
      function.usr = usr;
    }
  }
  taken.units.push_back({.file = "c.c", .deps = {}, .error = "", .address_taken = {usr}});
  const Config config = config_of("\"intervals\": {\"function\": \"worker\"}");
  CHECK(resolve(config, taken)->warnings.empty());
  taken.units.clear();
  CHECK(resolve(config, taken)->warnings.size() == 1);
  for (auto& function : taken.functions) {
    function.overrides = {"c:@S@Base@F@worker#"};
  }
  CHECK(resolve(config, taken)->warnings.empty());
}

TEST_CASE("a function of several programs gets no warning if one of that name is called") {
  vprof::instrumenter::Program program;
  program.functions = {vprof::test::function("handle@lib/a.c:1", {}),
                       vprof::test::function("handle@src/a.c:1", {}),
                       vprof::test::function("main@lib/main.c:9", {"handle@lib/a.c:1"})};
  program.functions[0].usr = program.functions[1].usr = "c:@F@handle";
  program.finish();
  const Config config = config_of("\"intervals\": {\"function\": \"handle@src/a.c\"}");
  CHECK(resolve(config, program)->warnings.empty());
  program.functions[1].usr = "c:a.c@F@handle";  // static: another one
  CHECK(resolve(config, program)->warnings.size() == 1);
}

TEST_CASE("a program without any interval") {
  vprof::instrumenter::Program bare;
  bare.functions = {vprof::test::function("main@a.c:1", {})};
  bare.finish();
  const auto targets = resolve(config_of("\"jobs\": 1"), bare);
  REQUIRE_FALSE(targets);
  CHECK_THAT(targets.error().message, Contains("intervals") && Contains("vprof_begin"));
}

TEST_CASE("keys follow functions that move") {
  CHECK(follow_edits({"handle@a.c:99", "store@b.c:5", "gone@x.c:1"}, program()) ==
        std::vector<std::string>{"handle@a.c:10", "store@b.c:5"});
}

TEST_CASE("the fingerprint covers only what a search depends on") {
  const std::string base = fingerprint(config_of("\"intervals\": {\"function\": \"handle\"}"));
  CHECK(base == fingerprint(config_of("\n\"intervals\": {\"function\": \"handle\"}, \"jobs\": 7")));
  CHECK(base != fingerprint(config_of("\"intervals\": {\"function\": \"store\"}")));
  CHECK(base !=
        fingerprint(config_of("\"intervals\": {\"function\": \"handle\"}, \"exclude\": [\"x\"]")));
}
