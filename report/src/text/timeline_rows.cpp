#include "text/timeline_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace vprof::report {
namespace {

using analyzer::Timeline;
using analyzer::TimelinePiece;

std::string thread_of(const TimelinePiece& piece) {
  return fmt::format("{}:{} {}", piece.pid, piece.thread, piece.thread_name);
}

TimelineRow row_of(const TimelinePiece& piece) {
  return {piece.from_ns, piece.to_ns, thread_of(piece), piece.path, 1, piece.inferred, {}};
}

int64_t length(const TimelineRow& row) { return row.to_ns - row.from_ns; }

bool same_work(const TimelineRow& a, const TimelineRow& b) {
  return a.thread == b.thread && a.path == b.path && a.parts.empty() && b.parts.empty();
}

size_t common_length(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const auto [end, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<size_t>(end - a.begin());
}

/// Puts rows of equal work together that follow each other.
void add_merged(TimelineRow row, std::vector<TimelineRow>& rows) {
  if (!rows.empty() && same_work(rows.back(), row)) {
    rows.back().to_ns = row.to_ns;
    rows.back().pieces += row.pieces;
    rows.back().inferred |= row.inferred;
    return;
  }
  rows.push_back(std::move(row));
}

/// One row for `short_rows`, which follow each other.
TimelineRow fold(const std::vector<TimelineRow>& short_rows) {
  if (short_rows.size() == 1) {
    return short_rows[0];
  }
  TimelineRow folded = short_rows[0];
  folded.to_ns = short_rows.back().to_ns;
  folded.pieces = 0;
  std::set<std::string> threads;
  for (const TimelineRow& row : short_rows) {
    folded.path.resize(common_length(folded.path, row.path));
    folded.pieces += row.pieces;
    folded.inferred |= row.inferred;
    threads.insert(row.thread);
  }
  if (threads.size() > 1) {
    folded.thread = fmt::format("{} threads", threads.size());
  }
  std::map<std::string, int64_t> times;
  for (const TimelineRow& row : short_rows) {
    const size_t below = folded.path.size();
    times[below < row.path.size() ? row.path[below] : "(own time)"] += length(row);
  }
  folded.parts.assign(times.begin(), times.end());
  std::stable_sort(folded.parts.begin(), folded.parts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return folded;
}

/// Puts short rows in a row together.
std::vector<TimelineRow> with_runs_folded(std::vector<TimelineRow> rows, int64_t least_ns) {
  std::vector<TimelineRow> result;
  std::vector<TimelineRow> run;
  const auto end_run = [&] {
    if (!run.empty()) {
      result.push_back(fold(run));
    }
    run.clear();
  };
  for (TimelineRow& row : rows) {
    if (length(row) < least_ns) {
      run.push_back(std::move(row));
      continue;
    }
    end_run();
    result.push_back(std::move(row));
  }
  end_run();
  return result;
}

/// Drops short interruptions of one work.
std::vector<TimelineRow> without_interruptions(std::vector<TimelineRow> rows, int64_t least_ns) {
  std::vector<TimelineRow> result;
  for (TimelineRow& row : rows) {
    const size_t n = result.size();
    const bool interrupted =
        n >= 2 && length(result[n - 1]) < least_ns && same_work(result[n - 2], row);
    if (!interrupted) {
      result.push_back(std::move(row));
      continue;
    }
    result[n - 2].to_ns = row.to_ns;
    result[n - 2].pieces += result[n - 1].pieces + row.pieces;
    result[n - 2].inferred |= result[n - 1].inferred || row.inferred;
    result.pop_back();
  }
  return result;
}

}  // namespace

std::vector<TimelineRow> rows_of(const Timeline& timeline) {
  std::vector<TimelineRow> rows;
  rows.reserve(timeline.pieces.size());
  for (const TimelinePiece& piece : timeline.pieces) {
    rows.push_back(row_of(piece));
  }
  return rows;
}

std::vector<TimelineRow> folded_rows(const Timeline& timeline, int64_t least_ns) {
  std::vector<TimelineRow> merged;
  for (const TimelinePiece& piece : timeline.pieces) {
    add_merged(row_of(piece), merged);
  }
  return without_interruptions(with_runs_folded(std::move(merged), least_ns), least_ns);
}

}  // namespace vprof::report
