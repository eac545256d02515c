#include "search/live/screen/pages.h"

#include <fmt/ranges.h>

#include "pipeline/recordings/slices.h"
#include "pipeline/source.h"
#include "search/live/screen/status.h"
#include "vprof/analyzer/timeline.h"
#include "vprof/report/factor_words.h"
#include "vprof/report/timeline.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

PageText plain_page(std::string title, std::string text) {
  return {std::move(title),
          [text = std::move(text)](const report::TextOptions& /*options*/) { return text; }};
}

std::string percent_of(const std::array<double, 2>& ci95) {
  return fmt::format("95 % interval {:.1f} to {:.1f} %", 100 * ci95[0], 100 * ci95[1]);
}

std::string exemplars_in_words(const char* what, const std::vector<analyzer::Exemplar>& exemplars) {
  std::vector<std::string> parts;
  parts.reserve(exemplars.size());
  for (const analyzer::Exemplar& one : exemplars) {
    parts.push_back(fmt::format("#{}{} ({} of {})", one.id,
                                one.key == 0 ? "" : fmt::format(" key {}", one.key),
                                human_time(one.ns), human_time(one.latency_ns)));
  }
  return parts.empty() ? "" : fmt::format("{}: {}\n", what, fmt::join(parts, ", "));
}

/// All that is known about one factor.
std::string details(const analyzer::Factor& factor) {
  const bool pair = factor.kind == analyzer::FactorKind::kCovariance;
  std::string text =
      fmt::format("{}\n{}\n\nshare of the variance: {:.1f} %{}\ncontribution: {:.1f} %, {}\n",
                  factor_name(factor), factor.definition, 100 * factor.share,
                  pair ? "" : ", " + percent_of(factor.share_ci95), 100 * factor.contribution,
                  percent_of(factor.ci95));
  if (factor.tail_share) {
    text += fmt::format("share of the slowest 1 %: {:.1f} %\n", 100 * *factor.tail_share);
  }
  text += fmt::format("counts {:.1f} %, times specificity {:g}: score {}\n{}", 100 * factor.weight,
                      factor.specificity, report::score_in_words(factor.score),
                      factor.significant ? "" : "It may be chance.\n");
  text += "\nWhere\n";
  for (const analyzer::Instance& one : factor.instances) {
    text += fmt::format("  {:5.1f} %  {}{}\n", 100 * one.share, fmt::join(one.path, " > "),
                        one.location.empty() ? "" : "  at " + one.location);
  }
  text += "\n" + exemplars_in_words("Longest", factor.worst) +
          exemplars_in_words("Typical", factor.typical);
  return text;
}

PageText slow_one(const analyzer::Factor& factor, size_t nth, const Measured& measured) {
  if (factor.worst.empty()) {
    return plain_page("a slow interval", "no interval of this factor is known");
  }
  const analyzer::Exemplar& exemplar = factor.worst[nth % factor.worst.size()];
  analyzer::Options wanted;
  wanted.interval = measured.profile->interval.name;
  wanted.threads = 1;
  auto timeline = find_interval(measured.trace, measured.sites_json, exemplar.id, wanted);
  const std::string title =
      fmt::format("{} of {} slow intervals of {}; w: the next one", nth % factor.worst.size() + 1,
                  factor.worst.size(), factor_name(factor));
  if (!timeline) {
    return plain_page(title, timeline.error().message);
  }
  return {title, [one = std::move(*timeline)](const report::TextOptions& options) {
            return report::text(one, options);
          }};
}

PageText tree_page(const Measured& measured) {
  return {"the variance tree", [profile = measured.profile](const report::TextOptions& options) {
            return report::tree_text(*profile, options);
          }};
}

}  // namespace

PageText make_page(const PageRequest& request, const Measured& measured, const Session& session,
                   const instrumenter::Program& program) {
  if (request.page == Page::kHelp) {
    return plain_page("help", keys_in_words());
  }
  if (measured.profile == nullptr) {
    return plain_page("nothing yet", "No factor has been measured yet.");
  }
  if (request.page == Page::kTree) {
    return tree_page(measured);
  }
  const analyzer::Factor* factor = factor_with(*measured.profile, request.factor);
  if (factor == nullptr) {
    return plain_page("no such factor", "This factor is not there any more.");
  }
  if (request.page == Page::kSource) {
    return plain_page("source of " + factor_name(*factor),
                      source_excerpt(session, program, *factor));
  }
  return request.page == Page::kSlowOne ? slow_one(*factor, request.nth, measured)
                                        : plain_page(factor_name(*factor), details(*factor));
}

}  // namespace vprof::driver
