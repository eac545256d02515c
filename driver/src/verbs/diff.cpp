// `vprof diff`: compares two profiles; a gate for continuous integration.
#include "vprof/report/diff.h"
#include "pipeline/results.h"
#include "process/commands.h"
#include "verbs/verbs.h"
#include "vprof/report/terminal.h"
#include "vprof/support/json.h"

namespace vprof::driver {

namespace {

constexpr int kGateFailed = 1;

Result<std::vector<analyzer::Condition>> parse(const std::vector<std::string>& texts) {
  std::vector<analyzer::Condition> conditions;
  for (const std::string& text : texts) {
    auto condition = analyzer::parse_condition(text);
    if (!condition) {
      return fail("--fail-if: {}", condition.error().message);
    }
    conditions.push_back(std::move(*condition));
  }
  return conditions;
}

}  // namespace

Result<int> verb_diff(const Global& global, const DiffOptions& options) {
  remember_outputs_of_verb(global.config, {});
  const auto conditions = VPROF_TRY(parse(options.fail_if));
  analyzer::Options all;
  all.least_listed = 0;  // a factor may be small in one of them
  const auto a = VPROF_TRY(read_profiles({options.a}, all));
  const auto b = VPROF_TRY(read_profiles({options.b}, all));
  const analyzer::Diff diff = analyzer::diff(a, b);
  say(options.json ? json_text(report::json(diff)) : report::text(diff, report::text_options()));
  int code = 0;
  for (const analyzer::Condition& condition : conditions) {
    if (analyzer::holds(condition, diff, options.certainly)) {
      warn(condition.text + (options.certainly ? ": holds for certain" : ": holds"));
      code = kGateFailed;
    }
  }
  return code;
}

}  // namespace vprof::driver
