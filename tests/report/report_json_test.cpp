// report.json, and the schemas of all answers.
#include <fmt/format.h>

#include "report_fixture.h"
#include "vprof/report/json.h"
#include "vprof/support/json.h"

using namespace vprof;
using namespace vprof::analyzer;
using namespace vprof::test;

namespace {

/// Where `now` lacks or changes something of `before`; empty: nowhere.
std::string first_difference(const nlohmann::json& before, const nlohmann::json& now) {
  if (!before.is_structured()) {
    return before == now ? "" : before.dump() + " became " + now.dump();
  }
  for (const auto& [key, value] : before.items()) {
    const bool found = before.is_array() ? std::stoul(key) < now.size() : now.contains(key);
    const std::string difference =
        !found ? "missing"
               : first_difference(value, before.is_array() ? now[std::stoul(key)] : now[key]);
    if (!difference.empty()) {
      return key + ": " + difference;
    }
  }
  return "";
}

/// The report with its ids as they are now: numbers until version 0.1.0.
nlohmann::json with_ids_as_texts(nlohmann::json report) {
  for (nlohmann::json& factor : report["factors"]) {
    for (const char* list : {"typical", "worst"}) {
      for (nlohmann::json& one : factor[list]) {
        for (const char* field : {"id", "key"}) {
          if (one.contains(field)) {
            one[field] = one[field].dump();
          }
        }
      }
    }
  }
  return report;
}

}  // namespace

TEST_CASE("ids of 64 bits are texts in report.json, and numbers are read as well") {
  constexpr uint64_t kId = (uint64_t{1} << 63) + 1;  // no double holds it
  Profile p = make_profile();
  p.factors[0].worst = {{.id = kId, .key = kId, .ns = 5, .latency_ns = 7}};
  nlohmann::json document = report::json(p, {});
  nlohmann::json& worst = document["factors"][0]["worst"][0];
  CHECK(worst["id"] == "9223372036854775809");
  CHECK(worst["key"] == "9223372036854775809");
  CHECK(report::from_json(document)->first.factors[0].worst[0].id == kId);
  worst["id"] = kId;  // as earlier versions have it
  CHECK(report::from_json(document)->first.factors[0].worst[0].id == kId);
  for (const nlohmann::json& bad : {nlohmann::json("12x"), nlohmann::json(""), nlohmann::json(-1),
                                    nlohmann::json("18446744073709551616"), nlohmann::json(1.5)}) {
    worst["id"] = bad;
    const auto result = report::from_json(document);
    REQUIRE(!result);
    CHECK(result.error().message.find("worst/0/id: must be a text of digits") != std::string::npos);
  }
}

TEST_CASE("report.json: invalid UTF-8 is replaced, and a deep tree takes little space") {
  Profile p = make_profile();
  analyzer::Node* deepest = &p.tree;
  for (int depth = 0; depth < 300; ++depth) {
    deepest->children.insert(deepest->children.begin(), analyzer::Node());
    deepest = &deepest->children.front();
  }
  deepest->function = "caf\xe9";
  const std::string text = report::json_text(p, {});
  CHECK(text.size() < 2 * report::json(make_profile(), {}).dump().size() + 300 * 300);
  CHECK(report::from_json(nlohmann::json::parse(text)));
  CHECK(nlohmann::json::accept(vprof::json_text(nlohmann::json("caf\xe9"))));
}

TEST_CASE("report.json, as a whole") {
  const std::string text = report::json_text(make_profile(), make_context()) + "\n";
  CHECK(text == golden("report.json", text));
}

TEST_CASE("schemas of answers are generated") {
  const std::map<std::string, nlohmann::json> schemas = {{"report", report::report_schema()},
                                                         {"diff", report::diff_schema()},
                                                         {"history", report::history_schema()},
                                                         {"timeline", report::timeline_schema()},
                                                         {"annotate", report::annotate_schema()}};
  for (const auto& [name, schema] : schemas) {
    const std::string text = vprof::json_text(schema) + "\n";
    CHECK(text == expected(std::string(SCHEMAS_DIR) + "/" + name + ".schema.json", text));
  }
}

