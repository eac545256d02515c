// How the search went, for `vprof history`.
#include <fmt/format.h>

#include <cmath>

#include "text/text_writer.h"
#include "vprof/report/diff.h"
#include "vprof/report/factor_words.h"
#include "vprof/support/text.h"

namespace vprof::report {
namespace {

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string heading(size_t number, const Iteration& one) {
  std::string text = fmt::format("iteration {}: ", number);
  text += one.expanded.empty() ? "measured again" : "expanded " + joined(one.expanded);
  if (one.demoted != 0) {
    text += ", left out " + plural(one.demoted, "call site", "call sites");
  }
  return text;
}

/// A live search neither builds nor starts the program for an iteration.
std::string figures(const Iteration& one) {
  std::string text = plural(one.sites, "site", "sites");
  if (one.build_s > 0) {
    text += fmt::format(", built in {:.1f} s", one.build_s);
  }
  if (one.mean_ns <= 0) {
    return text + "; not measured yet";
  }
  if (one.run_s > 0) {
    text += fmt::format(", ran {:.1f} s", one.run_s);
  }
  text += fmt::format("; mean {}, stddev {}", human_time(one.mean_ns),
                      human_time(std::sqrt(one.variance_ns2)));
  if (one.mean_ratio > 0) {
    text += fmt::format("; compared with the run without recording: mean {}, variance {}",
                        ratio_text(one.mean_ratio), ratio_text(one.variance_ratio));
  }
  return text;
}

}  // namespace

std::string history_text(const std::vector<Iteration>& iterations, const TextOptions& options) {
  TextWriter out(options);
  for (size_t i = 0; i < iterations.size(); ++i) {
    const Iteration& one = iterations[i];
    if (i != 0) {
      out.blank_line();
    }
    out.paragraph(heading(i + 1, one), 0, Style::kHeading);
    out.paragraph(figures(one), 2);
    for (size_t rank = 0; rank < one.leading.size(); ++rank) {
      const LeadingFactor& factor = one.leading[rank];
      out.paragraph(fmt::format("{}. {}: {}", rank + 1, factor.factor,
                                share_in_words(factor.share.value_or(factor.contribution),
                                               factor.contribution)),
                    2);
    }
    if (!one.selected.empty()) {
      out.paragraph("accepted: " + joined(one.selected), 2);
    }
    if (!one.set_aside.empty()) {
      out.paragraph("set aside: " + joined(one.set_aside), 2);
    }
  }
  return out.take();
}

}  // namespace vprof::report
