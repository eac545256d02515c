// The lock skeletons: mix, order and modes.
#include "workloads/workload.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

namespace {

std::map<std::string, std::vector<lab::Script>> draw(const char* name) {
  const auto workload = lab::make_workload(name);
  REQUIRE(workload != nullptr);
  lab::Random random(1);
  std::map<std::string, std::vector<lab::Script>> scripts;
  for (int i = 0; i < 10000; ++i) {
    lab::Script script = workload->next(random);
    REQUIRE_FALSE(script.steps.empty());
    scripts[workload->types()[static_cast<size_t>(script.type)]].push_back(std::move(script));
  }
  return scripts;
}

double percent(const std::vector<lab::Script>& scripts) {
  return static_cast<double>(scripts.size()) / 100;
}

uint64_t table(const lab::Step& step) { return step.object >> 48; }

}  // namespace

TEST_CASE("TPC-C: the mix, and the order of the locks") {
  auto scripts = draw("tpcc-2");
  CHECK(percent(scripts["NewOrder"]) == Approx(45).margin(2));
  CHECK(percent(scripts["Payment"]) == Approx(43).margin(2));
  CHECK(percent(scripts["Delivery"]) == Approx(4).margin(1));
  CHECK(scripts.count("Analytical") == 0);
  double lines = 0;
  for (const lab::Script& script : scripts["NewOrder"]) {
    REQUIRE(table(script.steps[1]) == 0);  // reads the warehouse
    REQUIRE(script.steps[1].mode == lab::Mode::kShared);
    REQUIRE(table(script.steps[2]) == 1);  // writes the district
    REQUIRE(script.steps[2].mode == lab::Mode::kExclusive);
    lines += static_cast<double>(script.steps.size() - 3) / 2;
  }
  CHECK(lines / static_cast<double>(scripts["NewOrder"].size()) == Approx(10).margin(0.3));
  for (const lab::Script& script : scripts["Payment"]) {
    REQUIRE(script.steps[0].object < 2);  // one of two warehouses, exclusively
    REQUIRE(script.steps[0].mode == lab::Mode::kExclusive);
  }
}

TEST_CASE("HTAP: one transaction in two hundred is analytical, and reads warehouses") {
  auto scripts = draw("htap-32");
  CHECK(percent(scripts["Analytical"]) == Approx(0.5).margin(0.25));
  for (const lab::Script& script : scripts["Analytical"]) {
    REQUIRE(table(script.steps[0]) == 0);
  }
}

TEST_CASE("SEATS: a reservation reads the flight, and takes a seat later") {
  auto scripts = draw("seats");
  for (const lab::Script& script : scripts["NewReservation"]) {
    REQUIRE(script.steps[0].object == script.steps[3].object);
    REQUIRE(script.steps[0].mode == lab::Mode::kShared);
    REQUIRE(script.steps[3].mode == lab::Mode::kExclusive);
  }
}

TEST_CASE("microbenchmark: five queries, by a Zipfian distribution") {
  std::map<lab::ObjectId, int> drawn;
  int updates = 0;
  auto scripts = draw("micro-80-60");
  for (const lab::Script& script : scripts["queries"]) {
    REQUIRE(script.steps.size() == 5);
    for (const lab::Step& step : script.steps) {
      ++drawn[step.object];
      updates += step.mode == lab::Mode::kExclusive ? 1 : 0;
    }
  }
  CHECK(updates / 50000.0 == Approx(0.6).margin(0.01));
  const lab::ObjectId first = drawn.begin()->first;
  // 1 / k^0.8
  CHECK(static_cast<double>(drawn[first]) / drawn[first + 9] == Approx(6.3).margin(1.5));
}

TEST_CASE("little contention: Epinions and YCSB hardly ever name the same row twice") {
  for (const char* name : {"epinions", "ycsb"}) {
    std::map<lab::ObjectId, int> drawn;
    int most = 0;
    for (const auto& [type, scripts] : draw(name)) {
      for (const lab::Script& script : scripts) {
        most = std::max(most, ++drawn[script.steps.front().object]);
      }
    }
    CHECK(most < 6);
  }
}

TEST_CASE("an unknown workload is none") {
  for (const char* name : {"tpcc", "tpcc-", "tpcc-0", "tpcc-2x", "micro-", "micro-80", "tpch"}) {
    CAPTURE(name);
    CHECK(lab::make_workload(name) == nullptr);
  }
}
