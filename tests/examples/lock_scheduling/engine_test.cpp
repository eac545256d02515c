// The same lock manager with threads. What it must not do ends the process; ThreadSanitizer sees
// the rest.
#include "engine/engine.h"

#include <catch2/catch.hpp>

namespace {

lab::Settings contended() {
  lab::Settings settings;
  settings.workload = "micro-90-60";
  settings.clients = 8;
  settings.transactions = 150;
  settings.unit_us = 20;
  return settings;
}

void run(const lab::Settings& settings) {
  const lab::Outcome outcome = lab::run_engine(settings, *lab::make_workload(settings.workload));
  REQUIRE(outcome.finished.size() == settings.transactions);
  for (const lab::Finished& finished : outcome.finished) {
    REQUIRE(finished.begin <= finished.end);
  }
}

}  // namespace

TEST_CASE("threads: every transaction is committed, under each policy") {
  for (const std::string_view policy : lab::policy_names()) {
    CAPTURE(policy);
    lab::Settings settings = contended();
    settings.policy = policy;
    run(settings);
  }
}

TEST_CASE("threads: with pages, logs and few workers") {
  for (const bool lazy : {false, true}) {
    lab::Settings settings = contended();
    settings.workers = 3;
    settings.pages = 50;
    settings.clean_us = 50;
    settings.read_us = 20;
    settings.lazy_lru = lazy;
    settings.logs = lazy ? 2 : 1;
    settings.flush_us = 20;
    settings.rate = lazy ? 5000 : 0;
    run(settings);
  }
}
