#include "config/config.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "config/located_json.h"
#include "temporary.h"
#include "vprof/support/text.h"

using namespace vprof;
using namespace vprof::driver;
using Catch::Matchers::Contains;
using vprof::test::Temporary;

namespace {

const Temporary& project() {
  static const Temporary directory;
  return directory;
}

Result<Config> parse(const std::string& text) {
  return parse_config(text, project() / "vprof.json");
}

/// A configuration with the required keys and `rest`, which starts on line 2.
Result<Config> with(const std::string& rest) {
  return parse("{\"build\": \"make\", \"run\": \"./run\",\n" + rest + "}");
}

std::string error_of(const Result<Config>& config) { return config ? "" : config.error().message; }

std::string page(const std::string& name) {
  return vprof::test::read(std::string(VPROF_DOCS) + "/" + name);
}

/// The complete configurations on a page of the documentation.
std::vector<std::string> configurations(const std::string& name) {
  const std::string text = page(name);
  const std::string fence = "```jsonc\n";
  std::vector<std::string> all;
  for (size_t at = text.find(fence + "{"); at != std::string::npos;
       at = text.find(fence + "{", at + 1)) {
    const size_t begin = at + fence.size();
    all.push_back(text.substr(begin, text.find("```", begin) - begin));
  }
  return all;
}

}  // namespace

TEST_CASE("a full configuration is read") {
  const auto config = parse(R"({
    // comments are allowed
    "$schema": "vprof.schema.json",
    "source": "sub/..", "configure": "./configure", "build": "make",
    "run": "./load /* not a comment */",
    "env": {"A": "1"}, "compile_commands": "build/compile_commands.json",
    "intervals": [
      {"name": "whole", "function": "handle"},
      {"name": "parts",
       "begin": {"function": "f", "key": "arg:0"},
       "end": [{"function": "g", "at": "entry", "key": "arg:0->conn"}, {"function": "h", "key": "return"},
               {"function": "i", "key": "thread"}],
       "switch": {"function": "s", "key": "*arg:1"},
       "label": {"function": "f", "value": "arg:1->names[0].text"},
       "trace_context": [{"function": "f", "value": "arg:1->traceparent"}]}],
    "sync": {"acquire": {"function": "Lock"}, "release": [{"function": "Unlock", "object": "arg:1", "shared": true}],
             "enqueue": {"function": "push", "task": "arg:1"}, "dequeue": {"function": "pop"}},
    "factors": {"k": 5, "threshold": 0.1, "specificity": "cubic", "dominance": 0.8},
    "record": {"leave_out": ["timer", "child"], "ring_mb": 64, "max_mb": 512},
    "exclude": ["third_party/*"], "max_iterations": 4, "jobs": 2})");
  REQUIRE(error_of(config) == "");
  CHECK(config->source == project().path());
  CHECK(config->run == "./load /* not a comment */");
  CHECK(config->env.at("A") == "1");
  REQUIRE(config->intervals.size() == 2);
  CHECK(config->intervals[0].function == "handle");
  CHECK(config->intervals[1].begin[0].at == "entry");
  CHECK(config->intervals[1].end[0].at == "entry");
  CHECK(config->intervals[1].end[1].at == "exit");
  CHECK(config->intervals[1].end[2].value == "thread");
  CHECK(config->intervals[1].label[0].value == "arg:1->names[0].text");
  REQUIRE(config->intervals[1].trace_context.size() == 1);
  CHECK(config->intervals[1].trace_context[0].value == "arg:1->traceparent");
  REQUIRE(config->sync.size() == 4);
  CHECK(config->sync[0].value == "arg:0");
  CHECK_FALSE(config->sync[0].shared);
  CHECK(config->sync[1].shared);
  CHECK(config->sync[3].value == "return");
  CHECK(config->factors.k == 5);
  CHECK(config->factors.threshold == 0.1);
  CHECK(config->factors.specificity == vprof::analyzer::Specificity::kCubic);
  CHECK(config->exclude == std::vector<std::string>{"third_party/*"});
  CHECK(config->leave_out == std::vector<std::string>{"timer", "child"});
  CHECK(config->ring_mb == 64);
  CHECK(config->max_mb == 512);
  CHECK(config->max_iterations == 4);
  CHECK(config->jobs == 2);
}

TEST_CASE("optional keys have defaults") {
  const auto config = with("\"intervals\": {\"function\": \"ns::handle\"}");
  REQUIRE(error_of(config) == "");
  CHECK(config->intervals[0].name == "ns::handle");
  CHECK(config->factors.k == 3);
  CHECK(config->max_iterations == 0);
  CHECK(config->jobs >= 1);
}

