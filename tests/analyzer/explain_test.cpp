// What goes with the amount of work and with the label, against plain two-pass computation.
#include <catch2/catch.hpp>
#include <cmath>

#include "helpers.h"
#include "trace_writer.h"

using namespace vprof;

namespace {

struct Request {
  std::string label;
  uint64_t work;
  int64_t in_f, in_g;  // ns
};

/// f takes as long as there is work, with some noise; g depends on the label, and on nothing else.
std::vector<Request> requests(size_t labels) {
  std::vector<Request> all;
  uint64_t random = 1;
  for (int i = 0; i < 400; ++i) {
    random = random * 6364136223846793005ull + 1442695040888963407ull;
    const auto noise = static_cast<int64_t>(random >> 55);
    const size_t label = random % labels;
    const uint64_t work = 10 + (random >> 33) % 90;
    all.push_back({"kind" + std::to_string(label), work, static_cast<int64_t>(40 * work) + noise,
                   1000 + 3000 * static_cast<int64_t>(label) + 2 * (noise % 100)});
  }
  return all;
}

struct Recording {
  test::ScratchDir dir;
  test::SitesWriter sites;
  explicit Recording(const std::vector<Request>& all) {
    const uint32_t f = sites.function_site(sites.function("f", 2));
    const uint32_t g = sites.function_site(sites.function("g", 1));
    test::ProcessWriter process;
    auto& t = process.thread(1);
    int64_t now = 1000;
    uint64_t id = 0;
    for (const Request& r : all) {
      t.begin(++id, now);
      t.label(id, now + 1, r.label);
      if (r.work > 50) t.work(id, now + 1, 50);  // in two parts
      t.work(id, now + 2, r.work > 50 ? r.work - 50 : r.work);
      t.frame(f, now + 10, now + 10 + r.in_f);
      t.frame(g, now + 20 + r.in_f, now + 20 + r.in_f + r.in_g);
      now += 30 + r.in_f + r.in_g;
      t.end(id, now);
      now += 100;
    }
    process.write(dir.path());
  }
  analyzer::Profile profile() const {
    auto made = analyzer::analyze(dir.path(), sites.write(dir.path()), {});
    REQUIRE(made);
    return *made;
  }
};

using Values = std::vector<double>;

double mean(const Values& x) {
  double sum = 0;
  for (const double value : x) sum += value;
  return sum / static_cast<double>(x.size());
}

double covariance(const Values& x, const Values& y) {
  Values products;
  for (size_t i = 0; i < x.size(); ++i) products.push_back((x[i] - mean(x)) * (y[i] - mean(y)));
  return mean(products);
}

struct Columns {
  Values latency, f, g, work, of_label;  // the last: mean latency of the label
  explicit Columns(const std::vector<Request>& all) {
    std::map<std::string, Values> latencies;
    for (const Request& r : all) {
      f.push_back(static_cast<double>(r.in_f));
      g.push_back(static_cast<double>(r.in_g));
      latency.push_back(f.back() + g.back() + 30);
      work.push_back(static_cast<double>(r.work));
      latencies[r.label].push_back(latency.back());
    }
    for (const Request& r : all) of_label.push_back(mean(latencies[r.label]));
  }
  double slope() const { return covariance(latency, work) / covariance(work, work); }
  double by_work(const Values& x) const {
    return slope() * covariance(x, work) / covariance(latency, latency);
  }
  double by_label(const Values& x) const {
    return covariance(x, of_label) / covariance(latency, latency);
  }
};

/// The parts of the children make the part of the node.
double worst_violation(const analyzer::Node& node) {
  double work = 0;
  double label = 0;
  double worst = 0;
  for (const analyzer::Node& child : node.children) {
    work += child.work_share;
    label += child.label_share;
    worst = std::max(worst, worst_violation(child));
  }
  if (node.children.empty()) return 0;
  return std::max({worst, std::abs(work - node.work_share), std::abs(label - node.label_share)});
}

}  // namespace

TEST_CASE("what goes with the amount of work, and what with the label") {
  const auto all = requests(3);
  const Columns expected(all);
  const analyzer::Profile p = Recording(all).profile();
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
  CHECK(worst_violation(p.tree) < 1e-12);
  // As the requests are made: f goes with the work, g with the label.
  CHECK(f->work_share > 0.9 * f->share);
  CHECK(g->label_share > 0.9 * g->share);
}

TEST_CASE("added up, profiles explain what they would at once; by label only if all know it") {
  const auto all = requests(2);
  const analyzer::Profile once = Recording(all).profile();
  const auto twice = analyzer::merge({once.sums, once.sums}, {});
  REQUIRE(twice);
  CHECK(twice->interval.work.declared == 800);
  CHECK(twice->interval.work.explained == Approx(once.interval.work.explained));
  CHECK(twice->tree.label_share == Approx(once.tree.label_share));
  CHECK(twice->tree.label_share == Approx(twice->interval.between_labels));
  const analyzer::Profile kinds = Recording(requests(100)).profile();
  CHECK(kinds.interval.labels.size() > 64);
  CHECK(kinds.interval.between_labels > 0.5);
  CHECK(kinds.tree.label_share == 0);
  CHECK(kinds.tree.work_share > 0);
}

TEST_CASE("where no work is declared, none is reported") {
  auto all = requests(2);
  for (Request& r : all) r.work = 0;
  const analyzer::Profile p = Recording(all).profile();
  CHECK(p.interval.work.declared == 0);
  CHECK(p.interval.work.ns_per_unit == 0);
  CHECK(p.tree.work_share == 0);
}
