// An account as bytes and back: the profile file. MessagePack, so that it is small and any reader
// of that can look into it; sums of 128 bits are pairs of 64.
#pragma once

#include <string>

#include "account.h"

namespace vprof::analyzer {

std::string to_bytes(const Account& account);

/// Error: one line, without the name of the file. Nothing in the bytes is trusted: sizes and
/// indices are held against each other.
Result<Account> from_bytes(const std::string& bytes);

}  // namespace vprof::analyzer
