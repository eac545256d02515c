// The data of the HTML page. tests/html tests the page itself in a browser.
#include <catch2/catch.hpp>

#include "exports/wait_spans.h"
#include "vprof/report/html.h"

using namespace vprof;
using analyzer::NodeKind;
using analyzer::TimelinePiece;

namespace {

TimelinePiece piece(int64_t from, int64_t to, uint32_t thread, std::vector<std::string> path,
                    std::vector<NodeKind> kinds) {
  return {from, to, 7, thread, "t" + std::to_string(thread), std::move(path), std::move(kinds)};
}

constexpr auto kFn = NodeKind::kFunction;

/// Thread 1 waits for thread 2, which itself waits for thread 3.
std::vector<TimelinePiece> convoy() {
  return {
      piece(0, 10, 1, {"r", "f", "own"}, {kFn, kFn, NodeKind::kBody}),
      piece(10, 20, 2, {"r", "f", "wait(m)", "g"}, {kFn, kFn, NodeKind::kWait, NodeKind::kBlame}),
      piece(20, 50, 3, {"r", "f", "wait(m)", "g", "wait(s)", "h"},
            {kFn, kFn, NodeKind::kWait, NodeKind::kBlame, NodeKind::kWait, NodeKind::kBlame}),
      piece(50, 60, 2, {"r", "f", "wait(m)", "g"}, {kFn, kFn, NodeKind::kWait, NodeKind::kBlame}),
      piece(60, 65, 1, {"r", "f", "wait(m)", "wake-up(m)"},
            {kFn, kFn, NodeKind::kWait, NodeKind::kBody}),
      piece(65, 80, 1, {"r", "f", "own"}, {kFn, kFn, NodeKind::kBody})};
}

report::HtmlReport page_of(analyzer::Node tree) {
  report::HtmlReport page;
  page.title = "t";
  page.profile.tree = std::move(tree);
  page.profile.interval.count = 10;
  return page;
}

}  // namespace

TEST_CASE("html: no data can end its element") {
  const nlohmann::json hostile = {"</script>", "<!--", "a\u2028b\u2029", "x & y", "\xff"};
  const std::string text = report::json_for_script(hostile);
  for (const char* bad : {"<", ">", "&", "\u2028", "\u2029", "\xff"}) {
    CAPTURE(bad);
    CHECK(text.find(bad) == std::string::npos);
  }
  const auto back = nlohmann::json::parse(text);
  CHECK(back[0] == "</script>");
  CHECK(back[2] == "a\u2028b\u2029");
}

TEST_CASE("html: of a long function, the costliest calls keep their lines") {
  report::SourceText source;
  source.costed = true;
  report::AnnotatedFunction& function = source.function;
  function.file = "a.c";
  function.first = 1000;
  function.lines.resize(5000, "x");
  function.lines[4999] = "last";
  for (uint32_t line = 1100; line < 5900; line += 100) {
    analyzer::CallCost& call = function.costs.sites.emplace_back();
    call.callee = "f" + std::to_string(line);
    call.file = "a.c";
    call.line = line;
    call.calls = 1;
    call.cost = {.count = 1, .mean_ns = 1, .share = line * 1e-4};
  }
  report::HtmlReport page = page_of({});
  page.sources = {source};
  const nlohmann::json data = report::html_data(page)["sources"][0];
  size_t lines = 0;
  for (const auto& part : data["parts"]) {
    lines += part["lines"].size();
  }
  CHECK(lines == 120);
  CHECK(data["parts"][0]["first"] == 1000);
  CHECK(data["parts"].back()["first"] == 5796);  // the largest share, with 4 lines on each side
  CHECK(data["parts"].back()["lines"].size() == 9);
  CHECK(data["last"] == 6000);
  CHECK(data["calls"].size() + data["rest"].size() == function.costs.sites.size());
  for (const auto& call : data["calls"]) {
    CHECK(call[0].get<int>() >= 4600);
  }
}

