// Exports for other programs. The driver's tests cover tables of whole recordings.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "exports/size_forecast.h"
#include "vprof/report/exports.h"
#include "vprof/report/timeline.h"

using namespace vprof;
using analyzer::NodeKind;

namespace {

constexpr auto kFn = NodeKind::kFunction;

report::SelectedTimeline waiting() {
  report::SelectedTimeline shown;
  shown.why = "slowest";
  shown.timeline.interval = "request";
  shown.timeline.id = 42;
  shown.timeline.begin_ns = 5000;
  shown.timeline.latency_ns = 100;
  shown.timeline.pieces = {{0, 30, 7, 1, "worker", {"request", "f"}, {kFn, kFn}},
                           {30,
                            80,
                            7,
                            2,
                            "flusher",
                            {"request", "f", "wait(m)", "g"},
                            {kFn, kFn, NodeKind::kWait, NodeKind::kBlame}},
                           {80,
                            90,
                            7,
                            1,
                            "worker",
                            {"request", "f", "wait(m)", "wake-up(m)"},
                            {kFn, kFn, NodeKind::kWait, NodeKind::kBody}},
                           {90, 100, 7, 1, "worker", {"request", "f"}, {kFn, kFn}}};
  return shown;
}

/// Whether the slices of each row of a process are within each other or apart. The format has no
/// other way to say what is within what.
void check_nesting(const std::vector<nlohmann::json>& events) {
  std::map<int, std::vector<std::pair<double, double>>> open;  // by row: from and to
  for (const auto& event : events) {
    if (event["ph"] != "X") {
      continue;
    }
    const double from = event["ts"];
    const double to = from + event["dur"].get<double>();
    auto& around = open[event["tid"]];
    while (!around.empty() && around.back().second <= from + 1e-6) {
      around.pop_back();
    }
    CAPTURE(event.dump());
    CHECK((around.empty() || to <= around.back().second + 1e-6));
    around.emplace_back(from, to);
  }
}

}  // namespace

TEST_CASE("perfetto: slices bear the names of functions and lie within each other") {
  const auto trace = nlohmann::json::parse(report::perfetto({waiting()}).dump());
  std::vector<nlohmann::json> events(trace["traceEvents"].begin(), trace["traceEvents"].end());
  check_nesting(events);
  std::map<std::string, nlohmann::json> slices;
  double self = 0;
  for (const auto& event : events) {
    if (event["ph"] == "X" && event["cat"] != "interval") {
      CHECK(slices.emplace(event["name"], event).second);
      self += event["args"]["self_ns"].get<double>();
    }
  }
  CHECK(self == 100);  // what the slices take themselves is the latency
  REQUIRE(slices.size() == 3);
  CHECK(slices.at("f")["dur"] == Approx(0.1));  // on its thread throughout, also while that waits
  CHECK(slices.at("f")["args"]["self_ns"] == 40);
  CHECK(slices.at("wait(m)")["tid"] == slices.at("f")["tid"]);
  CHECK(slices.at("wait(m)")["args"]["self_ns"] == 10);  // the wake-up
  CHECK(slices.at("g")["tid"] != slices.at("f")["tid"]);
  CHECK(slices.at("g")["dur"] == Approx(0.05));
  CHECK(slices.at("g")["cat"] == "blame");
}

TEST_CASE("perfetto: own time is that of its function, and a request may change its thread") {
  report::SelectedTimeline shown = waiting();
  constexpr auto kBody = NodeKind::kBody;
  constexpr auto kQueue = NodeKind::kQueue;
  shown.timeline.pieces = {
      {0, 10, 7, 1, "accept", {"request", "(own time)"}, {kFn, kBody}},
      {10, 20, 7, 1, "accept", {"request", "loop", "push", "(own time)"}, {kFn, kFn, kFn, kBody}},
      {20, 40, 7, 2, "w", {"request", "queue(pop)", "loop"}, {kFn, kQueue, NodeKind::kBlame}},
      {40, 60, 7, 2, "w", {"request", "loop", "work", "(own time)"}, {kFn, kFn, kFn, kBody}},
      {60, 70, 7, 2, "w", {"request", "loop", "(own time)"}, {kFn, kFn, kBody}},
      {70, 100, 7, 3, "x", {"request", "loop", "(own time)"}, {kFn, kFn, kBody}}};
  const auto trace = nlohmann::json::parse(report::perfetto({shown}).dump());
  std::vector<nlohmann::json> events(trace["traceEvents"].begin(), trace["traceEvents"].end());
  check_nesting(events);
  std::vector<std::string> slices;
  double self = 0;
  for (const auto& event : events) {
    if (event["ph"] == "X" && event["cat"] != "interval") {
      slices.push_back(event["name"].get<std::string>() + " " + event["tid"].dump() + " " +
                       std::to_string(std::lround(event["dur"].get<double>() * 1000)));
      self += event["args"]["self_ns"].get<double>();
    }
  }
  CHECK(self == 100);
  CHECK(slices == std::vector<std::string>{"request 1 10", "loop 1 10", "push 1 10",
                                           "queue(pop) 2 20", "loop 2 20", "loop 2 30", "work 2 20",
                                           "loop 3 30"});
}

