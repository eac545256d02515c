// How much of an epoch is recorded, in simulated time.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "search/live/epoch.h"
#include "search/live/slicing.h"

using namespace vprof;
using namespace vprof::driver;

namespace {

/// A program in which recording costs a part of the time that it is busy, and whose requests take
/// `longest` at most.
struct Program {
  double cost = 0;
  double p99 = 0.001, longest = 0.001;
  bool works = true;
  double reading = 0;  // how long the analysis takes, as a part of what it reads
  double own = 0;      // how long anything else takes that vprof does after a slice
  double idle = 1;     // part of the machine
};

/// What the search does with a program: one slice after the other.
class Search {
 public:
  Search(double budget, const Program& program)
      : slicing_({.budget = budget, .processors = kProcessors, .longest_pause = 1}),
        program_(program) {}

  void measure(double seconds) {
    for (const double end = now_ + seconds; now_ < end;) {
      const bool pauses = slicing_.pauses();
      const double began = now_;
      const double settling = pauses ? slicing_.settling() : 0;
      const double waited = slicing_.waiting();
      // Without pauses, a look follows from time to time.
      const double length = std::min(slicing_.length(), 1.0) + unread_;
      now_ += settling + length + waited;
      analyzer::Slice slice;
      if (program_.works) {
        slice.count = 100;
        slice.incomplete = waited < program_.longest ? 1 : 0;
        slice.p99_ns = program_.p99 * 1e9;
        slice.overhead.records = 1000;
        slice.overhead.record_ns = 1;  // 1.3 in a program
        slice.overhead.processor_ns = 1300 * (1 + 1 / program_.cost);
      }
      slices_.push_back({length, waited, slice.incomplete});
      const double reading = program_.reading * (length + waited);
      const double own = reading + program_.own;
      own_ += own;
      slicing_.learn(slice,
                     {length, waited, kPatience, reading, {now_ - learnt_, own, program_.idle}});
      learnt_ = now_;
      if (pauses) {
        on_.push_back({began, now_});
        now_ += std::max(reading, slicing_.pause_after(now_ - began));
      } else {
        now_ += reading;
        on_.push_back({began, now_});
      }
      unread_ = slicing_.pauses() ? 0 : reading;
    }
  }

  /// What recording has added in each second from the first whole one after `since` on.
  std::vector<double> seconds(double since) const {
    std::vector<double> cost(static_cast<size_t>(now_ - since));
    for (size_t i = 0; i < cost.size(); ++i) {
      const double from = since + static_cast<double>(i);
      for (const auto& [begin, end] : on_) {
        cost[i] += program_.cost * std::max(0.0, std::min(end, from + 1) - std::max(begin, from));
      }
    }
    return cost;
  }

  struct Slice {
    double length, waited;
    uint64_t incomplete;
  };
  /// From the begin of each slice to that of the next one.
  std::vector<double> distances() const {
    std::vector<double> result;
    for (size_t i = 1; i < on_.size(); ++i) {
      result.push_back(on_[i].first - on_[i - 1].first);
    }
    return result;
  }
  const std::vector<Slice>& slices() const { return slices_; }
  Slicing& slicing() { return slicing_; }
  double now() const { return now_; }
  /// Of the machine, what vprof's own work has taken so far.
  double own_cost() const { return own_ / kProcessors / now_; }

 private:
  static constexpr double kPatience = 2, kProcessors = 2;

  Slicing slicing_;
  const Program program_;
  double now_ = 0;
  double own_ = 0, learnt_ = 0;
  double unread_ = 0;  // was recorded while the slice before was read
  std::vector<std::pair<double, double>> on_;
  std::vector<Slice> slices_;
};

}  // namespace

TEST_CASE("slicing: what is within the budget is recorded all the time") {
  Search search(0.05, {.cost = 0.03});
  search.measure(20);
  CHECK_FALSE(search.slicing().pauses());
  CHECK(search.seconds(10).at(0) == Approx(0.03));
}

TEST_CASE("slicing: each second stays within the budget, and has something recorded") {
  for (const double budget : {0.005, 0.02, 0.05}) {
    for (const double cost : {0.06, 0.1, 0.3, 1.0}) {
      Search search(budget, {.cost = cost});
      search.measure(60);
      INFO("budget " << budget << ", cost " << cost);
      const std::vector<double> seconds = search.seconds(0);
      double sum = 0;
      for (const double second : seconds) {
        sum += second;
      }
      CHECK(sum / 60 <= 1.05 * budget);    // with what was spent before the cost was known
      constexpr double kShortest = 0.012;  // a slice, with what is around it
      if (cost * kShortest > budget) {
        continue;  // a second with a slice is beyond the budget
      }
      const auto beyond =
          std::ranges::count_if(seconds, [&](double second) { return second > budget; });
      CHECK(beyond <= 3);
      CHECK(std::ranges::count(seconds, 0) < 10);
      CHECK(sum / 60 > 0.5 * budget);
    }
  }
}

