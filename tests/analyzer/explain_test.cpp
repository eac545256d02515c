// The parts of a share that go with the amount of work and with the label, compared with a plain
// two-pass computation.
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "helpers.h"
#include "requests.h"

using namespace vprof;

namespace {

using test::Request;

/// The time in f is proportional to the work, with some noise; the time in g depends on the label.
/// Large amounts of work are declared in two parts.
std::vector<Request> requests(size_t labels) {
  std::vector<Request> all;
  test::Noise random(1);
  for (int i = 0; i < 400; ++i) {
    const uint64_t bits = random.next();
    const auto noise = static_cast<int64_t>(bits >> 55);
    const size_t label = bits % labels;
    const uint64_t work = 10 + (bits >> 33) % 90;
    all.push_back({.in_f = static_cast<int64_t>(40 * work) + noise,
                   .in_g = 1000 + 3000 * static_cast<int64_t>(label) + 2 * (noise % 100),
                   .label = "kind" + std::to_string(label),
                   .work = work > 50 ? std::vector<uint64_t>{50, work - 50} : std::vector{work}});
  }
  return all;
}

analyzer::Profile profile_of(const std::vector<Request>& all) {
  test::RequestRecording recording;
  recording.add(1, all);
  return recording.profile();
}

using Values = std::vector<double>;

double mean(const Values& x) {
  double sum = 0;
  for (const double value : x) {
    sum += value;
  }
  return sum / static_cast<double>(x.size());
}

double covariance(const Values& x, const Values& y) {
  Values products;
  for (size_t i = 0; i < x.size(); ++i) {
    products.push_back((x[i] - mean(x)) * (y[i] - mean(y)));
  }
  return mean(products);
}

struct Columns {
  Values latency, f, g, work;
  Values of_label;  // mean latency of the label

  explicit Columns(const std::vector<Request>& all) {
    std::map<std::string, Values> latencies;
    for (const Request& r : all) {
      f.push_back(static_cast<double>(r.in_f));
      g.push_back(static_cast<double>(r.in_g));
      latency.push_back(f.back() + g.back() + 100);
      work.push_back(std::accumulate(r.work.begin(), r.work.end(), 0.0));
      latencies[r.label].push_back(latency.back());
    }
    for (const Request& r : all) {
      of_label.push_back(mean(latencies[r.label]));
    }
  }
  double slope() const { return covariance(latency, work) / covariance(work, work); }
  double by_work(const Values& x) const {
    return slope() * covariance(x, work) / covariance(latency, latency);
  }
  double by_label(const Values& x) const {
    return covariance(x, of_label) / covariance(latency, latency);
  }
};

}  // namespace

TEST_CASE("shares are split by amount of work and by label") {
  const auto all = requests(3);
  const Columns expected(all);
  const analyzer::Profile p = profile_of(all);
  CHECK(p.interval.work.declared == 400);
  CHECK(p.interval.work.mean == Approx(mean(expected.work)));
  CHECK(p.interval.work.ns_per_unit == Approx(expected.slope()));
  CHECK(p.interval.work.explained == Approx(expected.by_work(expected.latency)));
  CHECK(p.tree.work_share == Approx(expected.by_work(expected.latency)));
  CHECK(p.tree.label_share == Approx(p.interval.between_labels));
  const analyzer::Factor* f = test::find_factor(p, "f");
  const analyzer::Factor* g = test::find_factor(p, "g");
  REQUIRE(f != nullptr);
  REQUIRE(g != nullptr);
  CHECK(f->work_share == Approx(expected.by_work(expected.f)));
  CHECK(f->label_share == Approx(expected.by_label(expected.f)).margin(1e-9));
  CHECK(g->work_share == Approx(expected.by_work(expected.g)).margin(1e-9));
  CHECK(g->label_share == Approx(expected.by_label(expected.g)));
  CHECK(test::worst_violation(p) < 1e-9);
  // As the requests were made: f goes with the work, g with the label.
  CHECK(f->work_share > 0.9 * f->share);
  CHECK(g->label_share > 0.9 * g->share);
}

TEST_CASE("merged profiles explain what one analysis would; by label only up to 64 labels") {
  const auto all = requests(2);
  const analyzer::Profile once = profile_of(all);
  const auto twice = analyzer::merge({{"a", once.bytes}, {"b", once.bytes}}, {});
  REQUIRE(twice);
  CHECK(twice->interval.work.declared == 800);
  CHECK(twice->interval.work.explained == Approx(once.interval.work.explained));
  CHECK(twice->tree.label_share == Approx(once.tree.label_share));
  CHECK(twice->tree.label_share == Approx(twice->interval.between_labels));
  const analyzer::Profile kinds = profile_of(requests(100));
  CHECK(kinds.interval.labels.size() > 64);
  CHECK(kinds.interval.between_labels > 0.5);
  CHECK(kinds.tree.label_share == 0);
  CHECK(kinds.tree.work_share > 0);
}

TEST_CASE("without declared work, none is reported") {
  auto all = requests(2);
  for (Request& r : all) {
    r.work.clear();
  }
  const analyzer::Profile p = profile_of(all);
  CHECK(p.interval.work.declared == 0);
  CHECK(p.interval.work.ns_per_unit == 0);
  CHECK(p.tree.work_share == 0);
}
