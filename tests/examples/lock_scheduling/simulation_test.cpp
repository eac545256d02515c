// The figures that the example promises, on a simulated clock: the same each time, on every
// machine.
#include "simulation/simulation.h"

#include <catch2/catch.hpp>

#include "program/figures.h"
#include "program/options.h"

namespace {

double number(const std::string& line, const std::string& name) {
  const size_t at = line.find(" " + name + "=");
  REQUIRE(at != std::string::npos);
  return std::stod(line.substr(at + name.size() + 2));
}

std::string simulate(const std::vector<const char*>& arguments) {
  std::vector<const char*> all{"lock_lab", "simulate"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  lab::Settings settings;
  std::string error;
  REQUIRE(lab::read_options(static_cast<int>(all.size()), all.data(), settings, error));
  return lab::figures(settings, lab::simulate(settings, *lab::make_workload(settings.workload)));
}

double throughput(const char* policy, const char* workload, const char* clients,
                  const char* patience) {
  return number(simulate({"--policy", policy, "--workload", workload, "--clients", clients,
                          "--patience", patience, "--transactions", "3000", "--warm-up", "500"}),
                "throughput");
}

}  // namespace

TEST_CASE("the same seed gives the same figures, another one others") {
  const std::vector<const char*> arguments{"--workload", "micro", "--policy",       "rs",
                                           "--clients",  "20",    "--transactions", "500",
                                           "--seed",     "7"};
  const std::string once = simulate(arguments);
  CHECK(simulate(arguments) == once);
  std::vector<const char*> other = arguments;
  other.back() = "8";
  CHECK(number(simulate(other), "mean") != number(once, "mean"));
}

TEST_CASE("one client never waits") {
  const std::string line =
      simulate({"--workload", "tpcc-2", "--clients", "1", "--transactions", "200"});
  CHECK(number(line, "waits") == 0);
  CHECK(number(line, "deadlocks") == 0);
}

TEST_CASE("TPC-C with 2 warehouses: LDSF is 1.3 times as fast as FCFS with 100 clients") {
  CHECK(throughput("ldsf", "tpcc-2", "100", "0") > 1.3 * throughput("fcfs", "tpcc-2", "100", "0"));
}

TEST_CASE("microbenchmark: FCFS, VATS, LDSF, bLDSF, in this order") {
  const double fcfs = throughput("fcfs", "micro", "100", "8");
  const double vats = throughput("vats", "micro", "100", "8");
  const double ldsf = throughput("ldsf", "micro", "100", "8");
  const double bldsf = throughput("bldsf", "micro", "100", "8");
  CHECK(vats > 1.3 * fcfs);
  CHECK(ldsf > 1.1 * vats);
  CHECK(bldsf > ldsf);
}

TEST_CASE("transactions that come at random moments come at the rate that was asked for") {
  const std::string line = simulate(
      {"--workload", "ycsb", "--rate", "200", "--transactions", "4000", "--unit-us", "1000"});
  CHECK(number(line, "throughput") == Approx(200).epsilon(0.05));
}

TEST_CASE("options: what is wrong is said") {
  lab::Settings settings;
  std::string error;
  const auto read = [&](const std::vector<const char*>& arguments) {
    return lab::read_options(static_cast<int>(arguments.size()), arguments.data(), settings, error);
  };
  CHECK_FALSE(read({"lock_lab"}));
  CHECK(error == "the first argument is run or simulate");
  CHECK_FALSE(read({"lock_lab", "run", "--policy", "lifo"}));
  CHECK(error == "--policy cannot be lifo");
  CHECK_FALSE(read({"lock_lab", "run", "--clients", "0"}));
  CHECK_FALSE(read({"lock_lab", "run", "--clients", "1.5"}));
  CHECK_FALSE(read({"lock_lab", "run", "--clients"}));
  CHECK(error == "--clients needs a value");
  CHECK_FALSE(read({"lock_lab", "run", "--client", "1"}));
  CHECK(error == "--client is unknown");
  CHECK_FALSE(read({"lock_lab", "run", "--workload", "micro-80-101"}));
  CHECK(read({"lock_lab", "run", "--workload", "micro-80-20", "--lru", "lazy"}));
  CHECK(settings.lazy_lru);
}

TEST_CASE("more than the engine can do: the run ends, and says so") {
  const std::string line =
      simulate({"--workload", "tpcc-2", "--rate", "5000", "--transactions", "9000"});
  CHECK(number(line, "overloaded") == 1);
  CHECK(number(line, "transactions") < 9000);
}