TEST_CASE("perfetto: each interval is a process with its threads, waits and wake-ups") {
  const auto trace = nlohmann::json::parse(report::perfetto({waiting(), waiting()}).dump());
  std::map<int, std::vector<nlohmann::json>> by_process;
  for (const auto& event : trace["traceEvents"]) {
    by_process[event["pid"]].push_back(event);
  }
  REQUIRE(by_process.size() == 2);
  std::set<int> flows;
  for (const auto& [process, events] : by_process) {
    std::map<std::string, int> rows;
    for (const auto& event : events) {
      if (event["name"] == "thread_name") {
        rows[event["args"]["name"]] = event["tid"];
      }
    }
    REQUIRE(rows.size() == 3);
    int waits = 0;
    std::map<int, std::map<std::string, nlohmann::json>> ends;
    for (const auto& event : events) {
      if (event["ph"] == "s" || event["ph"] == "f") {
        ends[event["id"]][event["ph"]] = event;
      }
      if (event["name"] != "wait(m)") {
        continue;
      }
      ++waits;
      CHECK(event["tid"] == rows["worker 7:1"]);
      CHECK(event["ts"] == Approx(5.030));
      CHECK(event["dur"] == Approx(0.060));
    }
    CHECK(waits == 1);
    REQUIRE(ends.size() == 2);  // to the flusher and back
    for (const auto& [id, pair] : ends) {
      CHECK(flows.insert(id).second);
      REQUIRE(pair.size() == 2);
      CHECK(pair.at("s")["tid"] != pair.at("f")["tid"]);
      CHECK(pair.at("f")["bp"] == "e");
    }
    CHECK(ends.rbegin()->second["f"]["tid"] == rows["worker 7:1"]);
    CHECK(ends.rbegin()->second["f"]["ts"] == Approx(5.080));
  }
}

namespace {

/// The spans of OTLP/JSON by name.
std::map<std::string, nlohmann::json> spans_of(const report::SelectedTimeline& shown) {
  std::map<std::string, nlohmann::json> spans;
  std::istringstream lines(report::otlp({shown}));
  for (std::string line; std::getline(lines, line);) {
    const auto request = nlohmann::json::parse(line);
    for (const auto& span : request["resourceSpans"][0]["scopeSpans"][0]["spans"]) {
      spans[span["name"]] = span;
    }
  }
  return spans;
}

std::string attribute_of(const nlohmann::json& span, const std::string& key) {
  for (const auto& attribute : span["attributes"]) {
    if (attribute["key"] == key) {
      return attribute["value"].begin()->dump();
    }
  }
  return "";
}

}  // namespace

TEST_CASE("otlp: the critical path as nested spans below the service's own") {
  report::SelectedTimeline shown = waiting();
  shown.timeline.trace = {1, 2, 3};
  shown.timeline.realtime_ns = 1'700'000'000'000'000'000;
  const auto spans = spans_of(shown);
  REQUIRE(spans.size() == 4);  // own time, and the wake-up, are no spans
  const nlohmann::json& root = spans.at("request");
  CHECK(root["traceId"] == "00000000000000010000000000000002");
  CHECK(root["parentSpanId"] == "0000000000000003");
  CHECK(root["startTimeUnixNano"] == "1700000000000000000");
  CHECK(root["endTimeUnixNano"] == "1700000000000000100");
  CHECK(attribute_of(root, "vprof.interval.id") == "\"42\"");
  const nlohmann::json& f = spans.at("f");
  const nlohmann::json& wait = spans.at("wait(m)");
  const nlohmann::json& g = spans.at("g");
  CHECK(f["parentSpanId"] == root["spanId"]);
  CHECK(wait["parentSpanId"] == f["spanId"]);
  CHECK(g["parentSpanId"] == wait["spanId"]);
  CHECK(wait["startTimeUnixNano"] == "1700000000000000030");
  CHECK(wait["endTimeUnixNano"] == "1700000000000000090");
  CHECK(g["endTimeUnixNano"] == "1700000000000000080");
  CHECK(attribute_of(wait, "vprof.kind") == "\"wait\"");
  CHECK(attribute_of(wait, "thread.name") == "\"worker\"");
  CHECK(attribute_of(g, "thread.name") == "\"flusher\"");
  CHECK(attribute_of(g, "vprof.kind") == "\"blame\"");
  // The thread that held m woke the waiter; how it came to be waited for is no wake-up.
  REQUIRE(wait["links"].size() == 1);
  CHECK(wait["links"][0]["spanId"] == g["spanId"]);
  CHECK(spans_of(shown) == spans);  // the same ids again
}

