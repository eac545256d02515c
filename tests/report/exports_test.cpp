// Exports for other programs. The driver's tests cover tables of whole recordings.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

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

}  // namespace

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

/// handle() runs for 1 ms, in which it calls step() `calls` times, and then waits for 1 ms.
analyzer::Timeline busy(int calls) {
  analyzer::Timeline timeline;
  timeline.interval = "request";
  timeline.id = 42;
  timeline.latency_ns = 2'000'000;
  const int64_t piece = 1'000'000 / (2 * calls);
  const auto add = [&](int64_t ns, std::vector<std::string> path) {
    const int64_t from = timeline.pieces.empty() ? 0 : timeline.pieces.back().to_ns;
    timeline.pieces.push_back({from, from + ns, 7, 1, "worker", std::move(path), {}});
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
  timeline.pieces.back().inferred = true;
  const std::string text = report::text(timeline, at_80_columns());
  CAPTURE(text);
  CHECK(text.find("wait(fsync) (inferred)") != std::string::npos);
  CHECK(text.find("inferred: the recording does not tell") != std::string::npos);
  const nlohmann::json events = report::json(timeline)["traceEvents"];
  CHECK(events[0]["args"]["inferred"] == false);
  CHECK(events[events.size() - 1]["args"]["inferred"] == true);
}

TEST_CASE("a timeline keeps the names of functions at 80 columns") {
  const std::string name = "ngx_http_upstream_process_non_buffered_downstream";
  analyzer::Timeline timeline = busy(1);
  timeline.pieces = {
      {0, 2'000'000, 7, 1, "nginx: worker", {"request", "a", "b", name, "(own time)"}, {}}};
  const std::string text = report::text(timeline, at_80_columns());
  CAPTURE(text);
  CHECK(text.find(name) != std::string::npos);
  // What a state happens in is its function.
  timeline.pieces[0].path = {"request", "a", "b", name, "preempted"};
  const std::string state = report::text(timeline, at_80_columns());
  CAPTURE(state);
  CHECK(state.find(" preempted\n") != std::string::npos);
  CHECK(state.find("in " + name) != std::string::npos);
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
