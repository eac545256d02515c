#include "summary.h"

#include <catch2/catch.hpp>

#include "helpers.h"
#include "trace_writer.h"

using namespace vprof;

TEST_CASE("quantiles are exact ranks") {
  std::vector<int64_t> sorted;
  for (int i = 1; i <= 1000; ++i) sorted.push_back(i);
  CHECK(analyzer::quantile(sorted, 0.5) == 500);
  CHECK(analyzer::quantile(sorted, 0.95) == 950);
  CHECK(analyzer::quantile(sorted, 0.99) == 990);
  CHECK(analyzer::quantile(sorted, 0.999) == 999);
  CHECK(analyzer::quantile({42}, 0.999) == 42);
  CHECK(analyzer::quantile({1, 2}, 0.5) == 1);
}

TEST_CASE("latency, labels, and what is between them") {
  test::ScratchDir dir;
  test::SitesWriter sites;
  test::ProcessWriter process;
  auto& t = process.thread(1);
  const std::vector<std::pair<std::string, int64_t>> runs = {
      {"Payment", 10}, {"NewOrder_with_a_long_name", 30}, {"Payment", 14}, {"Payment", 12}};
  int64_t now = 0;
  for (const auto& [label, latency] : runs) {
    t.begin(1, now);
    t.label(1, now + 1, label);
    t.end(1, now + latency);
    now += 100;
  }
  process.write(dir.path());
  const auto summary = analyzer::summarize_latency(dir.path(), sites.write(dir.path()), {});
  REQUIRE(summary);
  CHECK(summary->count == 4);
  CHECK(summary->mean_ns == Approx(16.5));
  CHECK(summary->variance_ns2 == Approx((42.25 + 182.25 + 6.25 + 20.25) / 4));
  CHECK(summary->max_ns == 30);
  REQUIRE(summary->labels.size() == 2);
  CHECK(summary->labels[0].label == "Payment");
  CHECK(summary->labels[0].count == 3);
  CHECK(summary->labels[0].mean_ns == Approx(12));
  CHECK(summary->labels[1].label == "NewOrder_with_a_long_name");
  const double between = (3 * 4.5 * 4.5 + 13.5 * 13.5) / 4;
  CHECK(summary->between_labels == Approx(between / summary->variance_ns2));
}
