// Comparisons of two profiles, for pull requests and test reports.
#include "vprof/report/diff.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "vprof/support/text.h"

using namespace vprof;
using namespace vprof::analyzer;

namespace {

Diff compared() {
  Diff diff;
  diff.interval = "request";
  diff.count_a = 3000;
  diff.count_b = 3100;
  diff.figures = {{"mean", 433e3, 275e3, 0.635, {0.47, 0.85}, true},
                  {"variance", 2e12, 6.5e9, 0.0033, {0.0007, 0.014}, true},
                  {"p99", 4.86e6, 454e3, 0.094, {0.029, 0.3}, false},
                  {"max", 21e6, 3e6, 0.16, {}, false}};
  diff.kinds = {{TimeKind::kQueue, 3.1e6, 0, -0.62, {-0.7, -0.54}, true},
                {TimeKind::kIo, 1e6, 1.2e6, 0.0123, {}, false}};
  for (int i = 0; i < 20; ++i) {
    FactorChange change;
    change.functions = {i == 0 ? "operator|" : "f" + std::to_string(i)};
    change.change = -0.9 + 0.01 * i;
    change.ci95 = {change.change - 0.1, change.change + 0.1};
    change.significant = i == 0;
    change.depth = i == 1 ? 1 : 0;
    diff.factors.push_back(change);
  }
  diff.notes = {"A: a note"};
  return diff;
}

report::Judged judged(const char* text, bool holds, double value) {
  report::Judged one;
  one.condition = *parse_condition(text);
  one.verdict.holds = holds;
  one.verdict.value = value;
  return one;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a verdict prints its figures in the unit of the condition") {
  report::Judged one = judged("p99>1.1x", true, 1.42);
  one.verdict.ci95 = {1.2, 1.68};
  CHECK(report::text(one) == "p99>1.1x: 1.42x (95 % confidence 1.20x to 1.68x)");
  CHECK(report::text(judged("max>2ms", false, 1.5e6)) ==
        "max>2ms: 1.50 ms (no confidence interval)");
  report::Judged share = judged("share(f)>10%", false, 0.0312);
  share.verdict.remark = "B has no time in it";
  CHECK(report::text(share) == "share(f)>10%: 3.1 % (no confidence interval); B has no time in it");
}

TEST_CASE("markdown: the verdict first, tables that a cell cannot break, long lists cut") {
  const std::string text = report::markdown(
      compared(), {judged("p99>1.1x", false, 0.094), judged("share(a|b)>1%", true, 0.5)});
  CAPTURE(text);
  CHECK(text.starts_with("### Latency of `request`: p99 4.86 ms → 454 us (0.094x)"));
  CHECK(has(text, "1 of 2 conditions failed"));
  CHECK(has(text, "✅ `p99>1.1x`: 0.094x"));
  CHECK(has(text, "❌ `share(a\\|b)>1%`: 50.0 %"));
  CHECK(has(text, "| mean | 433 us | 275 us | **0.64x** | 0.47x to 0.85x |"));
  CHECK(has(text, "| max | 21.0 ms | 3.00 ms | 0.16x |  |"));
  CHECK(has(text, "| queue | 3.10 ms | 0 ns | **-62.0 %** | 8.0 |"));
  CHECK(has(text, "| I/O | 1.00 ms | 1.20 ms | +1.2 % |  |"));
  CHECK(has(text, "| **-90.0 %** | 10.0 | `operator\\|` |"));
  CHECK(has(text, "| -89.0 % | 10.0 | &emsp;`f1` |"));
  CHECK(has(text, "| | | 5 more |"));
  CHECK(has(text, "- A: a note"));
  // Every row of a table has the cells of its head.
  size_t columns = 0;
  for (const std::string& line : lines_of(text)) {
    std::string plain = line;
    for (size_t at = plain.find("\\|"); at != std::string::npos; at = plain.find("\\|")) {
      plain.erase(at, 2);
    }
    const auto bars = static_cast<size_t>(std::count(plain.begin(), plain.end(), '|'));
    if (bars == 0) {
      columns = 0;
    } else if (columns == 0) {
      columns = bars;
    }
    CAPTURE(line);
    CHECK(bars == columns);
  }
  Diff same = compared();
  same.factors.clear();
  CHECK(has(report::markdown(same, {}), "No factor changed by 1 %"));
  CHECK(!has(report::markdown(same, {}), "Fails if"));
}

TEST_CASE("JUnit: a test case for each condition, and names that XML needs escaped") {
  const std::string text = report::junit(
      compared(), {judged("p99>1.1x", true, 1.42), judged("share(a<\"b&c\">)>1%", false, 0.005)});
  CAPTURE(text);
  CHECK(has(text, "tests=\"2\" failures=\"1\""));
  CHECK(has(text, "name=\"p99&gt;1.1x\""));
  CHECK(has(text, "<failure message=\"p99&gt;1.1x: 1.42x (no confidence interval)\"/>"));
  CHECK(has(text, "name=\"share(a&lt;&quot;b&amp;c&quot;&gt;)&gt;1%\""));
  CHECK(has(text, "<system-out>"));
}

TEST_CASE("the comparison as text shows labels, and is ASCII where it must be") {
  Diff diff = compared();
  diff.labels = {{"GET",
                  2000,
                  2100,
                  {{"mean", 1e6, 2e6, 2, {1.8, 2.2}, false}, {"p99", 3e6, 3e6, 1, {}, false}}}};
  const std::string text = report::text(diff, report::TextOptions{80, false, true});
  CAPTURE(text);
  CHECK(has(text, "  GET: A 2,000, B 2,100"));
  CHECK(has(text, "2.00x    1.80x .. 2.20x"));
  CHECK(has(text, "  queue           3.10 ms     0 ns        -62.0 %  *    +- 8.0"));
  CHECK(has(text, "  I/O             1.00 ms     1.20 ms     +1.2 %"));
  // Where there is but one kind, it says what the variance says.
  diff.kinds.pop_back();
  CHECK(!has(report::text(diff, report::TextOptions{80, false, true}), "Kinds of time"));
  CHECK(!has(report::markdown(diff, {}), "kind of time"));
  CHECK(has(text, "us^2"));
  CHECK(std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; }));
}
