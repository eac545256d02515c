#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "run.h"

using namespace vprof::test;

namespace {

// "B" begin, "E" end, "S" switch: with the id, or "i" for an id that the runtime made; of a mark of
// a coroutine, "@" and 1 + the suspension. "f1" frame of site 1, "W11=50" work.
std::vector<std::string> story(const Thread& thread) {
  std::vector<std::string> told;
  for (const Record& r : thread.records) {
    const uint64_t id = r.more.empty() ? 0 : r.more[0].word;
    const std::string name = (id & VPROF_RUNTIME_ID) != 0 ? "i" : std::to_string(id);
    const std::string place = (r.payload & VPROF_INTERVAL_COROUTINE) != 0
                                  ? "@" + std::to_string(r.payload >> VPROF_SUSPENSION_SHIFT)
                                  : "";
    if (r.id == VPROF_EV_BEGIN) {
      told.push_back("B" + name + place);
    } else if (r.id == VPROF_EV_END) {
      told.push_back("E" + name + place);
    } else if (r.id == VPROF_EV_SWITCH) {
      told.push_back("S" + name + place);
    } else if (r.id == VPROF_EV_WORK) {
      told.push_back("W" + name + "=" + std::to_string(r.more.at(1).word));
    } else if (r.id < VPROF_EV_FIRST) {
      told.push_back("f" + std::to_string(r.id));
    }
  }
  return told;
}

using Story = std::vector<std::string>;

const Record& frame_of(const Thread& thread, uint32_t site, size_t nth = 0) {
  for (const Record& r : thread.records) {
    if (r.id == site && nth-- == 0) {
      return r;
    }
  }
  throw std::runtime_error("no such frame");
}

}  // namespace

TEST_CASE("an interval and the callers of a coroutine go with it to another thread") {
  const Outcome outcome = run("coroutine_chain");
  REQUIRE(outcome.exit_code == 0);
  Trace trace = outcome.traces.at(0);
  // ThreadSanitizer has a thread of its own, which waits.
  std::erase_if(trace.threads, [](const Thread& thread) { return story(thread).empty(); });
  REQUIRE(trace.threads.size() == 2);
  CHECK(story(trace.threads[0]) == Story{"Bi@0", "f4", "S0@0",         // request awaits outer
                                         "Si@41", "f3", "f4", "S0@0",  // outer awaits inner
                                         "Si@31", "f1", "f2", "f3", "f4",
                                         "S0@0"});  // inner awaits the event
  CHECK(story(trace.threads[1]) == Story{"Si@21", "f1", "f2", "f3", "f4", "S0@0",  // inner goes on
                                         "Si@31", "f1", "f3", "f4", "S0@0",        // outer
                                         "Si@41", "Ei@0", "f4"});  // request, to the end
  for (const Thread& thread : trace.threads) {
    CHECK(nesting_error(thread) == "");
  }
  // The callers' frames are as long as the coroutine's own, which begins with the mark.
  const Thread& second = trace.threads[1];
  const auto mark = std::find_if(second.records.begin(), second.records.end(),
                                 [](const Record& r) { return r.id == VPROF_EV_SWITCH; });
  for (const uint32_t site : {2u, 3u, 4u}) {
    CHECK(frame_of(second, site).word == mark->word);
    CHECK(frame_of(second, site).payload == frame_of(second, 2).payload);
  }
}

TEST_CASE("a coroutine that begins while another one is suspended does not work for its interval") {
  const Outcome outcome = run("coroutine_stranger");
  REQUIRE(outcome.exit_code == 0);
  CHECK(story(outcome.traces.at(0).threads.at(0)) ==
        Story{"B100", "f6", "S0@0", "f1", "f5", "S100@61", "E100", "f6"});
}

TEST_CASE("a suspended coroutine is run to its end by the thread that destroys it") {
  const Outcome outcome = run("coroutine_destroyed");
  REQUIRE(outcome.exit_code == 0);
  const Story told = story(outcome.traces.at(0).threads.at(0));
  const auto begun = std::find(told.begin(), told.end(), "B50");
  REQUIRE(begun != told.end());
  CHECK(std::count(begun, told.end(), "Ei@0") == 1);
  // The thread then works for its own interval again.
  CHECK(Story(told.end() - 2, told.end()) == Story{"W50=3", "E50"});
}

TEST_CASE(
    "coroutines that are handed to an awaited operation work for the interval, others do not") {
  const Outcome outcome = run("coroutine_hands");
  REQUIRE(outcome.exit_code == 0);
  CHECK(story(outcome.traces.at(0).threads.at(0)) == Story{"B200", "f8", "S0@0",                 //
                                                           "S200@81", "f1", "f5", "f8", "S0@0",  //
                                                           "S200@81", "f1", "f5", "f8", "S0@0",  //
                                                           "f1", "f5",  // the stranger
                                                           "S200@81", "E200", "f8"});
}

TEST_CASE("coroutines that hop between threads keep their intervals") {
  const Outcome outcome = run("coroutine_hops");
  REQUIRE(outcome.exit_code == 0);
  std::map<uint64_t, uint64_t> work;  // by interval
  size_t ends = 0;
  for (const Thread& thread : outcome.traces.at(0).threads) {
    CHECK(nesting_error(thread) == "");
    uint64_t current = 0;
    for (const Record& r : thread.records) {
      if (r.id == VPROF_EV_BEGIN || r.id == VPROF_EV_SWITCH) {
        // Between two of them, the thread works for none.
        CHECK((current == 0 || r.more.at(0).word == 0));
        current = r.more.at(0).word;
      } else if (r.id == VPROF_EV_WORK) {
        CHECK(r.more.at(0).word == current);
        CHECK(r.more.at(1).word == current);  // as the program says
        ++work[current];
      } else if (r.id == VPROF_EV_END) {
        CHECK(r.more.at(0).word == current);
        current = 0;
        ++ends;
      }
    }
  }
  CHECK(ends == 16);
  REQUIRE(work.size() == 16);
  for (const auto& [id, count] : work) {
    CHECK(count == 200);
  }
}
