// When a watch records all the time, in simulated time.
#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "search/live/watch/watch_pace.h"

using namespace vprof;
using namespace vprof::driver;

namespace {

/// A program under a watch, on a machine of two processors.
struct Watched {
  double cost = 0.01;       // of recording, as a part of the time that the program is busy
  double holds = 1000;      // how many seconds of records the rings hold
  double reading = 0.05;    // how long it takes to read a second of records
  double start = 0.01;      // how long it takes to read nothing
  double longest = 0.0001;  // of the requests
  double idle = 0;          // part of the machine
  double report = 0;        // how long it takes to write a report, every ten seconds
};

/// Everything in s.
class Watch {
 public:
  Watch(double budget, const Watched& program,
        WatchPace::Start start = WatchPace::Start::kAllTheTime)
      : pace_({.budget = budget, .processors = kProcessors, .period = 1}, start),
        program_(program) {}

  void watch(double seconds) {
    for (const double end = now_ + seconds; now_ < end;) {
      pace_.slices() ? slice() : window();
    }
  }

  void change(const Watched& program) { program_ = program; }
  const WatchPace& pace() const { return pace_; }
  double now() const { return now_; }
  /// Parts of the time so far: what was recorded and read, what recording cost, and what reading
  /// took of the machine.
  double recorded() const { return recorded_ / now_; }
  double recording_cost() const { return program_.cost * on_ / now_; }
  double own_cost() const { return own_ / now_ / kProcessors; }
  int changes() const { return changes_; }

 private:
  static constexpr double kProcessors = 2;

  analyzer::Slice what_was_recorded(double waited) const {
    analyzer::Slice slice;
    slice.count = 100;
    slice.incomplete = waited < program_.longest ? 1 : 0;
    slice.p99_ns = 1e5;
    slice.overhead.records = 1000;
    slice.overhead.record_ns = 1;  // 1.3 in a program
    slice.overhead.processor_ns = 1300 * (1 + 1 / program_.cost);
    return slice;
  }

  double read(double length) {
    const double took = program_.start + program_.reading * length;
    own_ += took;
    return took;
  }

  double report() {
    if (now_ < reported_ + 10) {
      return 0;
    }
    reported_ = now_;
    own_ += program_.report;
    return program_.report;
  }

  OwnWork::Step own_work(double reading) {
    const OwnWork::Step step{now_ - learnt_, reading + report(), program_.idle};
    learnt_ = now_;
    return step;
  }

  void learn(double waited, WatchPace::Piece piece) {
    const bool before = pace_.slices();
    pace_.learn(what_was_recorded(waited), piece);
    changes_ += before != pace_.slices() ? 1 : 0;
  }

  void window() {
    constexpr double kLag = 1.5;  // what is newer is not read yet
    const double length = 1 + unread_;
    const double reading = read(length);
    const double missing = std::clamp(length + kLag - program_.holds, 0.0, length);
    now_ += length + reading - unread_;
    on_ += length + reading - unread_;
    unread_ = reading;
    recorded_ += length - missing;
    learn(0, {.length = length,
              .missing = missing,
              .held = program_.holds,
              .reading = reading,
              .own = own_work(reading)});
  }

  void slice() {
    unread_ = 0;
    const double waited = pace_.waiting();
    const double length = pace_.length();
    const double reading = read(length);
    const double on = pace_.settling() + length + waited;
    const double missing = std::clamp(length + waited - program_.holds, 0.0, length);
    recorded_ += length - missing;
    on_ += on;
    learn(waited, {.length = length,
                   .missing = missing,
                   .held = program_.holds,
                   .waited = waited,
                   .patience = 2,
                   .reading = reading,
                   .own = own_work(reading)});
    now_ += on + std::max(reading, pace_.pause_after(on));
  }

  WatchPace pace_;
  Watched program_;
  double now_ = 0, recorded_ = 0, on_ = 0, own_ = 0, unread_ = 0, reported_ = 0, learnt_ = 0;
  int changes_ = 0;
};

}  // namespace

TEST_CASE("watch: what is within the budget is recorded all the time") {
  Watch watch(0.02, {.cost = 0.01, .reading = 0.01, .start = 0.001});
  watch.watch(100);
  CHECK_FALSE(watch.pace().slices());
  CHECK(watch.changes() == 0);
}

