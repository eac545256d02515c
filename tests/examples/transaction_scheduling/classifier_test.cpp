// What the classifier learns from a trace.
#include "classifier/classifier.h"

#include <catch2/catch.hpp>
#include <random>

#include "workloads/workload.h"

using smf::Access;
using smf::Classifier;
using smf::HotKey;
using smf::TracedTransaction;

namespace {

TracedTransaction traced(uint32_t type, std::vector<HotKey> hints,
                         std::vector<smf::TracedOperation> operations) {
  return {type, std::move(hints), std::move(operations)};
}

std::string key(const char* name, uint64_t number) { return name + std::to_string(number); }

}  // namespace

TEST_CASE("hot keys are those that many access and some write") {
  std::vector<TracedTransaction> trace;
  for (uint64_t i = 0; i < 1000; ++i) {
    trace.push_back(traced(0, {},
                           {{key("often", i % 5), Access::kWrite},
                            {key("read only", i % 5), Access::kRead},
                            {key("seldom", i), Access::kWrite}}));
  }
  const Classifier classifier = Classifier::train(trace);
  REQUIRE(classifier.hot_keys() == 5);
  REQUIRE(classifier.is_hot(smf::hot_key_id("often3")));
  REQUIRE_FALSE(classifier.is_hot(smf::hot_key_id("read only3")));
  REQUIRE_FALSE(classifier.is_hot(smf::hot_key_id("seldom3")));
}

TEST_CASE("TPC-C: type, warehouse and district say which hot keys are accessed, and how") {
  const auto workload = smf::make_workload("tpcc");
  const auto trace = smf::trace_of(*workload, 20000, 1);
  const Classifier classifier = Classifier::train(trace, {.hot_share = workload->hot_share()});
  REQUIRE(classifier.validation_error() < 0.02);
  smf::Random random(2);
  for (int i = 0; i < 1000; ++i) {
    const smf::Script script = workload->next(random);
    if (script.type == 1) {  // Payment
      const auto prediction = classifier.predict(script.type, script.hints);
      REQUIRE(prediction.length == 6);
      REQUIRE(
          prediction.operations ==
          std::vector<smf::Operation>{{smf::hot_key_id(script.hints[0].key), Access::kRead, 0},
                                      {smf::hot_key_id(script.hints[0].key), Access::kWrite, 1},
                                      {smf::hot_key_id(script.hints[1].key), Access::kRead, 2},
                                      {smf::hot_key_id(script.hints[1].key), Access::kWrite, 3}});
    }
  }
}

// What a key is used for depends on the key: nobody can know that but from the trace.
TEST_CASE("where keys are accessed differently, there are as many clusters as needed") {
  std::vector<TracedTransaction> trace;
  for (uint64_t i = 0; i < 2000; ++i) {
    const std::string named = key("row", i % 8);
    const Access access = i % 8 < 4 ? Access::kRead : Access::kWrite;
    trace.push_back(traced(0, {{named}}, {{named, access}, {"total", Access::kWrite}}));
    trace.push_back(traced(1, {{named}}, {{named, Access::kWrite}}));
  }
  const Classifier classifier = Classifier::train(trace);
  REQUIRE(classifier.validation_error() == 0);
  REQUIRE(classifier.clusters() > 2);
  for (uint64_t i = 0; i < 8; ++i) {
    const std::vector<HotKey> hints{{key("row", i)}};
    const auto prediction = classifier.predict(0, hints);
    REQUIRE(prediction.operations.size() == 2);
    REQUIRE(prediction.operations[0].access == (i < 4 ? Access::kRead : Access::kWrite));
    REQUIRE(prediction.operations[1].key == smf::hot_key_id("total"));
  }
}

TEST_CASE("where keys are accessed alike, one cluster for each type is enough") {
  std::vector<TracedTransaction> trace;
  for (uint64_t i = 0; i < 2000; ++i) {
    const std::string named = key("row", i % 7);
    trace.push_back(
        traced(i % 2, {{named}}, {{named, i % 2 == 0 ? Access::kRead : Access::kWrite}}));
  }
  REQUIRE(Classifier::train(trace).clusters() == 2);
}

TEST_CASE("hints that the trace does not know predict nothing on hot keys") {
  const auto workload = smf::make_workload("smallbank");
  const auto trace = smf::trace_of(*workload, 20000, 1);
  const Classifier classifier = Classifier::train(trace, {.hot_share = workload->hot_share()});
  REQUIRE(classifier.hot_keys() >= 100);
  const std::vector<HotKey> cold{{"savings 999998"}, {"checking 999998"}};
  REQUIRE_FALSE(classifier.predict(2, cold).has_hot_keys());
  const std::vector<HotKey> hot{{"savings 5"}, {"checking 5"}};
  REQUIRE(classifier.predict(2, hot).operations.size() == 2);
  REQUIRE_FALSE(Classifier().predict(2, hot).has_hot_keys());
  REQUIRE_FALSE(classifier.predict(77, {}).has_hot_keys());
}

// Each row comes with a part of its own, which no hint names, and all with a total.
TEST_CASE("without hints, only what is usual for the type is predicted") {
  std::vector<TracedTransaction> trace;
  for (uint64_t i = 0; i < 2000; ++i) {
    const std::string named = key("row", i % 8);
    trace.push_back(traced(0, {{named}},
                           {{named, Access::kWrite},
                            {key("part", i % 8), Access::kWrite},
                            {"total", Access::kWrite}}));
  }
  const Classifier classifier = Classifier::train(trace);
  const std::vector<HotKey> hints{{"row3"}};
  REQUIRE(classifier.predict(0, hints).operations ==
          std::vector<smf::Operation>{{smf::hot_key_id("row3"), Access::kWrite, 0},
                                      {smf::hot_key_id("part3"), Access::kWrite, 1},
                                      {smf::hot_key_id("total"), Access::kWrite, 2}});
  REQUIRE(classifier.predict(0, {}).operations ==
          std::vector<smf::Operation>{{smf::hot_key_id("total"), Access::kWrite, 2}});
}

TEST_CASE("hints that say how keys are accessed are the prediction") {
  std::vector<TracedTransaction> trace;
  for (int i = 0; i < 100; ++i) {
    trace.push_back(traced(0, {}, {{"hot", Access::kWrite}}));
  }
  const std::vector<HotKey> hints{
      {"cold", Access::kWrite}, {"hot", Access::kRead}, {"hot", Access::kWrite}};
  const auto prediction = Classifier::train(trace).predict(3, hints);
  REQUIRE(prediction.length == 3);
  REQUIRE(prediction.operations ==
          std::vector<smf::Operation>{{smf::hot_key_id("hot"), Access::kRead, 1},
                                      {smf::hot_key_id("hot"), Access::kWrite, 2}});
}
