// The locks that a benchmark's transactions take, in their order, without the data: its lock
// skeleton.
#pragma once

#include <memory>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "locks/lock.h"

namespace lab {

using Random = std::mt19937_64;

// A statement: acquire a lock, then work. Work is in units, whose length the run decides.
struct Step {
  ObjectId object = 0;
  Mode mode = Mode::kShared;
  double work = 0;
};

struct Script {
  int type = 0;
  std::vector<Step> steps;
};

class Workload {
 public:
  virtual ~Workload() = default;

  // The next transaction. Only a function of the random numbers.
  virtual Script next(Random& random) const = 0;

  virtual std::span<const char* const> types() const = 0;
};

// Null for an unknown name. workload_names() says which there are.
std::unique_ptr<Workload> make_workload(std::string_view name);
std::span<const std::string_view> workload_names();

std::unique_ptr<Workload> make_tpcc(int warehouses, bool with_analytical_query);
std::unique_ptr<Workload> make_seats();
std::unique_ptr<Workload> make_tatp();
std::unique_ptr<Workload> make_epinions();
std::unique_ptr<Workload> make_ycsb();
// `theta`: skew of the Zipfian distribution; `updates`: part of the queries that lock exclusively.
std::unique_ptr<Workload> make_microbenchmark(double theta, double updates);

}  // namespace lab