TEST_CASE("otlp: without a trace context an interval has a trace of its own") {
  report::SelectedTimeline shown = waiting();
  const auto first = spans_of(shown);
  CHECK(first.at("request")["parentSpanId"] == "");
  CHECK(first.at("request")["traceId"].get<std::string>().size() == 32);
  CHECK(first.at("request")["traceId"] == first.at("g")["traceId"]);
  ++shown.timeline.id;
  CHECK(first.at("request")["traceId"] != spans_of(shown).at("request")["traceId"]);
}

TEST_CASE("otlp: a span ends where another thread goes on, or another call") {
  report::SelectedTimeline shown = waiting();
  const auto piece = [](int64_t from, int64_t to, uint32_t thread, std::vector<std::string> path) {
    return analyzer::TimelinePiece{
        from, to, 7, thread, "t", std::move(path), std::vector<NodeKind>(path.size(), kFn)};
  };
  shown.timeline.pieces = {piece(0, 10, 1, {"request", "f"}), piece(10, 20, 2, {"request", "f"}),
                           piece(20, 30, 2, {"request"}), piece(30, 100, 2, {"request", "f"})};
  for (analyzer::TimelinePiece& one : shown.timeline.pieces) {
    one.kinds.assign(one.path.size(), kFn);
  }
  const std::string text = report::otlp({shown});
  size_t count = 0;
  for (size_t at = 0; (at = text.find("\"name\":\"f\"", at)) != std::string::npos; ++at) {
    ++count;
  }
  CHECK(count == 3);
  CHECK(text.find("\"links\"") != std::string::npos);  // from thread 1 to thread 2
}

TEST_CASE("otlp: of an interval with very many spans the longest are kept, in several lines") {
  report::SelectedTimeline shown = waiting();
  shown.timeline.pieces.clear();
  for (int64_t i = 0; i < 5000; ++i) {
    const int64_t from = i * 10;
    shown.timeline.pieces.push_back(
        {from, from + 1, 7, 1, "t", {"request", "(own time)"}, {kFn, NodeKind::kBody}});
    shown.timeline.pieces.push_back(
        {from + 1, from + 10, 7, 1, "t", {"request", "f" + std::to_string(i)}, {kFn, kFn}});
  }
  shown.timeline.latency_ns = 50'000;
  const std::string text = report::otlp({shown});
  std::istringstream lines(text);
  size_t spans = 0;
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    CHECK(line.size() < size_t{1} << 20);
    spans += nlohmann::json::parse(line)["resourceSpans"][0]["scopeSpans"][0]["spans"].size();
  }
  CHECK(spans == 2000);
  CHECK(count == 4);
  CHECK(text.find("vprof.spans_left_out\",\"value\":{\"intValue\":\"3001\"}") != std::string::npos);
}

TEST_CASE("folded: leaves weigh their share; names cannot break a line") {
  analyzer::Node root;
  root.function = "request;odd\nname";
  analyzer::Node f;
  f.function = "f";
  f.share = 0.6;
  analyzer::Node negative = f;
  negative.function = "cache";
  negative.share = -0.1;
  analyzer::Node again = f;  // the same function at another site
  again.share = 0.5;
  root.children = {f, negative, again};
  analyzer::Profile profile;
  profile.tree = root;
  double left_out = 0;
  CHECK(report::folded(profile, left_out) == "request:odd name;f 1100000\n");
  CHECK(left_out == Approx(-0.1));
}

namespace {

analyzer::Factor factor(const std::string& name, const std::string& definition, double share) {
  analyzer::Factor made;
  made.rank = 1;
  made.functions = {name};
  made.keys = {definition.empty() ? "" : name + "@" + definition};
  made.definition = definition;
  made.share = share;
  made.share_ci95 = {share - 0.1, share + 0.1};
  return made;
}

analyzer::Node node(const analyzer::Factor& of, double mean_ns) {
  analyzer::Node made;
  made.function = of.functions[0];
  made.function_key = of.keys[0];
  made.mean_ns = mean_ns;
  return made;
}

/// The value of a sample; nothing: there is none.
std::optional<std::string> sample(const std::string& text, const std::string& series) {
  const size_t at = text.find("\n" + series + " ");
  if (at == std::string::npos) {
    return std::nullopt;
  }
  const size_t from = at + series.size() + 2;
  return text.substr(from, text.find('\n', from) - from);
}

}  // namespace

