// Student's t and Holm's procedure, compared with tables.
#include "statistics/significance.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace vprof::analyzer;

TEST_CASE("Student's t: quantiles of the tables") {
  CHECK(t_quantile(0.05, 1) == Approx(12.7062).epsilon(1e-5));
  CHECK(t_quantile(0.05, 5) == Approx(2.57058).epsilon(1e-5));
  CHECK(t_quantile(0.01, 10) == Approx(3.16927).epsilon(1e-5));
  CHECK(t_quantile(0.001, 30) == Approx(3.64596).epsilon(1e-5));
  CHECK(t_quantile(0.05, 1e6) == Approx(1.95997).epsilon(1e-5));
  // One degree of freedom is Cauchy's distribution, two have a closed form.
  for (const double t : {0.1, 1.0, 3.0, 40.0}) {
    CHECK(t_two_sided(t, 1) == Approx(1 - 2 / M_PI * std::atan(t)));
    CHECK(t_two_sided(t, 2) == Approx(1 - t / std::sqrt(2 + t * t)));
    CHECK(t_two_sided(-t, 2) == t_two_sided(t, 2));
  }
}

TEST_CASE("an estimate without a known error proves nothing") {
  CHECK(p_of_zero(5, 1, 0) == 1);
  CHECK(p_of_zero(0, 0, 5) == 1);
  CHECK(p_of_zero(5, 0, 5) == 0);
  CHECK(p_of_zero(2.57058, 1, 5) == Approx(0.05).epsilon(1e-4));
}

TEST_CASE("Holm's procedure: each step divides by the tests that are left") {
  // 0.01 <= 0.05 / 4 and 0.012 <= 0.05 / 3, but 0.03 > 0.05 / 2: it stops there.
  CHECK(holm({0.03, 0.01, 0.04, 0.012}) == std::vector<bool>{false, true, false, true});
  CHECK(holm({0.02, 0.02, 0.02}) == std::vector<bool>(3, false));
  CHECK(holm({}).empty());
}
