#include "vprof/report/live_screen.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "text/layout.h"

using namespace vprof::report;

namespace {

LiveFactor live_factor(int rank, const std::string& name, double share, double error,
                       LiveStanding standing) {
  return {.id = name,
          .name = name,
          .location = "src/stock.cpp:" + std::to_string(10 * rank),
          .rank = rank,
          .share = share,
          .ci95 = {share - error, share + error},
          .may_be_zero = share < error,
          .standing = standing};
}

LiveStatus searching() {
  LiveStatus status;
  status.interval = "order";
  status.iteration = 3;
  status.epoch = 7;
  status.phase = LivePhase::kMeasuring;
  status.phase_s = 6.2;
  status.phase_most_s = 10;
  status.elapsed_s = 102;
  status.purpose = "breaking down orders::Stock::reserve (97 % of the variance)";
  status.functions = {"orders::Stock::reserve", "orders::Stock::compact_shelf",
                      "orders::Lager::räume_auf", "orders::在庫::整理"};
  status.sites_on = 21;
  status.budget = 0.05;
  status.own_processors = 0.083;
  status.figures = {.iteration = 3,
                    .baseline = false,
                    .seconds = 6.2,
                    .count = 7688,
                    .incomplete = 3,
                    .mean_ns = 433'000,
                    .p99_ns = 4'860'000,
                    .mean_ci95 = {380'000, 486'000},
                    .p99_ci95 = {4'500'000, 5'200'000},
                    .records = 151'000,
                    .dropped = 0,
                    .unknown_waits = 2,
                    .cost = 0.018,
                    .mean_ratio = 1.02,
                    .mean_ratio_ci95 = {0.97, 1.08}};
  status.factors = {
      live_factor(1, "orders::Stock::compact_shelf", 0.988, 0.01, LiveStanding::kOpen),
      live_factor(2, "orders::Lager::räume_auf", 0.41, 0.2, LiveStanding::kExpanded),
      live_factor(3, "orders::在庫::整理", 0.123, 0.05, LiveStanding::kAnswer),
      live_factor(4, "wait(pthread_mutex_lock)", 0.061, 0.021, LiveStanding::kLeaf),
      live_factor(5, "preempted and body(orders::Stock::compact_shelf)", 0.012, 0.04,
                  LiveStanding::kLeaf),
      live_factor(6, "orders::Mail::send", 0.01, 0.005, LiveStanding::kSetAside)};
  for (int rank = 7; rank <= 12; ++rank) {
    status.factors.push_back(live_factor(rank, "orders::small_" + std::to_string(rank), 0.01, 0.004,
                                         LiveStanding::kNext));
  }
  status.log = {
      "iteration 3: breaking down orders::Stock::reserve (97 % of the variance) (21 sites on)",
      "2,400 intervals, mean 0.433 ms, standard deviation 1.410 ms",
      "  1. orders::Stock::reserve: 97.1 % of the variance",
      "recording adds 1.8 % to the time that the program is busy",
      "not measured any more: 2 calls of hash"};
  return status;
}

/// The text alone, between marks that show the width; styles as a letter for each part.
std::string drawn(const std::vector<ScreenLine>& lines, size_t width) {
  std::string text;
  for (const ScreenLine& line : lines) {
    std::string row;
    std::string styles;
    for (const ScreenPart& part : line) {
      row += part.text;
      styles += "-BSTFW"[static_cast<size_t>(part.style)];
    }
    text += "|" + pad(row, width) + "|" + styles + "\n";
  }
  return text;
}

std::string screen_golden(const std::string& name, const std::string& actual) {
  const std::string path = std::string(GOLDEN_DIR) + "/live-screen/" + name + ".txt";
  if (std::getenv("VPROF_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << actual;
  }
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void check_golden(const std::string& name, const LiveStatus& status, const LiveView& view,
                  ScreenSize size, bool ascii = false) {
  const std::string actual = drawn(live_screen(status, view, size, {.ascii = ascii}), size.columns);
  CHECK(actual == screen_golden(name, actual));
}

}  // namespace

TEST_CASE("the screen of a live search at several sizes") {
  LiveView view;
  view.selected = "orders::在庫::整理";
  view.notice = "orders::在庫::整理 is an answer";
  check_golden("80x24", searching(), view, {.rows = 24, .columns = 80});
  check_golden("40x10", searching(), view, {.rows = 10, .columns = 40});
  check_golden("200x60", searching(), view, {.rows = 60, .columns = 200});
  check_golden("80x24-ascii", searching(), view, {.rows = 24, .columns = 80}, true);
}

TEST_CASE("the screen before anything is measured, and at the baseline") {
  LiveStatus status;
  status.interval = "order";
  status.iteration = 1;
  status.budget = 0.05;
  status.sites_on = 4;
  check_golden("nothing", status, {}, {.rows = 12, .columns = 80});
  status.phase = LivePhase::kBaseline;
  status.phase_s = 2;
  status.phase_most_s = 10;
  status.epoch = 1;
  status.functions = {"order"};
  status.figures = {
      .iteration = 1, .baseline = true, .seconds = 2, .count = 11, .mean_ns = 2e8, .p99_ns = 3e8};
  check_golden("baseline", status, {}, {.rows = 12, .columns = 80});
}

TEST_CASE("a page of the screen scrolls") {
  LiveView view;
  view.page.title = "the variance tree";
  for (int i = 1; i <= 30; ++i) {
    view.page.lines.push_back("line " + std::to_string(i));
  }
  view.page_top = 21;
  check_golden("page", searching(), view, {.rows = 12, .columns = 60});
}

TEST_CASE("the selected factor is always on the screen, and no line is too long") {
  LiveStatus status = searching();
  for (const LiveFactor& factor : status.factors) {
    LiveView view;
    view.selected = factor.id;
    for (size_t rows = 0; rows < 40; ++rows) {
      for (const size_t columns : {1, 2, 7, 20, 39, 45, 59, 60, 80, 89, 90, 140}) {
        for (const bool ascii : {false, true}) {
          const auto lines =
              live_screen(status, view, {.rows = rows, .columns = columns}, {.ascii = ascii});
          REQUIRE(lines.size() == rows);
          bool shown = false;
          for (const ScreenLine& line : lines) {
            size_t width = 0;
            for (const ScreenPart& part : line) {
              width += vprof::report::columns(part.text);
              shown = shown || part.style == ScreenStyle::kSelected;
            }
            REQUIRE(width <= columns);
          }
          CHECK((shown || rows < 6));
        }
      }
    }
  }
}

TEST_CASE("the band narrows with the confidence interval") {
  LiveStatus status = searching();
  const auto row = [&](double error) {
    status.factors = {live_factor(1, "f", 0.5, error, LiveStanding::kOpen)};
    for (const ScreenLine& line : live_screen(status, {}, {.rows = 24, .columns = 80}, {})) {
      if (!line.empty() && line[0].style == ScreenStyle::kSelected) {
        return line[0].text;
      }
    }
    return std::string();
  };
  CHECK(row(0.25).find("███▒▒▒▒▒▒···") != std::string::npos);
  CHECK(row(0.09).find("█████▒▒·····") != std::string::npos);
  CHECK(row(0.0).find("██████······") != std::string::npos);
}

TEST_CASE("lines that are too long are broken, and nothing of them is lost") {
  CHECK(wrapped_lines("  a  bc  def ghi\n\nx", 10) ==
        std::vector<std::string>{"  a  bc ", "  def ghi", "", "x"});
  CHECK(wrapped_lines("unbreakable-word", 5) == std::vector<std::string>{"unbreakable-word"});
  CHECK(wrapped_lines("äö üß", 4) == std::vector<std::string>{"äö", "üß"});
}
