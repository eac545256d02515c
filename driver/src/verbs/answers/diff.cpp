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

/// What is behind the condition in the text of a verdict.
std::string values_of(const report::Judged& judged) {
  return report::text(judged).substr(judged.condition.text.size() + 2);
}

Result<std::vector<report::Judged>> judge(const std::vector<analyzer::Condition>& conditions,
                                          const analyzer::Diff& diff, bool certainly) {
  std::vector<report::Judged> judged;
  for (const analyzer::Condition& condition : conditions) {
    auto verdict = analyzer::judge(condition, diff, certainly);
    if (!verdict) {
      return fail("--fail-if: {}: {}", condition.text, verdict.error().message);
    }
    judged.push_back({condition, std::move(*verdict)});
  }
  return judged;
}

}  // namespace

Result<int> verb_diff(const Global& global, const DiffOptions& options) {
  remember_outputs_of_verb(global.config, {});
  const auto conditions = VPROF_TRY(parse(options.fail_if));
  analyzer::Options all;
  all.least_listed = 0;  // a factor may be small in one of them
  const auto a = VPROF_TRY(read_profiles({options.a}, all));
  const auto b = VPROF_TRY(read_profiles({options.b}, all));
  if (const auto same = analyzer::comparable(a, b); !same && !options.force) {
    return fail("{}; --force compares them anyway", same.error().message);
  }
  const analyzer::Diff diff = analyzer::diff(a, b);
  const std::vector<report::Judged> judged = VPROF_TRY(judge(conditions, diff, options.certainly));
  if (!options.junit.empty()) {
    VPROF_TRY(write_result(options.junit, report::junit(diff, judged)));
    remember_outputs_of_verb(global.config, {options.junit});
  }
  say_verbatim(options.json       ? json_text(report::json(diff, judged))
               : options.markdown ? report::markdown(diff, judged)
                                  : report::text(diff, report::text_options()));
  int code = 0;
  for (const report::Judged& one : judged) {
    if (one.verdict.holds) {
      warn(fmt::format("{} holds{}; {}", one.condition.text,
                       options.certainly ? " for certain" : "", values_of(one)));
      code = kGateFailed;
    } else if (options.certainly && one.verdict.ci95 == std::array<double, 2>{}) {
      warn(report::text(one));
    }
  }
  return code;
}

}  // namespace vprof::driver
