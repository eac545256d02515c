// Exports for other programs. The driver's tests cover tables of whole recordings.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "vprof/report/exports.h"

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
