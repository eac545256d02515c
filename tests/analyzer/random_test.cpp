// Random programs: the analyzer's times against those read off nanosecond by nanosecond, and its
// moments against two passes over them in long double.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "helpers.h"
#include "simulator.h"

using namespace vprof;

namespace {

using Times = std::map<std::string, int64_t>;

/// The name of a node in the simulator's terms: `f2@7` for a call at site 7, `body` for any body.
std::string name_in(const analyzer::Node& node, const std::map<std::string, uint32_t>& site_at) {
  if (node.kind == analyzer::NodeKind::kBody) {
    return "body";
  }
  if (node.kind == analyzer::NodeKind::kFunction || node.kind == analyzer::NodeKind::kBlame) {
    const auto site = site_at.find(node.location);
    if (site != site_at.end()) {
      return node.function + "@" + std::to_string(site->second);
    }
  }
  return node.function;
}

struct Oracle {
  std::vector<Times> times;  // per interval: of leaves and all their ancestors
  long double mean(const std::string& path) const {
    long double sum = 0;
    for (const Times& t : times) {
      sum += of(t, path);
    }
    return sum / static_cast<long double>(times.size());
  }
  long double covariance(const std::string& a, const std::string& b) const {
    const long double mean_a = mean(a);
    const long double mean_b = mean(b);
    long double sum = 0;
    for (const Times& t : times) {
      sum += (of(t, a) - mean_a) * (of(t, b) - mean_b);
    }
    return sum / static_cast<long double>(times.size());
  }
  static long double of(const Times& t, const std::string& path) {
    const auto found = t.find(path);
    return found == t.end() ? 0 : static_cast<long double>(found->second);
  }
};

Oracle make_oracle(const std::vector<Times>& truth) {
  Oracle oracle;
  for (const Times& leaves : truth) {
    Times& all = oracle.times.emplace_back();
    for (const auto& [path, ns] : leaves) {
      for (size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
        all[path.substr(0, at)] += ns;
      }
      all[path] += ns;
    }
  }
  return oracle;
}

void compare(const analyzer::Node& node, const std::string& path, const Oracle& oracle,
             const std::map<std::string, uint32_t>& sites_by_line, std::set<std::string>& seen) {
  INFO(path);
  const std::string root = path.substr(0, path.find('/'));
  const auto scale = static_cast<double>(oracle.covariance(root, root));
  const auto close = [&](double value, long double expected, double size) {
    CHECK(std::abs(value - static_cast<double>(expected)) <= 1e-9 * std::max(size, 1.0));
  };
  seen.insert(path);
  close(node.mean_ns, oracle.mean(path), node.mean_ns);
  close(node.variance_ns2, oracle.covariance(path, path), scale);
  if (scale > 0) {
    close(node.share, oracle.covariance(path, root) / scale, 1);
  }
  std::vector<std::string> children;
  for (const auto& child : node.children) {
    children.push_back(path + "/" + name_in(child, sites_by_line));
    compare(child, children.back(), oracle, sites_by_line, seen);
  }
  for (const auto& pair : node.covariances) {
    close(pair.covariance_ns2, oracle.covariance(children[pair.a], children[pair.b]), scale);
  }
}

}  // namespace

