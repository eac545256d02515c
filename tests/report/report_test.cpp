#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "text/layout.h"
#include "vprof/analyzer/marks.h"
#include "vprof/analyzer/overhead.h"
#include "vprof/report/annotate.h"
#include "vprof/report/factor_words.h"
#include "vprof/report/json.h"
#include "vprof/report/report.h"
#include "vprof/support/json.h"

using namespace vprof;
using namespace vprof::analyzer;

namespace {

Node make_node(NodeKind kind, const std::string& name, double contribution,
               std::vector<Node> children = {}) {
  Node node;
  node.kind = kind;
  node.function = name;
  node.contribution = node.share = contribution;
  node.tail_share = contribution;
  node.mean_ns = 1e6 * contribution;
  node.variance_ns2 = 1e12 * contribution;
  node.count = 7;
  node.children = std::move(children);
  return node;
}

Profile make_profile() {
  Profile p;
  p.interval = {"request", 12345,    3,
                2.1e6,     2.809e13, 5.3e6,
                1.9e6,     8.2e6,    40.1e6,
                50.2e6,    61.3e6,   {{"NewOrder", 10000, 2.0e6, 2e13}, {"", 2345, 2.5e6, 3e13}},
                0.031,     {},       {}};
  p.kinds = {{TimeKind::kSynchronization, 1.3e6, 0.631, {0.591, 0.671}},
             {TimeKind::kRunning, 0.7e6, 0.352, {0.313, 0.391}},
             {TimeKind::kIo, 0.1e6, 0.0171, {0.0171, 0.0171}},
             {TimeKind::kSleep, 10, -1e-4, {-2e-4, 1e-4}}};
  Node wait = make_node(NodeKind::kWait, "wait(pthread_mutex_lock)", 0.62,
                        {make_node(NodeKind::kBlame, "flush_log", 0.5),
                         make_node(NodeKind::kUntracked, "untracked(logger)", 0.1),
                         make_node(NodeKind::kBody, "wake-up(pthread_mutex_lock)", 0.02)});
  Node order = make_node(NodeKind::kFunction, "process_order", 0.9,
                         {std::move(wait), make_node(NodeKind::kFunction, "price", 0.2)});
  order.function_key = "process_order@src/worker.cpp:41";
  order.location = "src/worker.cpp:77";
  order.covariances = {{0, 1, 4e10, 0.08}};
  p.tree = make_node(NodeKind::kFunction, "request", 1.0, {std::move(order)});

  Factor first;
  first.rank = 1;
  first.functions = {"wait(pthread_mutex_lock)"};
  first.keys = {""};
  first.contribution = 0.62;
  first.ci95 = {0.58, 0.66};
  first.share = first.weight = 0.61;
  first.share_ci95 = {0.57, 0.65};
  first.tail_share = 0.8;
  first.specificity = 25;
  first.score = 15.5;
  first.instances = {{{"request", "process_order", "wait(pthread_mutex_lock)"}, "", 0.62, false}};
  Factor second = first;
  second.rank = 2;
  second.functions = {"process_order"};
  second.keys = {"process_order@src/worker.cpp:41"};
  second.definition = "src/worker.cpp:41";
  second.contribution = 0.2;
  second.weight = 0.2;
  second.status = FactorStatus::kExpandable;
  second.height = 3;
  second.instances = {{{"request", "process_order"}, "src/worker.cpp:77", 0.15, false},
                      {{"request", "retry", "process_order"}, "src/worker.cpp:99", 0.05, false},
                      {{"request", "other", "process_order"}, "src/worker.cpp:120", 0.3, true}};
  Factor third = first;
  third.rank = 3;
  third.kind = FactorKind::kCovariance;
  third.functions = {"price", "wait(pthread_mutex_lock)"};
  third.keys = {"", ""};
  third.contribution = third.weight = 0.03;
  third.tail_share.reset();
  third.status = FactorStatus::kLeaf;
  third.instances = {{{"request", "process_order"}, "src/worker.cpp:80", 0.03, false}};
  p.factors = {first, second, third};
  mark_factors(p);
  p.losses = {.dropped = 4,
              .torn = 1,
              .unreadable_bytes = 4096,
              .outside_waits = 300,
              .unknown_waits = 17,
              .inferred_edges = 5,
              .exact_edges = 20000,
              .notes = {"only 345 intervals: below 1000 the ranking may not hold"}};
  p.overhead = {.records = 1234567,
                .waits = 20322,
                .dropped = 4,
                .chunks = 80,
                .stalls = 2,
                .threads = 5,
                .record_ns = 16.4,
                .processor_ns = 0.4e9,
                .helper_ns = 5e6,
                .thread = "worker",
                .thread_records = 900000,
                .thread_ns = 0.2e9,
                .thread_passed_ns = 0.21e9,
                .groups = {{"", 0, 12345, 2.5e10, 1, 1200000},
                           {"", 1.7e7, 100, 4e9, 0.8, 90000000},
                           {"NewOrder", 0, 10000, 2e10, 0.3, 900000}},
                .baseline_mean_ns = 2.0e6,
                .mean_ratio = 1.08,
                .mean_ratio_ci95 = {1.06, 1.1},
                .median_ratio = 1.01,
                .variance_ratio = 1.3,
                .processor_ratio = 1.12};
  return p;
}

report::ReportContext make_context() {
  report::ReportContext context;
  report::Iteration first{.expanded = {"process_order"},
                          .sites = 12,
                          .build_s = 30.5,
                          .run_s = 10.0,
                          .mean_ns = 2.1e6,
                          .variance_ns2 = 2.8e13,
                          .mean_ratio = 1.12,
                          .variance_ratio = 1.4,
                          .selected = {},
                          .set_aside = {"price"},
                          .leading = {{.factor = "process_order", .contribution = 0.9}},
                          .demoted = 0};
  report::Iteration second{.expanded = {"reserve", "flush_log"},
                           .sites = 31,
                           .build_s = 3.25,
                           .run_s = 10.5,
                           .mean_ns = 2.1e6,
                           .variance_ns2 = 2.809e13,
                           .mean_ratio = 1.08,
                           .variance_ratio = 1.3,
                           .selected = {"wait(pthread_mutex_lock)"},
                           .set_aside = {},
                           .leading = {{.factor = "wait(pthread_mutex_lock)", .contribution = 0.62},
                                       {.factor = "process_order", .contribution = 0.2}},
                           .demoted = 1};
  context.iterations = {first, second};
  context.unwrapped = {{"nested in a macro", 3}, {"alloca", 1}};
  context.demoted = {
      {.function = "hash", .position = "src/h.c:7:12", .calls = 1234567, .cost = 0.041, .since = 2},
      {.function = "next", .position = "src/h.c:9:3", .calls = 800000, .cost = 0.02, .since = 3},
      {.function = "match",
       .key = "match@src/m.c:3",
       .position = "src/m.c:20:5",
       .calls = 900000,
       .cost = 0.5,
       .since = 3,
       .heavy_in = "intervals of more than 16.8 ms"}};
  context.overhead_budget = 0.05;
  return context;
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The expected text of a file; VPROF_UPDATE_GOLDEN=1 writes the actual one first.
std::string expected(const std::string& path, const std::string& actual) {
  if (std::getenv("VPROF_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << actual;
  }
  return read(path);
}

std::string golden(const std::string& name, const std::string& actual) {
  return expected(std::string(GOLDEN_DIR) + "/" + name, actual);
}

/// Where `now` lacks or changes something of `before`; empty: nowhere.
std::string first_difference(const nlohmann::json& before, const nlohmann::json& now) {
  if (!before.is_structured()) {
    return before == now ? "" : before.dump() + " became " + now.dump();
  }
  for (const auto& [key, value] : before.items()) {
    const bool found = before.is_array() ? std::stoul(key) < now.size() : now.contains(key);
    const std::string difference =
        !found ? "missing"
               : first_difference(value, before.is_array() ? now[std::stoul(key)] : now[key]);
    if (!difference.empty()) {
      return key + ": " + difference;
    }
  }
  return "";
}

/// The report with its ids as they are now: numbers until version 0.1.0.
nlohmann::json with_ids_as_texts(nlohmann::json report) {
  for (nlohmann::json& factor : report["factors"]) {
    for (const char* list : {"typical", "worst"}) {
      for (nlohmann::json& one : factor[list]) {
        for (const char* field : {"id", "key"}) {
          if (one.contains(field)) {
            one[field] = one[field].dump();
          }
        }
      }
    }
  }
  return report;
}

size_t widest(const std::string& text) {
  std::istringstream lines(text);
  size_t most = 0;
  for (std::string line; std::getline(lines, line);) {
    most = std::max(most, report::columns(line));
  }
  return most;
}

}  // namespace

TEST_CASE("the report, as a whole") {
  const std::string text = report::text(make_profile(), make_context(), {});
  CHECK(text == golden("report.txt", text));
}

TEST_CASE("the report says how the intervals compare with the run") {
  Profile p = make_profile();
  const auto text = [&p] { return report::text(p, make_context(), {200}); };
  CHECK(text().find(" a second; ") == std::string::npos);  // a merged profile
  p.interval.count = 3000;
  p.interval.max_ns = 20e6;
  p.overhead.run_ns = 2e9;
  p.overhead.working_threads = 4;
  p.overhead.working_ns = 6e9;
  p.overhead.present_ns = 8e9;
  CHECK(
      text().find("1,500 a second; 4 threads worked for them 75.0 % of the time; the longest took "
                  "1.0 % of the run") != std::string::npos);
  CHECK(text().find("see \"intervals\"") == std::string::npos);
  p.overhead.working_ns = 0.2e9;
  CHECK(text().find("begin too late or end too early") != std::string::npos);
  p.interval.max_ns = 1.9e9;
  CHECK(text().find("the life of the server") != std::string::npos);
}

TEST_CASE("the tree, as a whole") {
  const std::string text = report::tree_text(make_profile(), {}, 0.05);
  CHECK(text == golden("tree.txt", text));
}

TEST_CASE("the history, as a whole") {
  const std::string text = report::history_text(make_context().iterations, {});
  CHECK(text == golden("history.txt", text));
}

TEST_CASE("overhead: the budget is mentioned only when it is exceeded") {
  Profile p = make_profile();
  report::ReportContext context = make_context();
  context.demoted.clear();
  CHECK(report::text(p, context, {200}).find("the calls that vary little cost next to nothing") !=
        std::string::npos);
  p.overhead.records = p.overhead.thread_records = 10000;
  p.overhead.waits = 0;
  p.overhead.groups.clear();
  p.overhead.mean_ratio_ci95 = {1.04, 1.12};
  const std::string text = report::text(p, context, {200});
  CHECK(text.find("budget") == std::string::npos);
  CHECK(text.find("(1.04x to 1.12x)") != std::string::npos);
  p.overhead.baseline_mean_ns = 0;
  CHECK(report::text(p, context, {200}).find("Compared with the run") == std::string::npos);
}

TEST_CASE("overhead: system calls beyond the budget are no matter of the plan") {
  Profile p = make_profile();
  report::ReportContext context = make_context();
  context.demoted.clear();
  p.overhead.calls_ns = 70e6 / 3;
  p.overhead.timed_calls = 12000;
  const std::string text = report::text(p, context, {400});
  CHECK(text.find("ms for timing 12,000 calls and asking the kernel about the 20,322 waits and "
                  "preemptions among them,") != std::string::npos);
  CHECK(text.find("Timing calls and asking the kernel add 21.3 % by themselves, beyond the budget "
                  "of 5.0 %, and no "
                  "plan changes that.") != std::string::npos);
  p.overhead.calls_ns = 5e6;
  CHECK(report::text(p, context, {400}).find("by themselves") == std::string::npos);
}

TEST_CASE("overhead: what was measured in a live run comes with its interval") {
  Profile p = make_profile();
  const auto text = [&p] { return report::text(p, make_context(), {400}); };
  const auto added = [&p](double factor) {
    p.overhead.cost_factor = factor;
    return fmt::format("{:.1f} %", 100 * analyzer::program_cost(p.overhead));
  };
  CHECK(text().find("measured against the pauses") == std::string::npos);
  const std::string least = added(1);
  const std::string most = added(3);
  const std::string likely = added(2);
  p.overhead.cost_factor_ci95 = {1, 3};
  CHECK(text().find("add " + likely + " (" + least + " to " + most +
                    ", measured against the pauses) to the processor time of the program") !=
        std::string::npos);
}

TEST_CASE("kinds of time are listed, and small ones left out") {
  Profile p = make_profile();
  CHECK(report::text(p, {}, {}).find("synchronization 63.1 % ± 4.0   running 35.2 % ± 3.9   "
                                     "I/O 1.7 %\n") != std::string::npos);
  const nlohmann::json kinds = report::json(p, {}).at("kinds");
  REQUIRE(kinds.size() == 4);
  CHECK(kinds[2].at("kind") == "io");
  CHECK(kinds[3].at("share") == -1e-4);
  p.kinds.clear();
  CHECK(report::text(p, {}, {}).find("synchronization") == std::string::npos);
}

TEST_CASE("what intervals waited for the event loop before their begin is told") {
  Profile p = make_profile();
  CHECK(report::text(p, {}, {}).find("queue(event loop)") == std::string::npos);
  p.interval.loop_queue = {
      .begun = 12000, .waited = 3000, .mean_ns = 1.1e6, .p99_ns = 2.2e6, .share = 0.55};
  CHECK(report::text(p, {}, {200})
            .find("queue(event loop): before their begin, 3,000 of 12,000 waited for the loop, "
                  "which was "
                  "busy with others: mean 1.10 ms, p99 2.20 ms; not in the latency, would add 55.0 "
                  "% to "
                  "it") != std::string::npos);
  const nlohmann::json queue = report::json(p, {}).at("interval").at("loop_queue");
  CHECK(queue.at("begun") == 12000);
  CHECK(queue.at("waited") == 3000);
  CHECK(queue.at("mean_ns") == 1.1e6);
  CHECK(queue.at("p99_ns") == 2.2e6);
  CHECK(queue.at("share") == 0.55);
}

TEST_CASE("declared work and labels explain parts of a factor") {
  Profile p = make_profile();
  CHECK(report::text(p, {}, {}).find("explained by work") == std::string::npos);
  p.interval.work = {12000, 250, 8400, 0.4};
  p.factors[0].work_share = 0.25;
  p.factors[0].label_share = 0.03;
  p.factors[1].work_share = -0.2;
  const std::string text = report::text(p, {}, {.width = 200, .color = false});
  CHECK(text.find("work: 250 units on average, 8.40 us each; explains 40.0 % of the variance") !=
        std::string::npos);
  CHECK(text.find("; 25.0 % explained by work; 3.0 % explained by label") != std::string::npos);
  CHECK(text.find("; -20.0 % explained by work") != std::string::npos);
  const auto back = report::from_json(report::json(p, {}));
  REQUIRE(back);
  CHECK(report::text(back->first, {}, {.width = 200, .color = false}) == text);
}

TEST_CASE("no line is wider than the terminal") {
  for (int width = 40; width <= 200; width += 7) {
    CHECK(widest(report::text(make_profile(), make_context(), {width, false})) <=
          static_cast<size_t>(width));
    CHECK(widest(report::tree_text(make_profile(), {width, false}, 0)) <=
          static_cast<size_t>(width));
    CHECK(widest(report::history_text(make_context().iterations, {width, false})) <=
          static_cast<size_t>(width));
  }
}

TEST_CASE("colours change nothing but colours") {
  const std::string plain = report::text(make_profile(), make_context(), {80, false});
  std::string painted = report::text(make_profile(), make_context(), {80, true});
  CHECK(plain.find('\x1b') == std::string::npos);
  CHECK(painted.find('\x1b') != std::string::npos);
  for (size_t at = painted.find('\x1b'); at != std::string::npos; at = painted.find('\x1b')) {
    painted.erase(at, painted.find('m', at) + 1 - at);
  }
  CHECK(painted == plain);
}

TEST_CASE("marks are those of the analyzer, and what they explain together is said") {
  Profile p = make_profile();
  const auto text = [&p] {
    std::string wrapped = report::text(p, {}, {.width = 200, .color = false});
    return wrapped;
  };
  CHECK(text().find(">  1") != std::string::npos);
  CHECK(text().find(">  2") != std::string::npos);
  CHECK(text().find(">  3") == std::string::npos);
  CHECK(text().find("The 2 marked factors hold 90.0 % of the variance together; the other 10.0 % "
                    "is noise, or spread over many places") != std::string::npos);
  p.marked_share = 0.97;
  CHECK(text().find("little is left to explain") != std::string::npos);
  p.marked_share = 0.6;
  p.more_to_tell = true;
  CHECK(text().find("other factors reach 5 %, too") != std::string::npos);
  p.factors[1].marked = false;
  CHECK(text().find("The marked factor holds 60.0 % of the variance; ") != std::string::npos);
  p.factors[0].marked = false;
  CHECK(text().find("Nothing is marked: no factor makes up 5 %") != std::string::npos);
}

TEST_CASE("the list of factors shows what its order is made of") {
  const std::string text = report::text(make_profile(), {}, {.width = 200, .color = false});
  CHECK(text.find("score  kind") != std::string::npos);
  CHECK(text.find("61.0 % ± 4.0       15.5  variance") != std::string::npos);
  CHECK(text.find("counts 61.0 % × 25\n") != std::string::npos);
  CHECK(text.find("counts 20.0 % × 25, not explained below it") != std::string::npos);
}

TEST_CASE("blame is called what it is") {
  Profile p = make_profile();
  Factor& factor = p.factors[1];
  factor.functions = {"flush_log"};
  factor.instances = {
      {{"request", "process_order", "wait(pthread_mutex_lock)", "flush_log"}, "", 0.5, false, 0.5},
      {{"request", "flush_log"}, "", 0.4, true, 0.4}};
  CHECK(report::text(p, {}, {.width = 120, .color = false})
            .find("flush_log [blame of wait(pthread_mutex_lock)]") != std::string::npos);
  factor.instances[1].share = 0.6;  // most of it is no blame
  CHECK(report::blame_mark(factor).empty());
  factor.instances[1].share = 0;
  // What a wait takes itself is no blame, and nor is the wait.
  CHECK(report::blame_mark(p.factors[0]).empty());
  factor.functions = {"wake-up(pthread_mutex_lock)"};
  CHECK(report::blame_mark(factor).empty());
}

TEST_CASE("the other calls of a function, or uses of a macro, are named with their shares") {
  Profile p = make_profile();
  Factor& factor = p.factors[1];
  factor.functions = {"body(WITH_LATCH)"};
  factor.definition = "src/latch.h:12";
  const auto use = [](const char* caller, const char* place, double share) {
    Instance one;
    one.path = {"request", caller, "WITH_LATCH", "body(WITH_LATCH)"};
    one.location = place;
    one.share = share;
    return one;
  };
  factor.instances = {use("put", "src/a.c:9", 0.5), use("get", "src/b.c:70", 0.1),
                      use("drop", "src/b.c:90", 0.004), use("drop", "src/b.c:90", 0.03)};
  const std::string text = report::text(p, {}, {.width = 200, .color = false});
  CAPTURE(text);
  CHECK(text.find("body(WITH_LATCH)  src/latch.h:12") != std::string::npos);
  CHECK(text.find("> body(WITH_LATCH)  at src/a.c:9") != std::string::npos);
  CHECK(text.find("also at src/b.c:70 (10.0 %) and src/b.c:90 (3.4 %)") != std::string::npos);
}

TEST_CASE("the large places of a wait are named with their shares: they may be several causes") {
  Profile p = make_profile();
  Factor& factor = p.factors[1];
  factor.functions = {"wait(sleep)"};
  factor.definition = "";
  const auto below = [](const char* caller, double share) {
    Instance one;
    one.path = {"request", caller, "wait(sleep)"};
    one.share = share;
    return one;
  };
  factor.instances = {below("flush", 0.5), below("evict", 0.3), below("small", 0.04)};
  const auto shown = [&] { return report::text(p, {}, {.width = 200, .color = false}); };
  CHECK(shown().find("50.0 % in request > flush > wait(sleep)\n") != std::string::npos);
  CHECK(shown().find("30.0 % in request > evict > wait(sleep)\n") != std::string::npos);
  CHECK(shown().find("small") == std::string::npos);
  CHECK(shown().find("; in 1 more place") != std::string::npos);
  // Of one place, the share is that of the factor. What is explained below counts nothing.
  factor.instances[1].dominated = true;
  CHECK(shown().find("     request > flush > wait(sleep)\n") != std::string::npos);
  CHECK(shown().find("evict") == std::string::npos);
  CHECK(shown().find("; in 1 other place") != std::string::npos);
}

TEST_CASE("a function whose calls are not measured is not said to be on no critical path") {
  report::AnnotatedFunction function;
  function.name = "verify";
  function.recorded = true;
  function.costs.intervals = 100;
  function.costs.interval = "request";
  CHECK(report::notes_on_costs(function)[0] == "on no critical path of 100 intervals 'request'");
  function.why_calls_unmeasured = "demoted: called often";
  CHECK(report::notes_on_costs(function)[0] ==
        "calls of it are not measured (demoted: called often), so its time is in the functions "
        "that make them");
}

TEST_CASE("no location is cut, however deep the tree and narrow the terminal") {
  Profile p = make_profile();
  Node* deepest = &p.tree;
  std::vector<std::string> places;
  for (int depth = 0; depth < 30; ++depth) {
    places.push_back("src/some/component/file.cpp:" + std::to_string(1000 + depth));
    deepest->children = {make_node(NodeKind::kFunction, "vendor::component::Handler::step", 0.9)};
    deepest = &deepest->children[0];
    deepest->location = places.back();
  }
  deepest->children = {
      make_node(NodeKind::kFunction, "vendor::component::a_long_name_of_one", 0.5),
      make_node(NodeKind::kFunction, "vendor::component::a_long_name_of_two", 0.4)};
  deepest->covariances = {{0, 1, 1e10, 0.08}};
  for (const int width : {40, 60, 80, 120}) {
    const std::string text = report::tree_text(p, {width, false}, 0);
    CHECK(widest(text) <= static_cast<size_t>(width));
    for (const std::string& place : places) {
      CAPTURE(width, place);
      CHECK(text.find(place) != std::string::npos);
    }
    if (width >= 80) {  // names are cut in their middle
      CHECK(text.find("of_one") != std::string::npos);
      CHECK(text.find("with ve") != std::string::npos);
    }
  }
}

TEST_CASE("ASCII alone where the terminal has nothing else") {
  Profile p = make_profile();
  p.factors[0].functions = {"größe"};
  const report::TextOptions ascii{.width = 60, .color = false, .ascii = true};
  for (const std::string& text :
       {report::text(p, make_context(), ascii), report::tree_text(p, ascii, 0),
        report::history_text(make_context().iterations, ascii)}) {
    CAPTURE(text);
    CHECK(std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; }));
    CHECK(widest(text) <= 60);
  }
  const std::string text = report::text(p, {}, ascii);
  CHECK(text.find("############ ") != std::string::npos);
  CHECK(text.find("61.0 % +- 4.0") != std::string::npos);
}

