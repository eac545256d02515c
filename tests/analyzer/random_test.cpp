// Some hundreds of random programs: the analyzer's times against those read off nanosecond by
// nanosecond, and its moments against two passes over them in long double.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "helpers.h"
#include "simulator.h"

using namespace vprof;

namespace {

using Times = std::map<std::string, int64_t>;

/// Paths of the tree's nodes in the words of the simulator: `f2@7` for a call at site 7, `body` for
/// any body.
std::string name_in(const analyzer::Node& node,
                    const std::map<std::string, uint32_t>& site_of_place) {
  if (node.kind == analyzer::NodeKind::kBody) return "body";
  if (node.kind == analyzer::NodeKind::kFunction || node.kind == analyzer::NodeKind::kBlame) {
    const auto place = site_of_place.find(node.site);
    if (place != site_of_place.end()) return node.function + "@" + std::to_string(place->second);
  }
  return node.function;
}

struct Oracle {
  std::vector<Times> times;  // per interval: of leaves and of all above them
  long double mean(const std::string& path) const {
    long double sum = 0;
    for (const Times& t : times) sum += of(t, path);
    return sum / static_cast<long double>(times.size());
  }
  long double covariance(const std::string& a, const std::string& b) const {
    const long double mean_a = mean(a);
    const long double mean_b = mean(b);
    long double sum = 0;
    for (const Times& t : times) sum += (of(t, a) - mean_a) * (of(t, b) - mean_b);
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
             const std::map<std::string, uint32_t>& places, std::set<std::string>& seen) {
  INFO(path);
  const auto scale = static_cast<double>(oracle.covariance("request", "request"));
  const auto close = [&](double value, long double expected, double size) {
    CHECK(std::abs(value - static_cast<double>(expected)) <= 1e-9 * std::max(size, 1.0));
  };
  seen.insert(path);
  close(node.mean_ns, oracle.mean(path), node.mean_ns);
  close(node.variance_ns2, oracle.covariance(path, path), scale);
  if (scale > 0) close(node.share, oracle.covariance(path, "request") / scale, 1);
  std::vector<std::string> children;
  for (const auto& child : node.children) {
    children.push_back(path + "/" + name_in(child, places));
    compare(child, children.back(), oracle, places, seen);
  }
  for (const auto& pair : node.covariances) {
    close(pair.covariance_ns2, oracle.covariance(children[pair.a], children[pair.b]), scale);
  }
}

}  // namespace

TEST_CASE("random programs: paths, sums and moments are those of the oracle") {
  uint64_t waits = 0;
  uint64_t intervals = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    INFO("seed " << seed);
    const test::Simulator program(seed);
    const auto truth = program.truth();
    test::ScratchDir dir;
    const std::string sites = program.write(dir.path());
    const auto profile = analyzer::analyze(dir.path(), sites, {});
    REQUIRE(profile);
    REQUIRE(profile->interval.count == truth.size());
    // Call sites stand at lines 1001, 1002, ...; entries at the lines of their functions.
    std::map<std::string, uint32_t> places;
    for (uint32_t i = 1; i < 100; ++i) {
      places["src/a.c:" + std::to_string(1000 + i)] = i;
      places["src/a.c:" + std::to_string(10 * i)] = i;
    }
    const Oracle oracle = make_oracle(truth);
    std::set<std::string> seen;
    compare(profile->tree, "request", oracle, places, seen);
    for (const Times& times : oracle.times) {
      for (const auto& [path, ns] : times) {
        const bool only_body = path.ends_with("/body") && !seen.contains(path);
        INFO(path << " " << ns);
        CHECK((seen.contains(path) || only_body));
      }
    }
    CHECK(test::worst_violation(*profile) < 1e-9);
    CHECK(profile->losses.unmatched_waits == 0);
    CHECK(profile->losses.torn == 0);
    waits += profile->losses.exact_edges;
    intervals += profile->interval.count;
  }
  // The programs are worth the name.
  CHECK(waits > 1000);
  CHECK(intervals > 3000);
}

TEST_CASE("the same input gives the same result, to the last bit") {
  const test::Simulator program(11);
  test::ScratchDir dir;
  const std::string sites = program.write(dir.path());
  const auto first = analyzer::analyze(dir.path(), sites, {});
  const auto second = analyzer::analyze(dir.path(), sites, {});
  REQUIRE(first);
  REQUIRE(second);
  REQUIRE(first->factors.size() == second->factors.size());
  for (size_t i = 0; i < first->factors.size(); ++i) {
    CHECK(first->factors[i].functions == second->factors[i].functions);
    CHECK(first->factors[i].contribution == second->factors[i].contribution);
    CHECK(first->factors[i].ci95 == second->factors[i].ci95);
  }
}
