#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "run.h"

using namespace vprof::test;

namespace {

// "B11" begin, "E11" end, "S0" switch, "L11=GET" label, "W11=50" work, "f1" frame of site 1.
std::vector<std::string> story(const Trace& trace) {
  std::vector<std::string> told;
  for (const Record& r : trace.threads.at(0).records) {
    const std::string id = r.more.empty() ? "" : std::to_string(r.more[0].word);
    if (r.id == VPROF_EV_BEGIN) {
      told.push_back("B" + id);
    }
    if (r.id == VPROF_EV_END) {
      told.push_back("E" + id);
    }
    if (r.id == VPROF_EV_SWITCH) {
      told.push_back("S" + id);
    }
    if (r.id == VPROF_EV_LABEL) {
      told.push_back("L" + id + "=" + label_text(r));
    }
    if (r.id == VPROF_EV_TRACE_CONTEXT) {
      told.push_back("T" + id + "=" + label_text(r));
    }
    if (r.id == VPROF_EV_WORK) {
      told.push_back("W" + id + "=" + std::to_string(r.more.at(1).word));
    }
    if (r.id < VPROF_EV_FIRST) {
      told.push_back("f" + std::to_string(r.id));
    }
  }
  return told;
}

using Story = std::vector<std::string>;

}  // namespace

TEST_CASE("annotations") {
  const Trace trace = run("annotations").traces.at(0);
  CHECK(story(trace) == Story{"B11", "L11=GET",
                              "T11=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                              "T11=of what this thread works for", "W11=50",
                              "W11=18446744073709551615", "S0", "S11", "E11", "B12",
                              "L12=a label that is longer than sixty-three bytes, which is all tha",
                              "S13", "f1", "S12", "E12"});
  for (const Record& begin : trace.all(VPROF_EV_BEGIN)) {
    CHECK(begin.payload == 0);  // the id means the same in all processes
    CHECK(begin.more.at(0).payload == 0);
  }
}

TEST_CASE("an interval begins once the process and the thread are set up") {
  const Outcome outcome = run("first_intervals");
  REQUIRE(outcome.exit_code == 0);
  REQUIRE(outcome.traces.size() == 2);
  size_t begins = 0;
  for (const Trace& trace : outcome.traces) {
    for (const Thread& thread : trace.threads) {
      std::vector<Record> set_up;
      std::copy_if(thread.records.begin(), thread.records.end(), std::back_inserter(set_up),
                   [](const Record& record) { return record.id == VPROF_EV_SETUP; });
      REQUIRE(!set_up.empty());  // another one may be of the exit
      const uint64_t done = set_up[0].word + set_up[0].payload;
      CHECK(done >= trace.header.start_ticks);
      for (const Record& record : thread.records) {
        if (record.id == VPROF_EV_BEGIN) {
          CHECK(record.word >= done);
          ++begins;
        }
      }
    }
  }
  CHECK(begins == 4);
}

TEST_CASE(
    "an interval knows whether it can have been ready with another one when its thread polled") {
  const Trace trace = run("begins_after_polls", {{{"VPROF_WAITS_OFF", ""}}, {}, {}}).traces.at(0);
  std::vector<uint64_t> since;
  for (const Record& begin : trace.all(VPROF_EV_BEGIN)) {
    since.push_back(begin.more.at(1).payload);
  }
  const uint64_t no = VPROF_NO_BATCH;
  CHECK(since == std::vector<uint64_t>{no, no + 1, 0, no + 1, 0, 1, no + 2, 0, 1, 0, no + 1});
}

TEST_CASE("annotated tasks record who created and who took them") {
  const Outcome outcome = run("annotated_tasks");
  const Trace& trace = outcome.traces.at(0);
  for (const uint32_t event : {VPROF_EV_ENQUEUE, VPROF_EV_DEQUEUE}) {
    const std::vector<Record> records = trace.all(event);
    REQUIRE(records.size() == 2);
    CHECK(records[0].payload == VPROF_SYNC_TASK);
    CHECK(records[0].more.at(0).word == outcome.number("task"));
  }
}

