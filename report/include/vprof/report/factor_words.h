// How a factor, or a kind of time, is called in texts for people: the same in the report, the loop
// and its history.
#pragma once

#include <string>

#include "vprof/analyzer/analyzer.h"

namespace vprof::report {

/// The wait, queue or park that most of the share of the factor is in: the factor is then what
/// other work did meanwhile. Empty: there is none.
std::string wait_around(const analyzer::Factor& factor);

/// ` [blame of wait(x)]`; empty if the factor is no blame.
std::string blame_mark(const analyzer::Factor& factor);

/// `97.2 % of the variance, 4.2 % not explained below it`. `share`: of a covariance, the
/// contribution. `weight`: what the ranking counts of it.
std::string share_in_words(double share, double weight);

/// report.json has a word for each kind, too.
const char* name_of(analyzer::TimeKind kind);

/// The score, with as many digits as say something.
std::string score_in_words(double score);

}  // namespace vprof::report