TEST_CASE("prometheus: functions of one name and file are one series, and each metric has a head") {
  analyzer::Profile profile;
  profile.interval.name = "request";
  profile.interval.count = 1000;
  profile.interval.mean_ns = 2e6;
  profile.interval.labels = {{.label = "a \"b\"\\\nc", .count = 10, .mean_ns = 1e9}};
  const auto commit = factor("commit", "src/log.c:7", 0.5);
  const auto lambda = factor("commit", "src/log.c:90", 0.25);
  auto pair = factor("commit", "src/log.c:7", 0.1);
  pair.kind = analyzer::FactorKind::kCovariance;
  profile.factors = {commit, lambda, pair, factor("preempted", "", 0.125)};
  profile.kinds = {{analyzer::TimeKind::kSynchronization, 1e6, 0.625, {}},
                   {analyzer::TimeKind::kRunning, 1e6, 0.375, {}}};
  analyzer::Node around = node(commit, 3e6);
  around.children = {node(commit, 1e6)};  // within it: its time is counted already
  profile.tree.children = {around, node(lambda, 1e6)};
  report::MetricsContext context{.vprof = "1", .program = "shop", .version = "2"};
  const std::string text = report::prometheus(profile, context);
  CHECK(sample(text, "vprof_build_info{version=\"1\",program=\"shop\",program_version=\"2\"}") ==
        "1");
  CHECK(sample(text, "vprof_interval_latency_seconds_sum{interval=\"request\"}") == "2");
  CHECK(sample(text, "vprof_interval_latency_seconds_count{interval=\"request\"}") == "1000");
  const std::string series = "{interval=\"request\",function=\"commit\",file=\"src/log.c\"}";
  CHECK(sample(text, "vprof_factor_share_ratio" + series) == "0.75");
  CHECK(sample(text, "vprof_factor_time_seconds_total" + series) == "4");
  CHECK(sample(text,
               "vprof_factor_share_ratio{interval=\"request\",function=\"preempted\","
               "file=\"\"}") == "0.125");
  CHECK(sample(text, "vprof_kind_share_ratio{interval=\"request\",kind=\"running\"}") == "0.375");
  CHECK(sample(text,
               "vprof_label_latency_seconds_sum{interval=\"request\","
               "label=\"a \\\"b\\\"\\\\\\nc\"}") == "10");
  CHECK(text.find("vprof_slow_intervals_total") == std::string::npos);
  context.slow_intervals = 3;
  CHECK(sample(report::prometheus(profile, context),
               "vprof_slow_intervals_total{interval=\"request\"}") == "3");
  CHECK(text.find("vprof_own_processor_seconds_total") == std::string::npos);
  context.own_processor_s = 1.25;
  CHECK(sample(report::prometheus(profile, context), "vprof_own_processor_seconds_total") ==
        "1.25");

  std::set<std::string> heads, all;
  std::string head;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) {
      head = line.substr(7, line.find(' ', 7) - 7);
      CHECK(heads.insert(head).second);  // once
    } else if (!line.starts_with("#")) {
      CHECK(line.starts_with(head));  // all samples of a metric follow its head
      CHECK(all.insert(line.substr(0, line.rfind(' '))).second);
    }
  }
}