TEST_CASE("an interval identified by its thread has an id of its own") {
  const Outcome outcome = run("thread_keys");
  REQUIRE(outcome.exit_code == 0);
  REQUIRE(outcome.traces.size() == 2);
  // The ids are numbered in order of first use; 0: no interval.
  for (const Trace& trace : outcome.traces) {
    std::vector<uint64_t> ids = {0};
    std::string told;
    for (const Thread& thread : trace.threads) {
      for (const Record& r : thread.records) {
        if (r.id != VPROF_EV_BEGIN && r.id != VPROF_EV_END && r.id != VPROF_EV_SWITCH) {
          continue;
        }
        const uint64_t id = r.more.at(0).word;
        const auto known = std::find(ids.begin(), ids.end(), id);
        if (known == ids.end()) {
          ids.push_back(id);
        }
        told += r.id == VPROF_EV_BEGIN ? "B" : r.id == VPROF_EV_END ? "E" : "S";
        told += std::to_string(std::find(ids.begin(), ids.end(), id) - ids.begin()) + " ";
      }
    }
    const bool child = trace.all(VPROF_EV_BEGIN).empty();
    CHECK(told == (child ? "E1 " : "S0 B1 B2 S1 E2 E1 B3 B4 S3 E4 E3 E5 B6 E6 "));
  }
}

TEST_CASE("interval scopes: recursion is one interval, and the previous one is restored") {
  const Trace trace = run("interval_scopes").traces.at(0);
  const std::vector<Record> begins = trace.all(VPROF_EV_BEGIN);
  REQUIRE(begins.size() == 4);
  std::vector<std::string> ids;
  for (const Record& begin : begins) {
    CHECK(begin.payload == VPROF_INTERVAL_PROCESS_LOCAL);
    ids.push_back(std::to_string(begin.more.at(0).word));
  }
  CHECK(std::set<std::string>(ids.begin(), ids.end()).size() == 4);
  CHECK(begins[0].more[0].payload == 2);
  CHECK(begins[2].more[0].payload == 3);
  CHECK(begins[3].more[0].payload == 4);
  CHECK(story(trace) == Story{"B" + ids[0], "f1", "f1", "f1", "f1", "f1", "f1", "E" + ids[0],  //
                              "B" + ids[1], "f1", "E" + ids[1],                                //
                              "B" + ids[2], "B" + ids[3], "f1", "E" + ids[3], "S" + ids[2], "f1",
                              "E" + ids[2]});
}

TEST_CASE("an interval left by longjmp does not stop later ones") {
  const Trace trace = run("interval_left_by_longjmp").traces.at(0);
  CHECK(trace.all(VPROF_EV_BEGIN).size() == 20);
  CHECK(trace.all(VPROF_EV_END).size() == 10);
}

TEST_CASE("an interval left by an exception ends") {
  const Trace trace = run("interval_left_by_exception").traces.at(0);
  CHECK(trace.all(VPROF_EV_BEGIN).size() == 1);
  CHECK(trace.all(VPROF_EV_END).size() == 1);
}

TEST_CASE("a forked child does not end its parent's interval") {
  const Outcome outcome = run("interval_and_fork");
  REQUIRE(outcome.exit_code == 0);
  REQUIRE(outcome.traces.size() == 2);
  std::set<uint64_t> ids;
  for (const Trace& trace : outcome.traces) {
    REQUIRE(trace.all(VPROF_EV_BEGIN).size() == 1);
    REQUIRE(trace.all(VPROF_EV_END).size() == 1);
    CHECK(trace.all(VPROF_EV_BEGIN)[0].more[0].word == trace.all(VPROF_EV_END)[0].more[0].word);
    CHECK(trace.all(VPROF_EV_SWITCH).empty());
    ids.insert(trace.all(VPROF_EV_BEGIN)[0].more[0].word);
  }
  CHECK(ids.size() == 2);
}

TEST_CASE("events and labels by configuration") {
  const Outcome outcome = run("events");
  const std::string key = std::to_string(outcome.number("object"));
  CHECK(story(outcome.traces.at(0)) == Story{"B" + key, "L" + key + "=by name", "L" + key + "=text",
                                             "L" + key + "=42", "L" + key + "=-9223372036854775808",
                                             "S77", "f1", "S" + key, "E" + key, "S0"});
  for (const Record& r : outcome.traces[0].all(VPROF_EV_BEGIN)) {
    CHECK(r.payload == VPROF_INTERVAL_PROCESS_LOCAL);
  }
}
