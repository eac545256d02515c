#include <map>

#include "exports/formats.h"
#include "exports/path_spans.h"
#include "vprof/report/exports.h"
#include "vprof/report/json.h"
#include "vprof/support/json.h"
#include "vprof/support/output.h"

namespace vprof::report {
namespace {

using Json = nlohmann::json;
using analyzer::Timeline;
using analyzer::TimelinePiece;

/// The events of one interval. Row 0 is the interval itself; each thread has one of the others.
class IntervalEvents {
 public:
  IntervalEvents(const SelectedTimeline& shown, size_t process, size_t& flows, Json& events)
      : timeline_(shown.timeline), process_(process), flows_(flows), events_(events) {
    name_row("process_name", 0,
             timeline_.interval + " #" + std::to_string(timeline_.id) + " (" + shown.why + ")");
    name_row("thread_name", 0, "interval");
    slice(timeline_.interval, "interval", 0, 0, timeline_.latency_ns,
          {{"id", std::to_string(timeline_.id)},
           {"key", std::to_string(timeline_.key)},
           {"label", timeline_.label},
           {"trace_id", timeline_.trace.trace_id()},
           {"span_id", timeline_.trace.span_id()},
           {"latency_ns", timeline_.latency_ns}});
  }

  void add_spans() {
    for (const PathSpan& span : path_spans(timeline_)) {
      slice(span.path.back(), word_for(span.kind), row_of(span.pid, span.thread, span.thread_name),
            span.from_ns, span.to_ns,
            {{"path", span.path},
             {"self_ns", span.self_ns},
             {"thread_id", span.tid},
             {"monotonic_ns", std::to_string(span.monotonic_ns)},
             {"inferred", span.inferred}});
    }
  }

  void add_flows() {
    for (size_t i = 0; i + 1 < timeline_.pieces.size(); ++i) {
      const TimelinePiece& piece = timeline_.pieces[i];
      add_flow(piece, row_of(piece.pid, piece.thread, piece.thread_name), timeline_.pieces[i + 1]);
    }
  }

 private:
  /// The format counts in us; fractions keep the ns.
  double us(int64_t ns) const { return static_cast<double>(timeline_.begin_ns + ns) / 1e3; }

  void name_row(const char* what, size_t row, const std::string& value) {
    events_.push_back({{"name", what},
                       {"ph", "M"},
                       {"pid", process_},
                       {"tid", row},
                       {"args", {{"name", value}}}});
  }

  size_t row_of(uint32_t pid, uint32_t thread, const std::string& thread_name) {
    const auto [entry, is_new] = rows_.try_emplace({pid, thread}, rows_.size() + 1);
    if (is_new) {
      name_row("thread_name", entry->second,
               thread_name + " " + std::to_string(pid) + ":" + std::to_string(thread));
    }
    return entry->second;
  }

  void slice(const std::string& what, const char* category, size_t row, int64_t from, int64_t to,
             Json arguments) {
    events_.push_back({{"name", what},
                       {"cat", category},
                       {"ph", "X"},
                       {"ts", us(from)},
                       {"dur", static_cast<double>(to - from) / 1e3},
                       {"pid", process_},
                       {"tid", row},
                       {"args", std::move(arguments)}});
  }

  void add_flow(const TimelinePiece& piece, size_t row, const TimelinePiece& next) {
    if (piece.pid == next.pid && piece.thread == next.thread) {
      return;
    }
    const size_t to = row_of(next.pid, next.thread, next.thread_name);
    const size_t id = ++flows_;
    for (const char* phase : {"s", "f"}) {
      const bool begins = *phase == 's';
      Json event = {{"name", "continues"},
                    {"cat", "wake-up"},
                    {"ph", phase},
                    {"id", id},
                    {"pid", process_},
                    {"tid", begins ? row : to},
                    {"ts", us(begins ? piece.from_ns : next.from_ns)}};
      if (!begins) {
        event["bp"] = "e";  // binds to the slice around it
      }
      events_.push_back(std::move(event));
    }
  }

  const Timeline& timeline_;
  const size_t process_;
  size_t& flows_;
  Json& events_;
  std::map<std::pair<uint32_t, uint32_t>, size_t> rows_;
};

}  // namespace

nlohmann::json perfetto(const std::vector<SelectedTimeline>& timelines) {
  Json events = Json::array();
  size_t flows = 0;
  for (size_t i = 0; i < timelines.size(); ++i) {
    IntervalEvents interval(timelines[i], i + 1, flows, events);
    interval.add_spans();
    interval.add_flows();
  }
  return {{"traceEvents", std::move(events)}, {"displayTimeUnit", "ns"}};
}

Result<std::string> write_perfetto(ExportSource& source, const std::string& file) {
  const auto timelines = VPROF_TRY(source.timelines());
  const std::string text = vprof::json_text(perfetto(timelines), -1);
  VPROF_TRY(write_output(file, text));
  return fmt::format("{} intervals piece by piece", timelines.size());
}

}  // namespace vprof::report
