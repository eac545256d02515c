// How the search refers to factors across iterations: an id to recognise them by and a name to
// show.
#pragma once

#include <string>
#include <vector>

#include "vprof/analyzer/analyzer.h"

namespace vprof::driver {

/// A factor that the user, or the policy of `--auto`, accepted as an answer or set aside.
struct DecidedFactor {
  std::string id;        ///< factor_id()
  std::string name;      ///< factor_name(); of a wait, also the function that waits
  bool by_user = false;  ///< the policy leaves it as it is
  bool operator==(const DecidedFactor&) const = default;
};

/// The keys of the factor's functions, joined by ` + `; the name where there is no key, as for
/// `wait(...)` and `body(...)`.
std::string factor_id(const analyzer::Factor& factor);

/// What users read: `f`, or `f and g` for a covariance; of blame also what waited for it.
std::string factor_name(const analyzer::Factor& factor);

/// Whether the factor is a wait, `wait(...)` or `polled(...)`.
bool is_wait(const analyzer::Factor& factor);
/// Whether a coroutine is suspended.
bool is_await(const analyzer::Factor& factor);

DecidedFactor decided(const analyzer::Factor& factor);

bool contains(const std::vector<DecidedFactor>& factors, const analyzer::Factor& factor);

}  // namespace vprof::driver
