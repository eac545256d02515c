// The part of a profile file that single intervals and labels are in.
#pragma once

#include <nlohmann/json.hpp>

#include "statistics/interval_sums.h"

namespace vprof::analyzer {

void write_details(const Account& account, nlohmann::json& document);

/// Takes what write_details() wrote. Needs the places. Throws std::exception where the document is
/// damaged.
void read_details(const nlohmann::json& document, Account& account);

}  // namespace vprof::analyzer