TEST_CASE("html: a wait belongs to the thread that waited") {
  const auto spans = report::wait_spans(convoy());
  REQUIRE(spans.size() == 2);
  CHECK(spans[0].name == "wait(s)");  // inner ones first
  CHECK(spans[0].thread == 2);        // what follows it
  CHECK(spans[0].from_ns == 20);
  CHECK(spans[0].to_ns == 50);
  CHECK(spans[1].name == "wait(m)");
  CHECK(spans[1].thread == 1);
  CHECK(spans[1].from_ns == 10);
  CHECK(spans[1].to_ns == 65);
}

TEST_CASE("html: a long timeline is cut and stays without gaps") {
  report::SelectedTimeline shown;
  shown.why = "slowest";
  int64_t now = 0;
  for (int i = 0; i < 5000; ++i) {
    const int64_t took = i % 50 == 0 ? 1000 : 1 + i % 7;
    shown.timeline.pieces.push_back(
        piece(now, now + took, 1, {"r", "f" + std::to_string(i % 3)}, {kFn, kFn}));
    now += took;
  }
  shown.timeline.latency_ns = now;
  report::PageTimelines timelines;
  timelines.add(0, shown);
  const nlohmann::json made = timelines.all().at(0);
  const auto& pieces = made["pieces"];
  CHECK(pieces.size() <= 401);
  CHECK(pieces.size() > 90);
  CHECK(made["cut"] == 5000 - pieces.size());
  int64_t at = 0;
  for (const auto& one : pieces) {
    CHECK(one[0] == at);
    at = one[1];
  }
  CHECK(at == now);
}

TEST_CASE("html: the data of a node are bounded") {
  analyzer::Node root;
  root.function = "r";
  for (uint32_t i = 0; i < 100; ++i) {
    root.children.emplace_back().function = "c" + std::to_string(i);
    for (uint32_t j = 0; j < i; ++j) {
      root.covariances.push_back({j, i, 1.0, 0.001 * i});
    }
  }
  const nlohmann::json data = report::html_data(page_of(root));
  REQUIRE(data["nodes"]["parent"].size() == 101);
  const nlohmann::json& pairs = data["nodes"]["pairs"];
  REQUIRE(pairs.size() == 1);  // the root's
  CHECK(pairs[0][0] == 0);
  CHECK(pairs[0][1].size() == 24);
  CHECK(pairs[0][2] == 100 * 99 / 2 - 24);
  CHECK(pairs[0][1][0] == nlohmann::json({1, 100, 0.099}));
}

TEST_CASE("html: details of another profile are not shown") {
  analyzer::Node root;
  root.function = "r";
  analyzer::Details details;
  details.count = 11;
  details.nodes.resize(1);
  details.bins = {{1, 2, 11}};
  report::HtmlReport page = page_of(root);
  page.details = details;
  CHECK(report::html_data(page)["bins"].empty());
  CHECK(report::html_data(page)["notes"].size() == 1);
  page.details->count = 10;
  CHECK(report::html_data(page)["bins"].size() == 1);
  CHECK(report::html_data(page)["notes"].empty());
}

TEST_CASE("html: a factor within itself counts once") {
  analyzer::Node inner;
  inner.function = "f";
  inner.function_key = "f@a.c:1";
  analyzer::Node outer = inner;
  analyzer::Node wait;
  wait.kind = NodeKind::kWait;
  wait.function = "wait(m)";
  wait.children = {inner};
  outer.children = {wait};
  analyzer::Node root;
  root.function = "r";
  root.children = {outer};
  report::HtmlReport page = page_of(root);
  analyzer::Factor factor;
  factor.rank = 1;
  factor.functions = {"f"};
  factor.keys = {"f@a.c:1"};
  page.profile.factors = {factor};
  analyzer::Details details;
  details.count = 10;
  details.nodes.resize(4);
  details.sampled = {{5, 0, 0, 0, 100, "", {{0, 100}, {1, 90}, {2, 60}, {3, 50}}}};
  details.labels.resize(1);
  page.details = details;
  const nlohmann::json data = report::html_data(page);
  CHECK(data["factors"][0]["nodes"] == nlohmann::json({1, 3}));
  const size_t column = data["factors"][0]["columns"][0];
  CHECK(data["intervals"][0][4][column] == 90);
  CHECK(data["intervals"][0][0] == "5");
}

