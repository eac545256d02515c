// The trace of another system that an interval belongs to (W3C Trace Context): with it, what
// OpenTelemetry's tools and vprof know about one request can be put together.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vprof::analyzer {

struct TraceContext {
  /// The 16 bytes of the trace id, as digits are read. 0: none.
  uint64_t high = 0, low = 0;
  /// The span that the interval is a part of; 0: not known.
  uint64_t span = 0;

  auto operator<=>(const TraceContext&) const = default;
  bool is_set() const { return (high | low) != 0; }
  /// 32 and 16 hexadecimal digits; empty if there is none.
  std::string trace_id() const;
  std::string span_id() const;
};

/// Reads `00-TRACE ID-SPAN ID-FLAGS` as W3C's recommendation has it, or the 32 digits of a trace id
/// alone. White space around it does not matter, nor does what follows the end of the line.
/// Nothing: it is malformed, or an id is 0.
std::optional<TraceContext> parse_trace_context(std::string_view text);

}  // namespace vprof::analyzer