TEST_CASE("each mistake gets one line with its location and a remedy") {
  const auto check = [](const Result<Config>& config, const std::string& line,
                        const std::string& words) {
    const std::string error = error_of(config);
    INFO(error);
    CHECK_THAT(error, Contains("vprof.json:" + line + ":") && Contains(words));
    CHECK(error.find('\n') == std::string::npos);
  };
  check(with("\"intervls\": []"), "2", "key \"intervls\" is unknown; did you mean \"intervals\"?");
  check(with("\"zzzzzzzzz\": 1"), "2", "may have");
  check(with("\n\"jobs\": \"two\""), "3", "\"jobs\" must be a number, not a string");
  check(with("\"jobs\": 0"), "2", "must be between 1 and 1024");
  check(with("\"jobs\": 1.5"), "2", "whole number");
  check(with("\"env\": []"), "2", "\"env\" must be an object");
  check(with("\"env\": {\"A\": 1}"), "2", "\"A\" in \"env\" must be a string");
  check(with("\"exclude\": [1]"), "2", "must be a list of strings");
  check(with("\"record\": {\"leave_out\": [\"mutx\"]}"), "2", "did you mean \"mutex\"?");
  check(with("\"record\": {\"ring_mb\": -1}"), "2", "must be between 0 and");
  check(with("\"source\": \"nowhere\""), "2", "does not exist");
  check(with("\"build\": \"make again\""), "2", "appears twice");
  check(with("\"factors\": {\"threshold\": 5}"), "2", "must be between 0 and 1");
  check(with("\"factors\": {\n\"specifity\": \"cubic\"}"), "3", "did you mean \"specificity\"?");
  check(with("\"factors\": {\"specificity\": \"quartic\"}"), "2", "\"quartic\"");
  check(with("\"intervals\": [\n{\"name\": \"a\"}]"), "3", "needs a \"function\"");
  check(with("\"intervals\": [\n7]"), "3", "an interval must be an object");
  check(with("\"intervals\": [{\"function\": \"f\"},\n{\"function\": \"f\"}]"), "3",
        "two intervals");
  check(with("\"intervals\": [{\"function\": \"f\", \"begin\": {\"function\": \"g\", \"key\": "
             "\"arg:0\"}}]"),
        "2", "not both");
  check(with("\"intervals\": [{\"begin\": {\"function\": \"g\"}, \"end\": []}]"), "2",
        "key \"key\" is missing");
  check(with("\"intervals\": [{\"begin\": {\"function\": \"g\", \"key\": \"arg0\"}}]"), "2",
        "not \"arg0\"");
  for (const std::string value : {"**arg:0", "arg:0x", "arg:0->", "arg:0[1", "return.", "that"}) {
    check(
        with(fmt::format(R"("intervals": [{{"begin": {{"function": "g", "key": "{}"}}}}])", value)),
        "2", "not \"" + value + "\"");
  }
  check(with("\"intervals\": [{\"label\": {\"function\": \"g\", \"value\": \"thread\"}}]"), "2",
        "not \"thread\"");
  check(with("\"sync\": {\"aquire\": []}"), "2", "did you mean \"acquire\"?");
  check(with("\"sync\": {\"acquire\": {\"function\": \"f\", \"shared\": 1}}"), "2",
        "must be true or false");
  check(with("\"sync\": {\"enqueue\": {\"function\": \"push\"}}"), "2", "key \"task\" is missing");
  check(with("\"sync\": {\"acquire\": {\"object\": \"arg:0\"}}"), "2",
        "key \"function\" is missing");
  check(parse("{\n\"run\": \"x\"}"), "1", "key \"build\" is missing");
  check(parse("{\"build\": \"\", \"run\": \"x\"}"), "1", "must not be empty");
  check(parse("[]"), "1", "must be an object");
  check(parse("{\n  \"build\": \"make\"\n  \"run\": \"x\"}"), "3:7", "malformed JSON");
  check(parse(""), "1:1", "malformed JSON");
  check(with("\"jobs\": 1e999"), "2", "malformed JSON: number overflow");
}

TEST_CASE("a missing file says how to make one") {
  CHECK_THAT(error_of(load_config(project() / "none.json")), Contains("vprof init"));
}

TEST_CASE("values are located past comments and strings") {
  const auto json = parse_located_json(
      "{\n// \"a\": 1\n\"a\": /* \n */ {\"b\\\"\": [1,\n2\n,\n{}, [\"x\",\ntrue\n]]},\n\"a\":\n3}");
  REQUIRE(json);
  CHECK(json->value["a"] == 3);
  const auto& lines = json->lines;
  CHECK(lines.at("") == 1);
  CHECK(lines.at("/a/b\"") == 4);
  CHECK(lines.at("/a/b\"/0") == 4);
  CHECK(lines.at("/a/b\"/1") == 5);
  CHECK(lines.at("/a/b\"/2") == 7);
  CHECK(lines.at("/a/b\"/3/0") == 7);
  CHECK(lines.at("/a/b\"/3/1") == 8);
  CHECK(lines.at("/a") == 10);
  CHECK(json->duplicate == "/a");
}

