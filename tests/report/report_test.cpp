#include <fmt/format.h>

#include <algorithm>

#include "report_fixture.h"
#include "text/layout.h"
#include "vprof/analyzer/marks.h"
#include "vprof/analyzer/overhead.h"
#include "vprof/report/annotate.h"
#include "vprof/report/factor_words.h"
#include "vprof/report/json.h"

using namespace vprof;
using namespace vprof::analyzer;
using namespace vprof::test;

namespace {

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

TEST_CASE("the history of a live search has no builds and runs") {
  report::Iteration one;
  one.sites = 17;
  one.mean_ns = 2e6;
  CHECK(report::history_text({one}, {}).find("17 sites; mean 2.00 ms, stddev 0 ns") !=
        std::string::npos);
}

TEST_CASE("a report that marks nothing tells what an earlier iteration marked") {
  Profile p = make_profile();
  report::ReportContext context = make_context();
  const auto text = [&] { return report::text(p, context, {200}); };
  for (analyzer::Factor& factor : p.factors) {
    factor.marked = false;
  }
  CHECK(text().find("and this one marks nothing") == std::string::npos);
  context.iterations.resize(3);
  context.iterations[0].leading = {{"f", 0.9, 0.8, true}};
  context.iterations[1].leading = {{"g", 0.5, 0.5, false}, {"h", 0.4, 0.45, true}};
  CHECK(text().find("iteration 2 marked h, 45.0 %, and this one marks nothing") !=
        std::string::npos);
  context.iterations[2].leading = {{"i", 0.5, 0.5, true}};  // itself
  CHECK(text().find("iteration 2 marked h") != std::string::npos);
  p.factors[0].marked = true;
  CHECK(text().find("and this one marks nothing") == std::string::npos);
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
  CAPTURE(text);
  // It explains next to nothing of the 12 % more processor time.
  CHECK(text.find("processor time per interval 1.12x; that is more than the 1.3 % that recording "
                  "explains") != std::string::npos);
  p.overhead.processor_ratio = 1.04;
  CHECK(report::text(p, context, {200}).find("recording explains") == std::string::npos);
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
  p.overhead.calls_ns = 2e9;
  CHECK(report::text(p, context, {400}).find("e+") == std::string::npos);
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
            .find("queue(event loop): before their begin, at least 3,000 of 12,000 waited for the "
                  "loop, which was busy with others: on average over all 1.10 ms, p99 2.20 ms; not "
                  "in the latency, would add 55.0 % to it") != std::string::npos);
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
  CHECK(text().find("further factors reach 5 %, too") != std::string::npos);
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

static Instance place_with(std::vector<std::string> path, double share) {
  Instance place;
  place.path = std::move(path);
  place.share = share;
  return place;
}

TEST_CASE("the large places of a wait are named with their shares: they may be several causes") {
  Profile p = make_profile();
  Factor& factor = p.factors[1];
  factor.functions = {"wait(sleep)"};
  factor.definition = "";
  const auto below = [](const char* caller, double share) {
    return place_with({"request", caller, "wait(sleep)"}, share);
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

TEST_CASE("places with the same path have the lines of their calls") {
  Profile p = make_profile();
  Factor& factor = p.factors[1];
  factor.functions = {"wait(pthread_mutex_lock)"};
  factor.definition = "";
  const auto locked_at = [](const char* call, double share) {
    Instance one =
        place_with({"request", "serve", "pthread_mutex_lock", "wait(pthread_mutex_lock)"}, share);
    one.call = call;
    return one;
  };
  factor.instances = {locked_at("server.c:31", 0.5), locked_at("server.c:26", 0.3)};
  const auto shown = [&](int width) {
    return report::text(p, {}, {.width = width, .color = false});
  };
  CHECK(shown(120).find("50.0 % in request > serve > pthread_mutex_lock > "
                        "wait(pthread_mutex_lock)  at server.c:31\n") != std::string::npos);
  CHECK(shown(120).find("30.0 % in request > serve > pthread_mutex_lock > "
                        "wait(pthread_mutex_lock)  at server.c:26\n") != std::string::npos);
  CHECK(shown(80).find("30.0 % in request > … > wait(pthread_mutex_lock)  at server.c:26\n") !=
        std::string::npos);
}

TEST_CASE("places that do not fit into their lines show where they differ") {
  Profile p = make_profile();
  Factor& factor = p.factors[1];
  factor.functions = {"wait(futex)"};
  factor.definition = "";
  factor.marked = false;
  const auto behind = [](const char* lock, double share) {
    return place_with({"request", "Server::handle", lock, "Log::flush_all", "wait(futex)"}, share);
  };
  factor.instances = {behind("wait(log lock)", 0.5), behind("wait(cache lock)", 0.3)};
  const std::string text = report::text(p, {}, {.width = 70, .color = false});
  CAPTURE(text);
  CHECK(text.find("50.0 % in request > … > wait(log lock) > … > wait(futex)\n") !=
        std::string::npos);
  CHECK(text.find("30.0 % in request > … > wait(cache lock) > … > wait(futex)\n") !=
        std::string::npos);
}

TEST_CASE("what leads to a marked factor has three lines, and to another one line") {
  Profile p = make_profile();
  Factor& factor = p.factors[1];
  factor.functions = {"wait(fsync)"};
  factor.definition = "";
  Instance& place = factor.instances.front();
  place.location = "src/log.cpp:20";
  factor.marked = true;
  place.path = {"request", "Server::handle", "wait(futex)", "Log::flush_all", "wait(fsync)"};
  const auto shown = [&](int width) {
    return report::text(p, {}, {.width = width, .color = false});
  };
  CHECK(shown(120).find("     request > Server::handle > wait(futex) > Log::flush_all > wait(fsync)"
                        "  at src/log.cpp:20\n") != std::string::npos);
  CHECK(shown(54).find("     request > Server::handle > wait(futex) >\n"
                       "     Log::flush_all > wait(fsync) at src/log.cpp:20\n") !=
        std::string::npos);
  factor.marked = false;
  CHECK(shown(50).find("     request > … > wait(fsync)  at src/log.cpp:20\n") != std::string::npos);
  factor.marked = true;
  place.path.insert(place.path.begin() + 2, 30, "Server::handle_nested");
  for (const int width : {40, 60, 80}) {
    CAPTURE(width);
    const std::string text = shown(width);
    CHECK(widest(text) <= static_cast<size_t>(width));
    const size_t from = text.find("request > …");
    REQUIRE(from != std::string::npos);
    const std::string lines = text.substr(from, text.find("contribution", from) - from);
    CHECK(std::count(lines.begin(), lines.end(), '\n') <= 3);
    CHECK(lines.find("log.cpp:20") != std::string::npos);
    CHECK(lines.find("wait(fsync)") != std::string::npos);
    CHECK(lines.find("Log::flush_all") != std::string::npos);
  }
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