TEST_CASE(
    "report.json of an earlier version loads, and is written again with nothing but new fields") {
  const auto earlier = nlohmann::json::parse(read(std::string(SAMPLES_DIR) + "/quickstart.json"));
  const auto loaded = report::from_json(earlier);
  REQUIRE(loaded);
  const auto again = report::json(loaded->first, loaded->second);
  CHECK(again["$schema"] == "report.schema.json");
  CHECK(first_difference(with_ids_as_texts(earlier), again) == "");
  CHECK(again["ranking"] == "variance");  // the only one that they had
  CHECK(loaded->first.factors[0].weight == loaded->first.factors[0].contribution);
}

TEST_CASE("report.json of the first version: later fields have their defaults") {
  auto document = report::json(make_profile(), make_context());
  for (const char* field : {"$schema", "losses", "unwrapped", "k", "threshold", "ranking"}) {
    document.erase(field);
  }
  for (const char* field : {"work", "mean_ci95", "variance_ci95", "p99_ci95"}) {
    document["interval"].erase(field);
  }
  document["overhead"].erase("demoted");
  document["tree"].erase("key");
  document["tree"]["children"][0]["covariances"][0].erase("children");
  const auto loaded = report::from_json(document);
  REQUIRE(loaded);
  CHECK(loaded->first.k == Profile{}.k);
  CHECK(loaded->first.tree.children[0].covariances.empty());
  CHECK(loaded->second.demoted.empty());
}

TEST_CASE("report.json there and back") {
  const auto document = report::json(make_profile(), make_context());
  const auto back =
      report::from_json(nlohmann::json::parse(report::json_text(make_profile(), make_context())));
  REQUIRE(back);
  CHECK(report::json(back->first, back->second) == document);
  CHECK(document["schema"] == 1);
  CHECK(document["factors"][0]["kind"] == "variance");
  CHECK(document["factors"][1]["status"] == "expandable");
  CHECK(document["factors"][2]["functions"] ==
        nlohmann::json({"price", "wait(pthread_mutex_lock)"}));
  CHECK(document["tree"]["children"][0]["covariances"][0]["functions"] ==
        nlohmann::json({"wait(pthread_mutex_lock)", "price"}));
  CHECK(document["tree"]["children"][0]["children"][0]["children"][0]["kind"] == "blame");
  CHECK(document["interval"]["p999_ns"] == 50.2e6);
  CHECK(document["overhead"]["mean_ratio"] == 1.08);
}

TEST_CASE("report.json: a document that is not one gives an error of one line") {
  const auto good = report::json(make_profile(), {});
  const auto error_of = [&](const nlohmann::json& document) {
    const auto result = report::from_json(document);
    REQUIRE(!result);
    CHECK(result.error().message.find('\n') == std::string::npos);
    return result.error().message;
  };
  error_of(nlohmann::json::array());
  CHECK(error_of({{"schema", 2}}).find("schema 2") != std::string::npos);
  for (const auto& [field, value] : good.items()) {
    if (field == "$schema" || field == "losses" || field == "unwrapped" || field == "k" ||
        field == "threshold" || field == "ranking" || field == "marked_share" ||
        field == "more_to_tell" || field == "provenance" || field == "kinds") {
      continue;
    }
    auto without = good;
    without.erase(field);
    error_of(without);
  }
  auto bad = good;
  bad["factors"][0]["status"] = "great";
  CHECK(error_of(bad).find("great") != std::string::npos);
  bad = good;
  bad["factors"][0]["functions"] = nlohmann::json::array();
  error_of(bad);
  bad = good;
  bad["tree"]["children"][0]["covariances"][0]["children"] = {0, 9};
  error_of(bad);
}
