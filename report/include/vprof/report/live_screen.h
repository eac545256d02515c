// The screen of `vprof live`: what a search knows while it goes on, as lines of text.
//
//   LiveStatus (the search) ─┐
//   LiveView (the user)      ├─▶ live_screen() ─▶ lines, one for each row of the terminal
//   size of the terminal   ──┘
//
// Nothing here knows a terminal, so every screen can be tested as text.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "vprof/report/report.h"

namespace vprof::report {

/// What the search does at the moment.
enum class LivePhase : uint8_t {
  kSwitching,  ///< decides, and moves the frontier
  kBaseline,   ///< measures with all sites off
  kCensus,     ///< measures for a moment what the frontier costs
  kMeasuring,
  kWaiting,  ///< for the intervals that began in the epoch, and their analysis
};

/// What has become of a factor, or what can.
enum class LiveStanding : uint8_t {
  kOpen,      ///< can be broken down
  kNext,      ///< the user has asked for it to be broken down next
  kExpanded,  ///< is broken down already
  kLeaf,      ///< cannot be broken down
  kAnswer,    ///< accepted, by the user or by the search
  kSetAside,
};

struct LiveFactor {
  std::string id;  ///< stays the same from one look to the next
  std::string name;
  std::string location;  ///< `file:line`; empty: unknown
  int rank = 0;
  /// Of the variance, and its 95 % confidence interval; of a covariance: the contribution.
  double share = 0;
  std::array<double, 2> ci95{};
  bool may_be_zero = false;
  LiveStanding standing = LiveStanding::kOpen;
};

/// What has been measured: the present epoch as far as it goes, or the last one.
struct LiveFigures {
  int iteration = 0;  ///< of which it is; 0: nothing has been measured yet
  bool baseline = false;
  double seconds = 0;  ///< how long the epoch has taken
  uint64_t count = 0, incomplete = 0;
  double mean_ns = 0, p99_ns = 0;
  /// {0, 0}: unknown.
  std::array<double, 2> mean_ci95{}, p99_ci95{};
  uint64_t records = 0, dropped = 0, unknown_waits = 0;
  /// What recording adds to the time that the program is busy, a fraction; 0: unknown.
  double cost = 0;
  /// The mean latency over that with all sites off, and its 95 % confidence interval; {0, 0}:
  /// unknown.
  double mean_ratio = 1;
  std::array<double, 2> mean_ratio_ci95{};
};

struct LiveStatus {
  std::string interval;
  int iteration = 0;
  int epoch = 0;  ///< since this vprof began
  LivePhase phase = LivePhase::kSwitching;
  double phase_s = 0;                  ///< since the phase began
  double phase_most_s = 0;             ///< when it ends at the latest; 0: unknown
  double elapsed_s = 0;                ///< since this vprof began
  std::string purpose;                 ///< of the iteration, in words
  std::vector<std::string> functions;  ///< those that it expands, and no earlier one
  uint64_t sites_on = 0;
  double budget = 0;           ///< for LiveFigures::cost, a fraction
  double own_processors = -1;  ///< processor time of vprof itself, s per s; negative: unknown
  LiveFigures figures;
  std::vector<LiveFactor> factors;  ///< by rank
  std::vector<std::string> log;     ///< what the search has said, the oldest first
};

/// A text to read in place of the factors.
struct LivePage {
  std::string title;
  std::vector<std::string> lines;
};

/// What the user looks at.
struct LiveView {
  std::string selected;  ///< LiveFactor::id; empty: the first one
  std::string notice;    ///< the answer to the last key
  LivePage page;         ///< without a title: none
  size_t page_top = 0;   ///< first line that is shown
};

struct ScreenSize {
  size_t rows = 24, columns = 80;
};

enum class ScreenStyle : uint8_t { kPlain, kBar, kSelected, kStrong, kFaint, kWarning };

struct ScreenPart {
  std::string text;
  ScreenStyle style = ScreenStyle::kPlain;
};

/// One row of the terminal, not wider than it.
using ScreenLine = std::vector<ScreenPart>;

/// As many lines as the terminal has rows. Of TextOptions, only `ascii` matters.
std::vector<ScreenLine> live_screen(const LiveStatus& status, const LiveView& view, ScreenSize size,
                                    const TextOptions& options);

/// The index of the selected factor; 0 if there is no such factor any more.
size_t selected_factor(const LiveStatus& status, const LiveView& view);

/// The lines of a page: those that are too long are broken at spaces, and go on with the
/// indentation of their line.
std::vector<std::string> wrapped_lines(const std::string& text, size_t columns);

/// How many lines of a page a terminal shows at a time.
size_t page_rows(ScreenSize size);

}  // namespace vprof::report