TEST_CASE("ids of 64 bits are texts in report.json, and numbers are read as well") {
  constexpr uint64_t kId = (uint64_t{1} << 63) + 1;  // no double holds it
  Profile p = make_profile();
  p.factors[0].worst = {{.id = kId, .key = kId, .ns = 5, .latency_ns = 7}};
  nlohmann::json document = report::json(p, {});
  nlohmann::json& worst = document["factors"][0]["worst"][0];
  CHECK(worst["id"] == "9223372036854775809");
  CHECK(worst["key"] == "9223372036854775809");
  CHECK(report::from_json(document)->first.factors[0].worst[0].id == kId);
  worst["id"] = kId;  // as earlier versions have it
  CHECK(report::from_json(document)->first.factors[0].worst[0].id == kId);
  for (const nlohmann::json& bad : {nlohmann::json("12x"), nlohmann::json(""), nlohmann::json(-1),
                                    nlohmann::json("18446744073709551616"), nlohmann::json(1.5)}) {
    worst["id"] = bad;
    const auto result = report::from_json(document);
    REQUIRE(!result);
    CHECK(result.error().message.find("worst/0/id: must be a text of digits") != std::string::npos);
  }
}

TEST_CASE("what a wait waited for: a wait inside it, by the thread it waited for, counts once") {
  using namespace analyzer;
  const auto node = [](const char* name, NodeKind kind, double share) {
    Node made;
    made.function = name;
    made.kind = kind;
    made.share = share;
    return made;
  };
  Profile p = make_profile();
  Node inner = node("wait(pthread_cond_wait)", NodeKind::kWait, 0.9);
  Node outer = node("wait(pthread_cond_wait)", NodeKind::kWait, 1);
  outer.children = {inner, node("flush", NodeKind::kBlame, 0.1)};
  p.tree = node("request", NodeKind::kFunction, 1);
  p.tree.children = {outer};
  Factor factor;
  factor.functions = {"wait(pthread_cond_wait)"};
  factor.share = factor.weight = factor.contribution = 1;
  factor.instances = {{.path = {"request", "wait(pthread_cond_wait)"}, .location = "", .share = 1},
                      {.path = {"request", "wait(pthread_cond_wait)", "wait(pthread_cond_wait)"},
                       .location = "",
                       .share = 0.9,
                       .nested = true}};
  p.factors = {factor};
  const std::string text = report::text(p, {}, {});
  CAPTURE(text);
  CHECK(text.find("waited for: wait(pthread_cond_wait) 90.0 %, flush 10.0 %") != std::string::npos);
}

