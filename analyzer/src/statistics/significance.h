// Student's t, and the correction for many tests at once.
#pragma once

#include <cstddef>
#include <vector>

namespace vprof::analyzer {

/// Of 95 % confidence intervals, and of all tests that are made together.
inline constexpr double kSignificance = 0.05;

/// The probability that Student's t with `degrees` of freedom, which need not be whole, lies
/// further from 0 than |t|: the two-sided p-value. 1 if `degrees` is not positive.
double t_two_sided(double t, double degrees);

/// The t whose two-sided p-value is `p`, in (0, 1): 2.571 for p = 0.05 and 5 degrees of freedom.
double t_quantile(double p, double degrees);

/// The p-value of the hypothesis that an estimate with this standard error is of 0. 1 if the error
/// is unknown (degrees 0). An error of 0 is certain knowledge.
double p_of_zero(double value, double error, double degrees);

/// Which of several hypotheses to reject so that with probability 1 - `level` none of those that
/// hold is rejected, whatever the dependence between the tests: Holm's step-down procedure (1979).
std::vector<bool> holm(const std::vector<double>& p_values, double level = kSignificance);

}  // namespace vprof::analyzer
