// OTLP/JSON as OpenTelemetry's file exporter writes it: one ExportTraceServiceRequest per line.
//
//   the service's own span (by its traceparent)
//     └─ request                              one span per interval
//          └─ handle_order
//               └─ wait(pthread_mutex_lock) ◀┄┄ link to the span that ended it
//                    └─ flush_journal         blame: on the thread that was waited for
//
// Ids follow from the interval, so a second export makes the same spans.
#include <array>
#include <cstdlib>

#include "exports/formats.h"
#include "exports/nested_spans.h"
#include "vprof/report/exports.h"
#include "vprof/report/json.h"
#include "vprof/support/json.h"
#include "vprof/support/output.h"

namespace vprof::report {
namespace {

using Json = nlohmann::json;
using analyzer::NodeKind;
using analyzer::Timeline;

/// More spans of one interval are not shown by the usual viewers.
constexpr size_t kMostSpans = 2000;
/// Spans per line: collectors read lines of up to 1 MiB unless told otherwise.
constexpr size_t kSpansPerLine = 500;

// SpanKind
constexpr int kInternal = 1;

uint64_t mixed(uint64_t h) {
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
  return h ^ (h >> 31);
}

Json attribute(const char* key, const std::string& value) {
  return {{"key", key}, {"value", {{"stringValue", value}}}};
}
Json attribute(const char* key, const char* value) { return attribute(key, std::string(value)); }
Json attribute(const char* key, bool value) {
  return {{"key", key}, {"value", {{"boolValue", value}}}};
}
/// 64-bit numbers are texts in JSON of protocol buffers.
Json attribute(const char* key, uint64_t value) {
  return {{"key", key}, {"value", {{"intValue", std::to_string(value)}}}};
}

/// What OpenTelemetry's libraries call the service: OTEL_SERVICE_NAME, or else the program.
std::string service_of(const Timeline& timeline) {
  const char* const name = std::getenv("OTEL_SERVICE_NAME");
  if (name != nullptr && *name != '\0') {
    return name;
  }
  const std::string program = fs::path(timeline.program).filename().string();
  return program.empty() ? "unknown_service" : program;
}

/// The spans of one interval.
class IntervalSpans {
 public:
  explicit IntervalSpans(const SelectedTimeline& shown)
      : shown_(shown),
        timeline_(shown.timeline),
        seed_(mixed(mixed(timeline_.id) ^ mixed(timeline_.key) ^
                    static_cast<uint64_t>(timeline_.realtime_ns))) {
    std::vector<NestedSpan> all = nested_spans(timeline_);
    left_out_ = all.size() - std::min(all.size(), kMostSpans);
    spans_ = longest_spans(std::move(all), kMostSpans);
  }

  size_t size() const { return spans_.size(); }

  Json span(size_t i) const {
    const NestedSpan& from = spans_[i];
    const bool root = i == 0;
    Json span = {{"traceId", trace_id()},
                 {"spanId", span_id(i)},
                 {"parentSpanId", root ? timeline_.trace.span_id() : span_id(from.parent)},
                 {"name", from.name},
                 {"kind", kInternal},
                 {"startTimeUnixNano", std::to_string(timeline_.realtime_ns + from.from_ns)},
                 {"endTimeUnixNano", std::to_string(timeline_.realtime_ns + from.to_ns)},
                 {"attributes", root ? interval_attributes() : attributes(from)}};
    for (const size_t by : from.woken_by) {
      span["links"].push_back({{"traceId", trace_id()},
                               {"spanId", span_id(by)},
                               {"attributes", Json::array({attribute("vprof.link", "woken by")})}});
    }
    return span;
  }

 private:
  /// One of its own if the program gave none.
  std::string trace_id() const {
    const analyzer::TraceContext own{seed_ | 1, mixed(seed_ + 1), 0};
    return (timeline_.trace.is_set() ? timeline_.trace : own).trace_id();
  }

  std::string span_id(size_t i) const { return fmt::format("{:016x}", mixed(seed_ + 2 + i) | 1); }

  Json interval_attributes() const {
    Json all = Json::array({attribute("vprof.kind", "interval"),
                            attribute("vprof.interval.id", std::to_string(timeline_.id)),
                            attribute("vprof.why", shown_.why)});
    if (timeline_.key != 0) {
      all.push_back(attribute("vprof.interval.key", std::to_string(timeline_.key)));
    }
    if (!timeline_.label.empty()) {
      all.push_back(attribute("vprof.label", timeline_.label));
    }
    if (left_out_ != 0) {
      all.push_back(attribute("vprof.spans_left_out", uint64_t{left_out_}));
    }
    return all;
  }

  static Json attributes(const NestedSpan& from) {
    Json all = Json::array({attribute("vprof.kind", word_for(from.kind))});
    if (from.kind == NodeKind::kFunction || from.kind == NodeKind::kBlame) {
      all.push_back(attribute("code.function.name", from.name));
    }
    if (from.inferred) {
      all.push_back(attribute("vprof.inferred", true));
    }
    if (from.pid) {
      all.push_back(attribute("process.pid", uint64_t{*from.pid}));
      all.push_back(attribute("thread.id", uint64_t{from.tid}));
      all.push_back(attribute("thread.name", from.thread_name));
    }
    return all;
  }

  const SelectedTimeline& shown_;
  const Timeline& timeline_;
  const uint64_t seed_;
  std::vector<NestedSpan> spans_;
  size_t left_out_ = 0;
};

std::string request_line(Json spans, const std::string& service) {
  const Json resource = {{"attributes", Json::array({attribute("service.name", service)})}};
  const Json scope = {{"scope", {{"name", "vprof"}}}, {"spans", std::move(spans)}};
  const Json resource_spans = {{"resource", resource}, {"scopeSpans", Json::array({scope})}};
  return vprof::json_text({{"resourceSpans", Json::array({resource_spans})}}, -1) + "\n";
}

}  // namespace

std::string otlp(const std::vector<SelectedTimeline>& timelines) {
  std::string lines;
  for (const SelectedTimeline& shown : timelines) {
    const IntervalSpans interval(shown);
    const std::string service = service_of(shown.timeline);
    for (size_t from = 0; from < interval.size(); from += kSpansPerLine) {
      Json spans = Json::array();
      for (size_t i = from; i < std::min(from + kSpansPerLine, interval.size()); ++i) {
        spans.push_back(interval.span(i));
      }
      lines += request_line(std::move(spans), service);
    }
  }
  return lines;
}

Result<std::string> write_otlp(ExportSource& source, const std::string& file) {
  const auto timelines = VPROF_TRY(source.timelines());
  VPROF_TRY(write_output(file, otlp(timelines)));
  const auto in_traces =
      std::ranges::count_if(timelines, [](const auto& one) { return one.timeline.trace.is_set(); });
  return fmt::format("{} intervals as spans, {} of them in traces of the program", timelines.size(),
                     in_traces);
}

}  // namespace vprof::report