TEST_CASE("nothing to rank") {
  Profile p = make_profile();
  p.factors.clear();
  CHECK(report::text(p, {}, {}).find("Nothing measured") != std::string::npos);
  p.interval.variance_ns2 = 0;
  CHECK(report::text(p, {}, {}).find("all intervals took the same time") != std::string::npos);
}

TEST_CASE("report.json: invalid UTF-8 is replaced, and a deep tree takes little space") {
  Profile p = make_profile();
  analyzer::Node* deepest = &p.tree;
  for (int depth = 0; depth < 300; ++depth) {
    deepest->children.insert(deepest->children.begin(), analyzer::Node());
    deepest = &deepest->children.front();
  }
  deepest->function = "caf\xe9";
  const std::string text = report::json_text(p, {});
  CHECK(text.size() < 2 * report::json(make_profile(), {}).dump().size() + 300 * 300);
  CHECK(report::from_json(nlohmann::json::parse(text)));
  CHECK(nlohmann::json::accept(vprof::json_text(nlohmann::json("caf\xe9"))));
}

TEST_CASE("report.json, as a whole") {
  const std::string text = report::json_text(make_profile(), make_context()) + "\n";
  CHECK(text == golden("report.json", text));
}

TEST_CASE("schemas of answers are generated") {
  const std::map<std::string, nlohmann::json> schemas = {{"report", report::report_schema()},
                                                         {"diff", report::diff_schema()},
                                                         {"history", report::history_schema()},
                                                         {"timeline", report::timeline_schema()},
                                                         {"annotate", report::annotate_schema()}};
  for (const auto& [name, schema] : schemas) {
    const std::string text = vprof::json_text(schema) + "\n";
    CHECK(text == expected(std::string(SCHEMAS_DIR) + "/" + name + ".schema.json", text));
  }
}