namespace {

/// The profile of one kind of interval against its truth.
void check_profile(const analyzer::Profile& profile, const std::vector<Times>& truth) {
  REQUIRE(profile.interval.count == truth.size());
  // Call sites are at lines 1001, 1002, ...; entries at the lines of their functions.
  std::map<std::string, uint32_t> sites_by_line;
  for (uint32_t i = 1; i < 100; ++i) {
    sites_by_line["src/a.c:" + std::to_string(1000 + i)] = i;
    sites_by_line["src/a.c:" + std::to_string(10 * i)] = i;
  }
  const Oracle oracle = make_oracle(truth);
  std::set<std::string> seen;
  compare(profile.tree, profile.tree.function, oracle, sites_by_line, seen);
  for (const Times& times : oracle.times) {
    for (const auto& [path, ns] : times) {
      const bool only_body = path.ends_with("/body") && !seen.contains(path);
      INFO(path << " " << ns);
      CHECK((seen.contains(path) || only_body));
    }
  }
  CHECK(test::worst_violation(profile) < 1e-9);
  CHECK(profile.losses.unknown_waits == 0);
  CHECK(profile.losses.torn == 0);
}

/// Random programs of seeds [first, last] against the oracle.
void check_programs(uint64_t first, uint64_t last) {
  uint64_t waits = 0;
  uint64_t intervals = 0;
  uint64_t steps = 0;
  uint64_t left_out = 0;
  for (uint64_t seed = first; seed <= last; ++seed) {
    INFO("seed " << seed);
    const test::Simulator program(seed);
    if (program.has_crossed_broadcasts()) {  // the truth cannot be known: lock_holders_test.cpp
      ++left_out;
      continue;
    }
    test::ScratchDir dir;
    const std::string sites = program.write(dir.path());
    analyzer::Options options;
    options.interval = "request";
    const auto profile = analyzer::analyze(dir.path(), sites, options);
    REQUIRE(profile);
    check_profile(*profile, program.truth());
    waits += profile->losses.exact_edges;
    intervals += profile->interval.count;
    const auto steps_truth = program.truth_of_steps();
    if (steps_truth.empty()) {
      continue;
    }
    options.interval = "step";
    const auto of_steps = analyzer::analyze(dir.path(), sites, options);
    REQUIRE(of_steps);
    check_profile(*of_steps, steps_truth);
    steps += steps_truth.size();
  }
  // The programs had enough waits and intervals to be worth checking.
  CHECK(waits > 3 * (last - first));
  CHECK(intervals > 8 * (last - first));
  CHECK(steps > 2 * (last - first));
  CHECK(10 * left_out <= last - first);
}

}  // namespace

TEST_CASE("random programs: paths, sums and moments equal those of the oracle") {
  check_programs(1, 100 / test::kEvery);
}

// Takes minutes: `vprof_analyzer_tests "[many]"`.
TEST_CASE("ten thousand random programs", "[.][many]") { check_programs(1, 10'000); }

namespace {

bool same(const analyzer::Node& a, const analyzer::Node& b) {
  if (a.kind != b.kind || a.function != b.function || a.location != b.location ||
      a.count != b.count || a.mean_ns != b.mean_ns || a.variance_ns2 != b.variance_ns2 ||
      a.share != b.share || a.tail_share != b.tail_share ||
      a.children.size() != b.children.size() || a.covariances.size() != b.covariances.size()) {
    return false;
  }
  for (size_t i = 0; i < a.children.size(); ++i) {
    if (!same(a.children[i], b.children[i])) {
      return false;
    }
  }
  return std::equal(a.covariances.begin(), a.covariances.end(), b.covariances.begin(),
                    [](const auto& x, const auto& y) {
                      return x.a == y.a && x.b == y.b && x.covariance_ns2 == y.covariance_ns2;
                    });
}

void check_same(const analyzer::Profile& a, const analyzer::Profile& b) {
  CHECK(same(a.tree, b.tree));
  CHECK(a.interval.count == b.interval.count);
  CHECK(a.interval.incomplete == b.interval.incomplete);
  CHECK(a.interval.p99_ns == b.interval.p99_ns);
  CHECK(a.losses.exact_edges == b.losses.exact_edges);
  REQUIRE(a.factors.size() == b.factors.size());
  for (size_t i = 0; i < a.factors.size(); ++i) {
    CHECK(a.factors[i].functions == b.factors[i].functions);
    CHECK(a.factors[i].contribution == b.factors[i].contribution);
    CHECK(a.factors[i].ci95 == b.factors[i].ci95);
  }
}

}  // namespace

TEST_CASE("the result does not depend on the number of threads or on how much is read at a time") {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    INFO("seed " << seed);
    const test::Simulator program(seed);
    if (program.has_crossed_broadcasts()) {  // signals are matched within a window
      continue;
    }
    test::ScratchDir dir;
    const std::string sites = program.write(dir.path());
    analyzer::Options options;
    options.threads = 1;
    const auto whole = analyzer::analyze(dir.path(), sites, options);
    REQUIRE(whole);
    options.threads = 3;
    const auto parallel = analyzer::analyze(dir.path(), sites, options);
    REQUIRE(parallel);
    check_same(*whole, *parallel);
    options.window = 1;  // one chunk of a page
    const auto pieces = analyzer::analyze(dir.path(), sites, options);
    REQUIRE(pieces);
    check_same(*whole, *pieces);
  }
}
