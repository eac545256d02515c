// The checker on histories with known anomalies.
#include "history/serialization_graph.h"

#include <catch2/catch.hpp>

using smf::find_anomaly;
using smf::History;

TEST_CASE("histories that are serializable") {
  REQUIRE_FALSE(find_anomaly({}));
  // One after the other.
  REQUIRE_FALSE(find_anomaly(
      {{{1, {{"x", {}}}, {{"x", 1}}}, {2, {{"x", {1, 1}}}, {{"x", 1}}}}, {{"x", {1, 2}}}}));
  // T2 reads the old x and is committed after T1: it comes before T1.
  REQUIRE_FALSE(find_anomaly(
      {{{1, {}, {{"x", 1}}}, {2, {{"x", {}}}, {{"y", 1}}}}, {{"x", {1}}, {"y", {2}}}}));
  // Blind writes whose order is the same in both rows.
  REQUIRE_FALSE(find_anomaly({{{1, {}, {{"x", 1}, {"y", 1}}}, {2, {}, {{"x", 1}, {"y", 1}}}},
                              {{"x", {2, 1}}, {"y", {2, 1}}}}));
  // A read of what its transaction has overwritten since.
  REQUIRE_FALSE(find_anomaly({{{1, {{"x", {}}}, {{"x", 2}}}}, {{"x", {1}}}}));
}

TEST_CASE("lost update") {
  REQUIRE(find_anomaly({{{1, {{"x", {}}}, {{"x", 1}}}, {2, {{"x", {}}}, {{"x", 1}}}},
                        {{"x", {1, 2}}}}) == "cycle: T1 -ww(x)-> T2 -rw(x)-> T1");
}

TEST_CASE("write skew") {
  REQUIRE(find_anomaly(
              {{{1, {{"x", {}}, {"y", {}}}, {{"x", 1}}}, {2, {{"x", {}}, {"y", {}}}, {{"y", 1}}}},
               {{"x", {1}}, {"y", {2}}}}) == "cycle: T1 -rw(y)-> T2 -rw(x)-> T1");
}

TEST_CASE("dirty write") {
  REQUIRE(find_anomaly({{{1, {}, {{"x", 1}, {"y", 1}}}, {2, {}, {{"x", 1}, {"y", 1}}}},
                        {{"x", {1, 2}}, {"y", {2, 1}}}}) == "cycle: T1 -ww(x)-> T2 -ww(y)-> T1");
}

TEST_CASE("dirty read, also of what is overwritten") {
  REQUIRE(find_anomaly({{{1, {{"x", {9, 1}}}, {}}}, {}}) ==
          "T1 has read x of T9, which was not committed");
  REQUIRE(find_anomaly({{{1, {}, {{"x", 2}}}, {2, {{"x", {1, 1}}}, {}}}, {{"x", {1}}}}) ==
          "T2 has read x of T1, which has written it again");
}

TEST_CASE("non-repeatable read") {
  REQUIRE(find_anomaly({{{1, {}, {{"x", 1}}}, {2, {{"x", {}}, {"x", {1, 1}}}, {}}},
                        {{"x", {1}}}}) == "cycle: T1 -wr(x)-> T2 -rw(x)-> T1");
}

TEST_CASE("read skew") {
  REQUIRE(find_anomaly({{{1, {}, {{"x", 1}, {"y", 1}}}, {2, {{"x", {}}, {"y", {1, 1}}}, {}}},
                        {{"x", {1}}, {"y", {1}}}}) == "cycle: T1 -wr(y)-> T2 -rw(x)-> T1");
}

TEST_CASE("long fork: two readers see two writes in different orders") {
  REQUIRE(find_anomaly({{{1, {}, {{"x", 1}}},
                         {2, {}, {{"y", 1}}},
                         {3, {{"x", {1, 1}}, {"y", {}}}, {}},
                         {4, {{"x", {}}, {"y", {2, 1}}}, {}}},
                        {{"x", {1}}, {"y", {2}}}}) ==
          "cycle: T1 -wr(x)-> T3 -rw(y)-> T2 -wr(y)-> T4 -rw(x)-> T1");
}

TEST_CASE("a committed write that is missing, and a version of nobody") {
  REQUIRE(find_anomaly({{{1, {}, {{"x", 1}}}}, {}}) ==
          "T1 was committed, and its version of x is missing");
  REQUIRE(find_anomaly({{}, {{"x", {1}}}}) == "T1 has a version of x and was not committed");
}
