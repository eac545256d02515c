// A report with something of everything, and the golden files.
#pragma once

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "vprof/analyzer/marks.h"
#include "vprof/report/report.h"

namespace vprof::test {

using namespace vprof::analyzer;

inline Node make_node(NodeKind kind, const std::string& name, double contribution,
                      std::vector<Node> children = {}) {
  Node node;
  node.kind = kind;
  node.function = name;
  node.contribution = node.share = contribution;
  node.tail_share = contribution;
  node.mean_ns = 1e6 * contribution;
  node.variance_ns2 = 1e12 * contribution;
  node.count = 7;
  node.children = std::move(children);
  return node;
}

inline Profile make_profile() {
  Profile p;
  p.interval = {"request", 12345,    3,
                2.1e6,     2.809e13, 5.3e6,
                1.9e6,     8.2e6,    40.1e6,
                50.2e6,    61.3e6,   {{"NewOrder", 10000, 2.0e6, 2e13}, {"", 2345, 2.5e6, 3e13}},
                0.031,     {},       {}};
  p.kinds = {{TimeKind::kSynchronization, 1.3e6, 0.631, {0.591, 0.671}},
             {TimeKind::kRunning, 0.7e6, 0.352, {0.313, 0.391}},
             {TimeKind::kIo, 0.1e6, 0.0171, {0.0171, 0.0171}},
             {TimeKind::kSleep, 10, -1e-4, {-2e-4, 1e-4}}};
  Node wait = make_node(NodeKind::kWait, "wait(pthread_mutex_lock)", 0.62,
                        {make_node(NodeKind::kBlame, "flush_log", 0.5),
                         make_node(NodeKind::kUntracked, "untracked(logger)", 0.1),
                         make_node(NodeKind::kBody, "wake-up(pthread_mutex_lock)", 0.02)});
  Node order = make_node(NodeKind::kFunction, "process_order", 0.9,
                         {std::move(wait), make_node(NodeKind::kFunction, "price", 0.2)});
  order.function_key = "process_order@src/worker.cpp:41";
  order.location = "src/worker.cpp:77";
  order.covariances = {{0, 1, 4e10, 0.08}};
  p.tree = make_node(NodeKind::kFunction, "request", 1.0, {std::move(order)});

  Factor first;
  first.rank = 1;
  first.functions = {"wait(pthread_mutex_lock)"};
  first.keys = {""};
  first.contribution = 0.62;
  first.ci95 = {0.58, 0.66};
  first.share = first.weight = 0.61;
  first.share_ci95 = {0.57, 0.65};
  first.tail_share = 0.8;
  first.specificity = 25;
  first.score = 15.5;
  first.instances = {{{"request", "process_order", "wait(pthread_mutex_lock)"}, "", 0.62, false}};
  Factor second = first;
  second.rank = 2;
  second.functions = {"process_order"};
  second.keys = {"process_order@src/worker.cpp:41"};
  second.definition = "src/worker.cpp:41";
  second.contribution = 0.2;
  second.weight = 0.2;
  second.status = FactorStatus::kExpandable;
  second.height = 3;
  second.instances = {{{"request", "process_order"}, "src/worker.cpp:77", 0.15, false},
                      {{"request", "retry", "process_order"}, "src/worker.cpp:99", 0.05, false},
                      {{"request", "other", "process_order"}, "src/worker.cpp:120", 0.3, true}};
  Factor third = first;
  third.rank = 3;
  third.kind = FactorKind::kCovariance;
  third.functions = {"price", "wait(pthread_mutex_lock)"};
  third.keys = {"", ""};
  third.contribution = third.weight = 0.03;
  third.tail_share.reset();
  third.status = FactorStatus::kLeaf;
  third.instances = {{{"request", "process_order"}, "src/worker.cpp:80", 0.03, false}};
  p.factors = {first, second, third};
  mark_factors(p);
  p.losses = {.dropped = 4,
              .torn = 1,
              .unreadable_bytes = 4096,
              .outside_waits = 300,
              .unknown_waits = 17,
              .inferred_edges = 5,
              .exact_edges = 20000,
              .notes = {"only 345 intervals: below 1000 the ranking may not hold"}};
  p.overhead = {.records = 1234567,
                .waits = 20322,
                .dropped = 4,
                .chunks = 80,
                .stalls = 2,
                .threads = 5,
                .record_ns = 16.4,
                .processor_ns = 0.4e9,
                .helper_ns = 5e6,
                .thread = "worker",
                .thread_records = 900000,
                .thread_ns = 0.2e9,
                .thread_passed_ns = 0.21e9,
                .groups = {{"", 0, 12345, 2.5e10, 1, 1200000},
                           {"", 1.7e7, 100, 4e9, 0.8, 90000000},
                           {"NewOrder", 0, 10000, 2e10, 0.3, 900000}},
                .baseline_mean_ns = 2.0e6,
                .mean_ratio = 1.08,
                .mean_ratio_ci95 = {1.06, 1.1},
                .median_ratio = 1.01,
                .variance_ratio = 1.3,
                .processor_ratio = 1.12};
  return p;
}

inline report::ReportContext make_context() {
  report::ReportContext context;
  report::Iteration first{.expanded = {"process_order"},
                          .sites = 12,
                          .build_s = 30.5,
                          .run_s = 10.0,
                          .mean_ns = 2.1e6,
                          .variance_ns2 = 2.8e13,
                          .mean_ratio = 1.12,
                          .variance_ratio = 1.4,
                          .selected = {},
                          .set_aside = {"price"},
                          .leading = {{.factor = "process_order", .contribution = 0.9}},
                          .demoted = 0};
  report::Iteration second{.expanded = {"reserve", "flush_log"},
                           .sites = 31,
                           .build_s = 3.25,
                           .run_s = 10.5,
                           .mean_ns = 2.1e6,
                           .variance_ns2 = 2.809e13,
                           .mean_ratio = 1.08,
                           .variance_ratio = 1.3,
                           .selected = {"wait(pthread_mutex_lock)"},
                           .set_aside = {},
                           .leading = {{.factor = "wait(pthread_mutex_lock)", .contribution = 0.62},
                                       {.factor = "process_order", .contribution = 0.2}},
                           .demoted = 1};
  context.iterations = {first, second};
  context.unwrapped = {{"nested in a macro", 3}, {"alloca", 1}};
  context.demoted = {
      {.function = "hash", .position = "src/h.c:7:12", .calls = 1234567, .cost = 0.041, .since = 2},
      {.function = "next", .position = "src/h.c:9:3", .calls = 800000, .cost = 0.02, .since = 3},
      {.function = "match",
       .key = "match@src/m.c:3",
       .position = "src/m.c:20:5",
       .calls = 900000,
       .cost = 0.5,
       .since = 3,
       .heavy_in = "intervals of more than 16.8 ms"}};
  context.overhead_budget = 0.05;
  return context;
}

inline std::string read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The expected text of a file; VPROF_UPDATE_GOLDEN=1 writes the actual one first.
inline std::string expected(const std::string& path, const std::string& actual) {
  if (std::getenv("VPROF_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << actual;
  }
  return read(path);
}

inline std::string golden(const std::string& name, const std::string& actual) {
  return expected(std::string(GOLDEN_DIR) + "/" + name, actual);
}

}  // namespace vprof::test
