#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "text/factors/factor_text.h"
#include "text/overhead_text.h"
#include "text/text_writer.h"
#include "vprof/report/factor_words.h"
#include "vprof/report/json.h"
#include "vprof/support/text.h"

namespace vprof::report {
namespace {

using analyzer::IntervalSummary;
using analyzer::Losses;
using analyzer::Profile;

constexpr size_t kMostLabelsInText = 6;

void write_labels(const IntervalSummary& interval, TextWriter& out) {
  if (interval.labels.size() < 2) {
    return;
  }
  std::string text;
  for (size_t i = 0; i < std::min(interval.labels.size(), kMostLabelsInText); ++i) {
    const auto& label = interval.labels[i];
    text += fmt::format("{}{} {} (mean {})", i == 0 ? "" : ", ",
                        label.label.empty() ? "(none)" : label.label, human_count(label.count),
                        human_time(label.mean_ns));
  }
  if (interval.labels.size() > kMostLabelsInText) {
    text += fmt::format(", {} more", interval.labels.size() - kMostLabelsInText);
  }
  out.paragraph(fmt::format("{}; {} of the variance is between labels", text,
                            percent(interval.between_labels)),
                2);
}

void write_work(const analyzer::WorkSummary& work, TextWriter& out) {
  if (work.declared == 0) {
    return;
  }
  out.paragraph(fmt::format("work: {:.4g} units on average, {} each; explains {} of the variance",
                            work.mean, human_time(work.ns_per_unit), percent(work.explained)),
                2);
}

void write_loop_queue(const IntervalSummary& interval, TextWriter& out) {
  const analyzer::LoopQueueSummary& queue = interval.loop_queue;
  if (queue.waited == 0) {
    return;
  }
  out.paragraph(
      fmt::format("queue(event loop): before their begin, at least {} of {} waited for the loop, "
                  "which was busy with others: on average over all {}, p99 {}; not in the latency, "
                  "would add {} to it",
                  human_count(queue.waited), human_count(queue.begun), human_time(queue.mean_ns),
                  human_time(queue.p99_ns), percent(queue.share)),
      2);
}

void write_summary(const IntervalSummary& interval, TextWriter& out) {
  std::string first = fmt::format("{}: {} completed", interval.name, human_count(interval.count));
  if (interval.incomplete != 0) {
    first += fmt::format(", {} incomplete", human_count(interval.incomplete));
  }
  out.line(first, Style::kHeading);
  out.row({"mean " + human_time(interval.mean_ns), "stddev " + human_time(interval.stddev_ns),
           "p50 " + human_time(interval.p50_ns), "p95 " + human_time(interval.p95_ns),
           "p99 " + human_time(interval.p99_ns), "p99.9 " + human_time(interval.p999_ns),
           "max " + human_time(interval.max_ns)},
          2, "   ");
  write_labels(interval, out);
  write_work(interval.work, out);
  write_loop_queue(interval, out);
}

// Of the variance.
constexpr double kLeastKind = 1e-3;

/// What of the variance is computing, and what is waiting for what.
void write_kinds(const std::vector<analyzer::KindOfTime>& kinds, TextWriter& out) {
  std::vector<std::string> items;
  for (const analyzer::KindOfTime& kind : kinds) {
    if (std::abs(kind.share) < kLeastKind) {
      continue;
    }
    const double reach = (kind.share_ci95[1] - kind.share_ci95[0]) / 2;
    items.push_back(fmt::format("{} {}", name_of(kind.kind), percent(kind.share)));
    if (reach > 0) {
      items.back() += fmt::format(" {} {:.1f}", out.plus_minus(), 100 * reach);
    }
  }
  if (!items.empty()) {
    out.row(items, 2, "   ");
  }
}

// Less of the time of threads than this, or an interval that takes more of the run than this, may
// mean that the interval is not what a client waits for.
constexpr double kLittleOfThreads = 0.05;
constexpr double kMuchOfRun = 0.5;

/// How the intervals compare with the run: for users who have just chosen them.
void write_presence(const IntervalSummary& interval, const analyzer::Overhead& run,
                    TextWriter& out) {
  if (run.run_ns <= 0 || run.present_ns <= 0) {
    return;
  }
  const double busy = run.working_ns / run.present_ns;
  const double longest = interval.max_ns / run.run_ns;
  out.paragraph(
      fmt::format("{} a second; {} worked for them {} of the time; the longest took {} of "
                  "the run",
                  human_count(static_cast<uint64_t>(static_cast<double>(interval.count) * 1e9 /
                                                    run.run_ns)),
                  plural(run.working_threads, "thread", "threads"), percent(busy),
                  percent(longest)),
      2);
  if (longest > kMuchOfRun) {
    out.paragraph(
        "an interval that lasts as long as the run may be the life of the server, not a "
        "request: see \"intervals\"",
        2, Style::kWarning);
  } else if (busy < kLittleOfThreads) {
    out.paragraph(
        "if clients wait much longer than that, the intervals begin too late or end too "
        "early: see \"intervals\"",
        2, Style::kWarning);
  }
}

/// What an earlier iteration was certain of, if this one is certain of nothing.
std::string earlier_answer(const Profile& profile, const std::vector<Iteration>& iterations) {
  if (std::ranges::any_of(profile.factors, &analyzer::Factor::marked)) {
    return "";
  }
  for (size_t n = iterations.empty() ? 0 : iterations.size() - 1; n > 0; --n) {
    for (const LeadingFactor& factor : iterations[n - 1].leading) {
      if (factor.marked) {
        return fmt::format(
            "iteration {} marked {}, {}, and this one marks nothing: what they measured differs, "
            "see `vprof report --iteration {}`",
            n, factor.factor, percent(factor.share.value_or(factor.contribution)), n);
      }
    }
  }
  return "";
}

/// What was lost or could not be seen, a line each.
std::vector<std::string> caveats_of(const Profile& profile, const ReportContext& context) {
  const Losses& losses = profile.losses;
  std::vector<std::string> lines;
  if (std::string earlier = earlier_answer(profile, context.iterations); !earlier.empty()) {
    lines.push_back(std::move(earlier));
  }
  const std::string waits = plural(
      losses.exact_edges + losses.inferred_edges + losses.outside_waits + losses.unknown_waits,
      "wait", "waits");
  const auto add_waits = [&](uint64_t count, const char* what) {
    if (count != 0) {
      lines.push_back(
          fmt::format("{} of {} on critical paths: {}", human_count(count), waits, what));
    }
  };
  add_waits(losses.outside_waits, "for a disk, a clock or a peer that was not recorded");
  add_waits(losses.unknown_waits, "waker unknown");
  add_waits(losses.inferred_edges, "waker inferred from timing");
  if (losses.dropped != 0) {
    lines.push_back(plural(losses.dropped, "record", "records") + " dropped: buffers were full");
  }
  if (losses.torn != 0) {
    lines.push_back(plural(losses.torn, "record", "records") +
                    " cut off by the end of the program");
  }
  if (losses.unreadable_bytes != 0) {
    lines.push_back(plural(losses.unreadable_bytes, "unreadable byte", "unreadable bytes") +
                    " in the trace");
  }
  for (const Unwrapped& entry : context.unwrapped) {
    lines.push_back(
        fmt::format("{} not measured: {}", plural(entry.count, "call", "calls"), entry.reason));
  }
  const std::vector<std::string> notes = without_repeats(losses.notes);
  lines.insert(lines.end(), notes.begin(), notes.end());
  return lines;
}

void write_caveats(const std::vector<std::string>& caveats, TextWriter& out) {
  if (caveats.empty()) {
    return;
  }
  out.blank_line();
  out.line("Caveats", Style::kHeading);
  for (const std::string& caveat : caveats) {
    out.item(caveat, Style::kWarning);
  }
}

}  // namespace

std::string text(const Profile& profile, const ReportContext& context, const TextOptions& options) {
  TextWriter out(options);
  write_summary(profile.interval, out);
  write_presence(profile.interval, profile.overhead, out);
  out.blank_line();
  out.line("Where the variance comes from", Style::kHeading);
  write_kinds(profile.kinds, out);
  write_factors(profile, out);
  write_caveats(caveats_of(profile, context), out);
  out.blank_line();
  for (const std::string& line : overhead_lines(profile, context)) {
    out.paragraph(line);
  }
  out.paragraph(
      "> look here first; share: moves with the latency; score: what counts of it, times the "
      "specificity, which grows with the depth in the call graph; body(f): f's own time",
      0, Style::kFaint);
  return out.take();
}

}  // namespace vprof::report