TEST_CASE("malformed JSON is an error with its position") {
  for (const char* text :
       {"", "{", "[", "[}", "{\"a\"", "{,,,}", "[1,]", "\"", "{\"a\":}", "/*", "//", "1e999"}) {
    INFO(text);
    const auto json = parse_located_json(text);
    REQUIRE_FALSE(json);
    CHECK_THAT(json.error().message, Contains("1:") && Contains("malformed JSON: "));
  }
  CHECK_FALSE(parse_located_json(std::string(100'000, '[')));
  const std::string deep = std::string(200, '[') + std::string(200, ']');
  CHECK_THAT(parse_located_json(deep).error().message, Contains("more than 100 levels deep"));
  CHECK_THAT(parse_located_json("{\n\n  \"a\": x}").error().message, Contains("3:8: malformed"));
}

TEST_CASE("similar names are suggested") {
  CHECK(edit_distance("abc", "abc") == 0);
  CHECK(edit_distance("abc", "acb") == 1);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(nearest("thresold", {"k", "threshold"}) == "threshold");
  CHECK(nearest("something", {"k", "threshold"}).empty());
  CHECK(listed({"a", "b", "c"}) == "a, b and c");
  CHECK(listed({"a", "b"}, "or") == "a or b");
}

TEST_CASE("docs/configuration.md has every key") {
  const std::string text = page("configuration.md");
  REQUIRE(!text.empty());
  for (const std::string& key : known_keys()) {
    INFO(key);
    CHECK(text.find("`" + key + "`") != std::string::npos);
  }
}

TEST_CASE("docs/configuration.md has only known keys and valid examples") {
  const std::string text = page("configuration.md");
  const auto keys = known_keys();
  // Every row of a table of keys starts with the key.
  for (size_t at = text.find("\n| `"); at != std::string::npos; at = text.find("\n| `", at + 1)) {
    const size_t begin = at + 4;
    const std::string key = text.substr(begin, text.find('`', begin) - begin);
    INFO(key);
    CHECK(std::find(keys.begin(), keys.end(), key) != keys.end());
  }
  const auto examples = configurations("configuration.md");
  CHECK(examples.size() >= 2);
  for (const std::string& example : examples) {
    INFO(example);
    CHECK(error_of(parse(example)) == "");
  }
}

TEST_CASE("configurations in the guides are valid") {
  size_t count = 0;
  for (const char* name : {"how-to.md", "getting-started.md"}) {
    for (const std::string& example : configurations(name)) {
      INFO(example);
      CHECK(error_of(parse(example)) == "");
      ++count;
    }
  }
  CHECK(count >= 6);
}

namespace {

using nlohmann::json;

/// Collects the keys of an object schema with dots, `$ref` and `oneOf` resolved. Every key must
/// have a description.
void collect_keys(const json& root, const json& schema, const std::string& prefix,
                  std::set<std::string>& keys) {
  if (schema.contains("$ref")) {
    const auto target = schema["$ref"].get<std::string>().substr(1);  // without `#`
    return collect_keys(root, root.at(json::json_pointer(target)), prefix, keys);
  }
  for (const json& alternative : schema.value("oneOf", json::array())) {
    collect_keys(root, alternative, prefix, keys);
  }
  if (schema.contains("items")) {
    collect_keys(root, schema["items"], prefix, keys);
  }
  const json properties = schema.value("properties", json::object());
  for (const auto& [key, value] : properties.items()) {
    INFO(prefix + key);
    CHECK(value.value("description", "") != "");
    keys.insert(prefix + key);
    collect_keys(root, value, prefix + key + ".", keys);
  }
}

}  // namespace

TEST_CASE("the JSON Schema has the keys of the reader") {
  const json schema = json::parse(vprof::test::read(VPROF_SCHEMAS "/vprof.schema.json"));
  std::set<std::string> keys;
  collect_keys(schema, schema, "", keys);
  const auto known = known_keys();
  CHECK(keys == std::set<std::string>(known.begin(), known.end()));
  CHECK(schema["definitions"]["waitKind"]["enum"].get<std::set<std::string>>() == [] {
    const auto kinds = vprof::analyzer::wait_class_names();
    return std::set<std::string>(kinds.begin(), kinds.end());
  }());
}
