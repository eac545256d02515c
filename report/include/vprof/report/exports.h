// Profiles and recordings in the formats of other programs (docs/formats.md).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vprof/report/html.h"

namespace vprof::report {

/// The Trace Event Format, which Perfetto and Chrome open. Each interval is a process of its own,
/// with a row per thread on its path: functions and waits within each other, and a flow
/// wherever the path moves to another thread (a wake-up or a hand-off).
nlohmann::json perfetto(const std::vector<SelectedTimeline>& timelines);

/// Folded stacks, as flame-graph tools read them: `root;f;wait(x) 12345`, weighted by the leaf's
/// share of the variance in millionths. Such tools cannot show negative shares: those are left out,
/// and `left_out` receives their sum (a part of 1).
std::string folded(const analyzer::Profile& profile, double& left_out);

/// OTLP/JSON, as OpenTelemetry's file exporter writes it: lines, each an ExportTraceServiceRequest.
/// An interval is a span below that of its trace context, and its critical path nested spans.
std::string otlp(const std::vector<SelectedTimeline>& timelines);

/// What metrics say besides the profile.
struct MetricsContext {
  std::string vprof;             ///< version of vprof
  std::string program, version;  ///< what is profiled
  double start_s = 0;            ///< when the recording began, Unix time
  std::optional<uint64_t> slow_intervals = {};
  /// Of the time, of which the intervals are in the profile; nothing: whatever was recorded.
  std::optional<double> counted_part = {};
  std::optional<double> own_processor_s = {};  ///< processor time of vprof itself
};

/// A profile as metrics in Prometheus' text format; docs/fleet.md lists them. Factors that are
/// listed, without pairs, 20 at most.
std::string prometheus(const analyzer::Profile& profile, const MetricsContext& context);

/// What a format is made from: a recording and its analysis.
class ExportSource {
 public:
  ExportSource(std::string trace, std::string sites, analyzer::Options analysis)
      : trace_dir(std::move(trace)), sites_json(std::move(sites)), options(std::move(analysis)) {}
  virtual ~ExportSource() = default;

  /// The analysis of the recording, made once. Valid as long as the source.
  virtual Result<const analyzer::Profile*> profile() = 0;
  /// The slowest intervals and some typical ones.
  virtual Result<std::vector<SelectedTimeline>> timelines() = 0;

  /// A format knows about how large its file will be, after the first percent of the recording. An
  /// error ends the export, and no file is left.
  virtual Result<void> expect_bytes(const std::string& file, uint64_t bytes) {
    static_cast<void>(file);
    static_cast<void>(bytes);
    return {};
  }

  const std::string trace_dir;
  const std::string sites_json;
  const analyzer::Options options;
};

/// One format of `vprof export`.
struct ExportFormat {
  const char* name;  ///< `csv`: its option is `--csv FILE`
  const char* help;
  /// Writes a file and returns what is in it: `2000 intervals`. Error: one line.
  Result<std::string> (*write)(ExportSource& source, const std::string& file);
};

/// All formats, in the order of the command line.
std::span<const ExportFormat> export_formats();

}  // namespace vprof::report