TEST_CASE(
    "watch: moments tell what costs many times the budget, before a second of it is recorded") {
  for (const double cost : {0.3, 1.0, 3.0}) {
    Watch watch(0.02, {.cost = cost, .reading = 0.01, .start = 0.001}, WatchPace::Start::kMoments);
    CHECK(watch.pace().tries());
    watch.watch(0.1);
    CHECK_FALSE(watch.pace().tries());
    CHECK(watch.pace().is_beyond_budget());
    watch.watch(30);
    INFO("cost " << cost);
    CHECK(watch.recording_cost() + watch.own_cost() < 1.2 * 0.02);
    CHECK(watch.recorded() > 0);
  }
  Watch cheap(0.02, {.cost = 0.01, .reading = 0.01, .start = 0.001}, WatchPace::Start::kMoments);
  cheap.watch(0.1);
  CHECK_FALSE(cheap.pace().slices());
}

TEST_CASE("watch: the less is idle, the more does reading count") {
  Watch busy(0.02, {.cost = 0.001, .reading = 0.2});
  busy.watch(1000);
  CHECK(busy.pace().is_beyond_budget());
  CHECK(busy.own_cost() < 0.02);
  Watch nearly(0.02, {.cost = 0.05, .reading = 0.2, .idle = 0.1});
  nearly.watch(10'000);
  CHECK(nearly.pace().is_beyond_budget());
  CHECK(nearly.own_cost() < 1.01 * 0.4 * 0.02 / 0.8);
  Watch half(0.02, {.cost = 0.05, .reading = 0.2, .idle = 0.25});
  half.watch(10'000);
  CHECK(half.own_cost() < 1.01 * 0.4 * 0.02 / 0.5);
  Watch idle(0.02, {.cost = 0.001, .reading = 0.2, .idle = 0.5});
  idle.watch(1000);
  CHECK_FALSE(idle.pace().slices());
  idle.change({.cost = 0.001, .reading = 0.2});
  idle.watch(100);
  CHECK(idle.pace().is_beyond_budget());
}

TEST_CASE("watch: recording and reading together stay within the budget") {
  for (const double budget : {0.005, 0.02, 0.05}) {
    for (const double cost : {0.06, 0.1, 0.5}) {
      for (const double reading : {0.01, 0.1, 0.4}) {
        Watch watch(budget, {.cost = cost, .reading = reading});
        watch.watch(10'000);  // the first second counts little
        INFO("budget " << budget << ", cost " << cost << ", reading " << reading);
        CHECK(watch.pace().is_beyond_budget());
        CHECK(watch.recording_cost() + watch.own_cost() < 1.05 * budget);
        CHECK(watch.recording_cost() + watch.own_cost() > 0.3 * budget);
        CHECK(watch.recorded() > 0);
      }
    }
  }
}

TEST_CASE("watch: a report now and then is no reason to record less") {
  Watch watch(0.02, {.cost = 0.001, .reading = 0.01, .start = 0.001, .report = 0.1});
  watch.watch(1000);
  CHECK(watch.changes() == 0);
  CHECK(watch.own_cost() > 0.005);
}

TEST_CASE("watch: slices fit into the rings") {
  Watch watch(1, {.holds = 1.5, .idle = 0.5});
  watch.watch(100);
  CHECK(watch.pace().slices());
  CHECK_FALSE(watch.pace().is_beyond_budget());
  CHECK_FALSE(watch.pace().is_behind());
  CHECK(watch.pace().pause_after(1) == 0);
  CHECK(watch.recorded() > 0.7);
  watch.change({.holds = 1000, .idle = 0.5});
  watch.watch(100);
  CHECK_FALSE(watch.pace().slices());
}

TEST_CASE("watch: where records come faster than they are read, recording waits for the reader") {
  Watch watch(1, {.reading = 3, .idle = 0.5});
  watch.watch(100);
  CHECK(watch.pace().is_behind());
  CHECK(watch.pace().length() <= 1);
  CHECK(watch.recorded() > 0.2);
  CHECK(watch.changes() == 1);
  watch.change({.reading = 0.1, .idle = 0.5});
  watch.watch(10);
  CHECK_FALSE(watch.pace().slices());
}

TEST_CASE("watch: it does not change its mind again and again") {
  for (const double reading : {0.001, 0.2, 0.3, 0.4, 0.45, 0.6}) {
    for (const double cost : {0.001, 0.015, 0.018, 0.02, 0.025}) {
      Watch watch(0.02, {.cost = cost, .reading = reading, .start = 0.001});
      watch.watch(1000);
      INFO("cost " << cost << ", reading " << reading);
      CHECK(watch.changes() <= 1);
    }
  }
}