TEST_CASE(
    "report.json of an earlier version loads, and is written again with nothing but new fields") {
  const auto earlier = nlohmann::json::parse(read(std::string(SAMPLES_DIR) + "/quickstart.json"));
  const auto loaded = report::from_json(earlier);
  REQUIRE(loaded);
  const auto again = report::json(loaded->first, loaded->second);
  CHECK(again["$schema"] == "report.schema.json");
  CHECK(first_difference(with_ids_as_texts(earlier), again) == "");
  CHECK(again["ranking"] == "variance");  // the only one that they had
  CHECK(loaded->first.factors[0].weight == loaded->first.factors[0].contribution);
}

TEST_CASE("report.json of the first version: later fields have their defaults") {
  auto document = report::json(make_profile(), make_context());
  for (const char* field : {"$schema", "losses", "unwrapped", "k", "threshold", "ranking"}) {
    document.erase(field);
  }
  for (const char* field : {"work", "mean_ci95", "variance_ci95", "p99_ci95"}) {
    document["interval"].erase(field);
  }
  document["overhead"].erase("demoted");
  document["tree"].erase("key");
  document["tree"]["children"][0]["covariances"][0].erase("children");
  const auto loaded = report::from_json(document);
  REQUIRE(loaded);
  CHECK(loaded->first.k == Profile{}.k);
  CHECK(loaded->first.tree.children[0].covariances.empty());
  CHECK(loaded->second.demoted.empty());
}

