// The source of a function with what its calls cost, as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "vprof/analyzer/function_costs.h"
#include "vprof/report/report.h"

namespace vprof::report {

/// A call that has no record of its own.
struct UnmeasuredCall {
  std::string callee;
  std::string file;
  uint32_t line = 0;
  std::string reason;
};

struct AnnotatedFunction {
  std::string name;
  std::string key;
  std::string file;                  ///< relative to the source tree
  uint32_t first = 1;                ///< number of the first line
  std::vector<std::string> lines;    ///< as they were measured
  bool changed = false;              ///< the source has been edited since
  bool outdated = false;             ///< so has vprof's copy: `lines` are not what was measured
  bool recorded = false;             ///< the recording knows it
  bool measured = false;             ///< its calls are: it is expanded
  std::string why_calls_unmeasured;  ///< some calls of it are not measured; empty: all are
  analyzer::FunctionCosts costs;
  std::vector<UnmeasuredCall> unmeasured;
};

/// Whether the call is in one of the lines.
bool is_in_lines(const analyzer::CallCost& call, const AnnotatedFunction& function);

/// Why the lines are not the source as it is now, or none at all; empty: they are.
std::string note_on_text(const AnnotatedFunction& function);
/// What the function as a whole costs, and what is not known about it.
std::vector<std::string> notes_on_costs(const AnnotatedFunction& function);
/// A few of the calls that have no record of their own.
std::vector<std::string> notes_on_unmeasured(const AnnotatedFunction& function);
/// `0.25`, or nothing if it is 0.
std::string calls_text(double calls);

std::string text(const AnnotatedFunction& function, const TextOptions& options);

/// All functions of a name.
nlohmann::json json(const std::vector<AnnotatedFunction>& functions);

}  // namespace vprof::report
