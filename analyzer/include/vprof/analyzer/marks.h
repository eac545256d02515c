// What a list of ranked factors says to somebody who reads it: where to look first, how much that
// explains, and what may be nothing.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

/// Sets Factor::marked, Profile::marked_share and Profile::more_to_tell, which analyze() and
/// merge() have done: for reports that do not have them.
void mark_factors(Profile& profile);

/// Whether the ranking is about the share of the factor; otherwise it is about the contribution.
bool shows_share(const Factor& factor, Ranking ranking);

/// The confidence interval of that figure.
const std::array<double, 2>& shown_ci95(const Factor& factor, Ranking ranking);

/// Whether that interval holds 0, or would among all that were tested (Factor::significant): the
/// factor is no answer. {0, 0} is an interval that is not known.
bool may_be_zero(const Factor& factor, Ranking ranking);

/// Places besides the largest that count in the weight of a factor.
size_t other_places(const Factor& factor);

/// The nodes of the tree that a factor consists of, without those inside others of them. Of a
/// covariance: those of both functions.
std::vector<const Node*> nodes_of(const Factor& factor, const Node& root);

}  // namespace vprof::analyzer