TEST_CASE("slicing: on a busy machine, own work has its part of the budget") {
  for (const double cost : {0.005, 0.1}) {
    for (const double own : {0.002, 0.01, 0.02}) {
      INFO("cost " << cost << ", own " << own);
      Search busy(0.05, {.cost = cost, .own = own, .idle = 0});
      busy.measure(200);
      CHECK(busy.own_cost() < 1.1 * 0.4 * 0.05);
      double sum = 0;
      for (const double second : busy.seconds(0)) {
        sum += second;
      }
      CHECK(sum / 200 + busy.own_cost() < 1.05 * 0.05);
      Search idle(0.05, {.cost = cost, .own = own, .idle = 0.6});
      idle.measure(200);
      Search free(0.05, {.cost = cost});
      free.measure(200);
      CHECK(idle.slices().size() == free.slices().size());
    }
  }
}

TEST_CASE("slicing: whatever own work takes, there is a slice every other second") {
  Search search(0.01, {.cost = 0.1, .own = 0.5, .idle = 0});
  search.measure(200);
  CHECK(search.slices().size() > 100);
}

TEST_CASE("slicing: slices do not come at regular intervals") {
  for (const double cost : {0.5, 0.05}) {  // slices are seconds apart, and less than one
    INFO("cost " << cost);
    Search search(0.02, {.cost = cost, .p99 = 0.03, .longest = 0.03});
    search.measure(1000);
    std::vector<double> distances = search.distances();
    distances.erase(distances.begin(), distances.begin() + 10);  // while it learns
    const auto [least, most] = std::ranges::minmax(distances);
    CHECK(most > 1.1 * least);
    CHECK(most < 1.3 * least);
    // Nearly each moment of a tenth of a second is seen equally often.
    std::vector<int> moments(10);
    double now = 0;
    for (const double distance : distances) {
      now += distance;
      ++moments[static_cast<size_t>(std::fmod(now, 0.1) * 100)];
    }
    const auto mean = static_cast<double>(distances.size()) / 10;
    CHECK(std::ranges::min(moments) > mean / 2);
    CHECK(std::ranges::max(moments) < mean * 2);
  }
}

TEST_CASE(
    "epoch: with few intervals in few slices, or what may be chance before the rest, it goes on") {
  const EpochLength length{.most = 10, .longest = 40};
  CHECK(length.end(1, 0) == 40);
  CHECK(length.end(EpochLength::kFewSlices - 1, EpochLength::kFewIntervals - 1) == 40);
  CHECK(length.end(EpochLength::kFewSlices, 0) == 10);
  CHECK(length.end(1, EpochLength::kFewIntervals) == 10);
  CHECK(length.end(0, 0) == 10);  // no slices
  CHECK(length.end(0, 1'000'000, Verdict::kVague) == 40);
  CHECK(EpochLength{.most = 0.25}.end(1, 0) == 0.25);
}

TEST_CASE("slicing: where records come faster than they are read, recording waits for the reader") {
  Search fast(1, {.cost = 0.1, .reading = 0.4});
  fast.measure(60);
  CHECK_FALSE(fast.slicing().pauses());
  Search slow(1, {.cost = 0.1, .reading = 3});
  slow.measure(60);
  CHECK(slow.slicing().pauses());
  CHECK(slow.slices().size() > 10);
  for (size_t i = 3; i < slow.slices().size(); ++i) {
    CHECK(slow.slices().at(i).length < 1.1);
  }
}

TEST_CASE("slicing: slices are long enough for the requests in them") {
  Search search(0.02, {.cost = 0.1, .p99 = 0.1, .longest = 0.4});
  search.measure(200);
  const auto& slices = search.slices();
  const auto cut = std::ranges::count_if(slices, [](const auto& one) { return one.incomplete; });
  CHECK(cut <= 6);  // until it is known how long to wait
  CHECK(slices.back().waited >= 0.4);
  CHECK(slices.back().length >= 2 * slices.back().waited);
}

TEST_CASE("slicing: nobody waits for requests that do not end") {
  Search search(0.02, {.cost = 0.1, .longest = 1e9});
  search.measure(200);
  CHECK(search.slices().back().waited < 0.1);
  CHECK(search.slices().back().incomplete == 1);
}

TEST_CASE("slicing: new sites are tried for a moment") {
  Search search(0.02, {.cost = 0.01});
  search.measure(10);
  CHECK(search.slicing().knows_cost());
  search.slicing().forget_cost();
  CHECK(search.slicing().pauses());
  CHECK(search.slicing().length() < 0.05);
}

TEST_CASE("slicing: a program that does nothing yet is looked at more and more seldom") {
  Search search(0.02, {.works = false});
  search.measure(20);
  CHECK_FALSE(search.slicing().knows_cost());
  CHECK(search.slices().size() < 40);
}
