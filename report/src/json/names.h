// The words of report.json, in one place for writer and reader.
#pragma once

#include <optional>
#include <string>

#include "vprof/analyzer/analyzer.h"

namespace vprof::report {

const char* name_of(analyzer::NodeKind kind);
const char* name_of(analyzer::FactorKind kind);
const char* name_of(analyzer::FactorStatus status);

std::optional<analyzer::NodeKind> node_kind(const std::string& name);
std::optional<analyzer::FactorKind> factor_kind(const std::string& name);
std::optional<analyzer::FactorStatus> factor_status(const std::string& name);

}  // namespace vprof::report
