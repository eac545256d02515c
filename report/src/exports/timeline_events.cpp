// `vprof timeline --trace-events`: one interval for trace viewers.
#include <set>

#include "exports/path_spans.h"
#include "vprof/report/json.h"
#include "vprof/report/timeline.h"

namespace vprof::report {

nlohmann::json trace_events(const analyzer::Timeline& timeline) {
  nlohmann::json events = nlohmann::json::array();
  std::set<std::pair<uint32_t, uint32_t>> named;
  for (const PathSpan& span : path_spans(timeline)) {
    events.push_back({{"name", span.path.back()},
                      {"cat", word_for(span.kind)},
                      {"ph", "X"},
                      {"ts", static_cast<double>(span.from_ns) / 1e3},
                      {"dur", static_cast<double>(span.to_ns - span.from_ns) / 1e3},
                      {"pid", span.pid},
                      {"tid", span.thread},
                      {"args",
                       {{"path", span.path},
                        {"self_ns", span.self_ns},
                        {"thread_id", span.tid},
                        {"inferred", span.inferred}}}});
    if (named.emplace(span.pid, span.thread).second) {
      events.push_back({{"name", "thread_name"},
                        {"ph", "M"},
                        {"pid", span.pid},
                        {"tid", span.thread},
                        {"args", {{"name", span.thread_name}}}});
    }
  }
  return {{"traceEvents", std::move(events)},
          {"displayTimeUnit", "ns"},
          {"otherData",
           {{"interval", timeline.interval},
            {"id", std::to_string(timeline.id)},
            {"key", std::to_string(timeline.key)},
            {"label", timeline.label},
            {"latency_ns", timeline.latency_ns}}}};
}

}  // namespace vprof::report
