// An account as bytes and back: the profile file. MessagePack, so that any reader of that can look
// into it; long lists of sums are binary values within it (packed_numbers.h).
#pragma once

#include <string>

#include "statistics/interval_sums.h"

namespace vprof::analyzer {

std::string to_bytes(const Account& account);

/// Error: one line, without the name of the file. Nothing in the bytes is trusted: sizes and
/// indices are held against each other.
Result<Account> from_bytes(const std::string& bytes);

}  // namespace vprof::analyzer