TEST_CASE("report.json there and back") {
  const auto document = report::json(make_profile(), make_context());
  const auto back =
      report::from_json(nlohmann::json::parse(report::json_text(make_profile(), make_context())));
  REQUIRE(back);
  CHECK(report::json(back->first, back->second) == document);
  CHECK(document["schema"] == 1);
  CHECK(document["factors"][0]["kind"] == "variance");
  CHECK(document["factors"][1]["status"] == "expandable");
  CHECK(document["factors"][2]["functions"] ==
        nlohmann::json({"price", "wait(pthread_mutex_lock)"}));
  CHECK(document["tree"]["children"][0]["covariances"][0]["functions"] ==
        nlohmann::json({"wait(pthread_mutex_lock)", "price"}));
  CHECK(document["tree"]["children"][0]["children"][0]["children"][0]["kind"] == "blame");
  CHECK(document["interval"]["p999_ns"] == 50.2e6);
  CHECK(document["overhead"]["mean_ratio"] == 1.08);
}

TEST_CASE("report.json: a document that is not one gives an error of one line") {
  const auto good = report::json(make_profile(), {});
  const auto error_of = [&](const nlohmann::json& document) {
    const auto result = report::from_json(document);
    REQUIRE(!result);
    CHECK(result.error().message.find('\n') == std::string::npos);
    return result.error().message;
  };
  error_of(nlohmann::json::array());
  CHECK(error_of({{"schema", 2}}).find("schema 2") != std::string::npos);
  for (const auto& [field, value] : good.items()) {
    if (field == "$schema" || field == "losses" || field == "unwrapped" || field == "k" ||
        field == "threshold" || field == "ranking" || field == "marked_share" ||
        field == "more_to_tell" || field == "provenance" || field == "kinds") {
      continue;
    }
    auto without = good;
    without.erase(field);
    error_of(without);
  }
  auto bad = good;
  bad["factors"][0]["status"] = "great";
  CHECK(error_of(bad).find("great") != std::string::npos);
  bad = good;
  bad["factors"][0]["functions"] = nlohmann::json::array();
  error_of(bad);
  bad = good;
  bad["tree"]["children"][0]["covariances"][0]["children"] = {0, 9};
  error_of(bad);
}