TEST_CASE("html: a place is a number of the tree, unless two children have its name") {
  const auto child = [](const char* name, const char* site) {
    analyzer::Node node;
    node.function = name;
    node.location = site;
    return node;
  };
  analyzer::Node root;
  root.function = "r";
  root.children = {child("f", "a.c:1"), child("g", "a.c:2"), child("g", "b.c:3")};
  report::HtmlReport page = page_of(root);
  analyzer::Factor factor;
  factor.rank = 1;
  factor.functions = {"g"};
  factor.keys = {""};
  factor.instances = {{{"r", "g"}, "b.c:3", 0.5, false, 0.5, false},
                      {{"r", "h"}, "c.c:4", 0.1, true, 0.1, true}};
  page.profile.factors = {factor};
  report::SelectedTimeline shown;
  shown.timeline.pieces = {piece(0, 10, 1, {"r", "f"}, {kFn, kFn}),
                           piece(10, 20, 1, {"r", "g"}, {kFn, kFn}),
                           piece(20, 30, 1, {"r", "f", "gone"}, {kFn, kFn, kFn})};
  page.timelines.add(0, shown);
  const nlohmann::json data = report::html_data(page);
  const nlohmann::json& instances = data["factors"][0]["instances"];
  CHECK(instances[0]["node"] == 3);
  CHECK_FALSE(instances[0].contains("path"));
  CHECK_FALSE(instances[1].contains("node"));
  CHECK(instances[1]["path"] == nlohmann::json({"r", "h"}));
  CHECK(instances[1]["dominated"] == true);
  const nlohmann::json places = {{0, "r", "function", 0},
                                 {1, "f", "function", 1},
                                 {1, "g", "function", -1},
                                 {2, "gone", "function", -1}};
  CHECK(data["places"] == places);
  CHECK(data["timelines"][0]["pieces"][2] == nlohmann::json({20, 30, 0, 4}));
}

TEST_CASE("html: numbers are short, and ids are text") {
  analyzer::Node root;
  root.function = "r";
  root.share = 1;
  root.mean_ns = 1234.56789;
  root.variance_ns2 = 2;
  report::HtmlReport page = page_of(root);
  analyzer::Factor factor;
  factor.rank = 1;
  factor.functions = {"f"};
  factor.keys = {""};
  factor.share = 0.123456789;
  factor.worst = {{9'007'199'254'740'993, 18'446'744'073'709'551'615u, 10.04, 20}};
  page.profile.factors = {factor};
  const nlohmann::json data = report::html_data(page);
  CHECK(data["nodes"]["mean"][0] == 1234.6);
  CHECK(data["nodes"]["deviation"][0] == 1.4);
  CHECK(data["nodes"]["share"][0] == 1);
  CHECK(data["nodes"]["tail"][0].is_null());
  CHECK(data["factors"][0]["share"] == 0.123457);
  CHECK(data["factors"][0]["worst"][0] ==
        nlohmann::json({"9007199254740993", "18446744073709551615", 10, 20}));
}

TEST_CASE("html: of two timelines with the same order the last one stays") {
  report::PageTimelines timelines(2);
  report::SelectedTimeline shown;
  for (const char* name : {"f", "g"}) {
    shown.timeline.pieces = {piece(0, 10, 1, {"r", name}, {kFn, kFn})};
    timelines.add(3, shown);
  }
  REQUIRE(timelines.all().size() == 1);
  const size_t place = timelines.all().at(3)["pieces"][0][3];
  CHECK(timelines.places()[place].name == "g");
}