namespace {

/// handle() runs for 1 ms, in which it calls step() `calls` times, and then waits for 1 ms.
analyzer::Timeline busy(int calls) {
  analyzer::Timeline timeline;
  timeline.interval = "request";
  timeline.id = 42;
  timeline.latency_ns = 2'000'000;
  const int64_t piece = 1'000'000 / (2 * calls);
  const auto add = [&](int64_t ns, std::vector<std::string> path) {
    const int64_t from = timeline.pieces.empty() ? 0 : timeline.pieces.back().to_ns;
    std::vector<NodeKind> kinds(path.size(), kFn);
    kinds.back() = path.back() == "(own time)" ? NodeKind::kBody : NodeKind::kWait;
    timeline.pieces.push_back({from, from + ns, 7, 1, "worker", std::move(path), std::move(kinds)});
  };
  for (int i = 0; i < calls; ++i) {
    add(piece, {"request", "handle", "(own time)"});
    add(piece, {"request", "handle", "step", "(own time)"});
  }
  add(1'000'000, {"request", "handle", "wait(fsync)"});
  return timeline;
}

size_t lines(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

report::TextOptions at_80_columns() {
  report::TextOptions options;
  options.width = 80;
  return options;
}

}  // namespace

TEST_CASE("a timeline puts short pieces together and says what they add up to") {
  const analyzer::Timeline timeline = busy(1000);
  const std::string folded = report::text(timeline, at_80_columns());
  CAPTURE(folded);
  CHECK(lines(folded) < 10);
  CHECK(folded.find("2,001 pieces in 2 rows") != std::string::npos);
  CHECK(folded.find("handle (2,000 pieces)") != std::string::npos);
  CHECK(folded.find("500 us") != std::string::npos);
  CHECK(folded.find("wait(fsync)") != std::string::npos);
  CHECK(lines(report::text(timeline, at_80_columns(), true)) == 2003);
  // Long pieces stay.
  CHECK(report::text(busy(4), at_80_columns()).find("together") == std::string::npos);
}

TEST_CASE("a timeline puts equal neighbours together, also across a short interruption") {
  analyzer::Timeline timeline = busy(1);
  timeline.pieces = {
      {0, 900'000, 7, 1, "worker", {"request", "handle", "(own time)"}, {}},
      {900'000, 1'000'000, 7, 1, "worker", {"request", "handle", "(own time)"}, {}},
      {1'000'000, 1'000'100, 7, 1, "worker", {"request", "handle", "log"}, {}},
      {1'000'100, 2'000'000, 7, 1, "worker", {"request", "handle", "(own time)"}, {}}};
  const std::string text = report::text(timeline, at_80_columns());
  CAPTURE(text);
  CHECK(text.find("4 pieces in 1 row:") != std::string::npos);
  CHECK(text.find("handle (own time) (4 pieces)") != std::string::npos);
}

TEST_CASE("a timeline says which pieces are inferred") {
  analyzer::Timeline timeline = busy(1);
  CHECK(report::text(timeline, at_80_columns()).find("inferred") == std::string::npos);
  analyzer::TimelinePiece& last = timeline.pieces.back();
  last.path.emplace_back("flush");
  last.kinds.push_back(NodeKind::kBlame);
  last.thread = 2;
  last.inferred = true;
  const std::string text = report::text(timeline, at_80_columns());
  CAPTURE(text);
  CHECK(text.find("flush (inferred)") != std::string::npos);
  CHECK(text.find("inferred: the recording does not tell") != std::string::npos);
  const nlohmann::json trace = report::trace_events(timeline);
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "X") {
      CAPTURE(event.dump());
      CHECK(event["args"]["inferred"] == (event["name"] == "flush"));
    }
  }
}

/// The text without the line breaks and spaces that wrapping has put in.
std::string unwrapped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c != '\n' && c != ' ') {
      result += c;
    }
  }
  return result;
}

TEST_CASE("a timeline keeps the names of functions at 80 columns") {
  const std::string name = GENERATE(
      std::string("ngx_http_upstream_process_non_buffered_downstream"),
      // Longer than what a line has room for.
      std::string("vendor::detail::implementation_of_an_executor_with_a_really_long_name_indeed"));
  analyzer::Timeline timeline = busy(1);
  timeline.pieces = {
      {0, 2'000'000, 7, 1, "nginx: worker", {"request", "a", "b", name, "(own time)"}, {}}};
  const std::string text = report::text(timeline, at_80_columns());
  CAPTURE(text);
  CHECK(unwrapped(text).find(name) != std::string::npos);
  // What a state happens in is its function.
  timeline.pieces[0].path = {"request", "a", "b", name, "preempted"};
  const std::string state = report::text(timeline, at_80_columns());
  CAPTURE(state);
  CHECK(state.find(" preempted\n") != std::string::npos);
  CHECK(unwrapped(state).find("in" + name) != std::string::npos);
}

TEST_CASE("the size of a table is known after the first percent of the recording") {
  report::SizeForecast forecast;
  uint64_t told = 0;
  uint64_t size = 0;
  uint64_t written = 0;
  // 100,000 intervals in 10 s, the last one first.
  for (int64_t i = 99'999; i >= 0; --i) {
    written += 70'000;
    if (const auto found = forecast.add(70'000, i * 100'000)) {
      ++told;
      size = *found;
      CHECK(written < 100 * 70'000 * 11);
    }
  }
  CHECK(told == 1);
  CHECK(static_cast<double>(size) == Approx(static_cast<double>(written)).epsilon(0.01));
  // All at once: nothing can be said.
  report::SizeForecast none;
  for (int i = 0; i < 1000; ++i) {
    CHECK(!none.add(100, 5));
  }
}
