#include "vprof/analyzer/trace_context.h"

#include <fmt/format.h>

#include <charconv>

namespace vprof::analyzer {
namespace {

// version "-" trace id "-" parent id "-" flags
constexpr size_t kVersion = 2;
constexpr size_t kTraceId = 32;
constexpr size_t kSpanId = 16;
constexpr size_t kWhole = kVersion + 1 + kTraceId + 1 + kSpanId + 1 + 2;

/// Without white space around it, and without the rest of the header that it comes from.
std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) {
    return {};
  }
  text = text.substr(first, text.find_first_of("\r\n", first) - first);
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

/// Capital letters are malformed, according to the recommendation.
bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

uint64_t number(std::string_view digits) {
  uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

/// Only version 00 must end after the flags.
bool has_form(std::string_view text) {
  if (text.size() < kWhole || (text.size() > kWhole && text[kWhole] != '-')) {
    return false;
  }
  const std::string_view version = text.substr(0, kVersion);
  if (!is_hex(version) || version == "ff" || (version == "00" && text.size() != kWhole)) {
    return false;
  }
  for (size_t at = kVersion; const size_t length : {kTraceId, kSpanId, size_t{2}}) {
    if (text[at] != '-' || !is_hex(text.substr(at + 1, length))) {
      return false;
    }
    at += 1 + length;
  }
  return true;
}

}  // namespace

std::string TraceContext::trace_id() const {
  return is_set() ? fmt::format("{:016x}{:016x}", high, low) : "";
}

std::string TraceContext::span_id() const { return span == 0 ? "" : fmt::format("{:016x}", span); }

std::optional<TraceContext> parse_trace_context(std::string_view text) {
  text = trimmed(text);
  const bool alone = text.size() == kTraceId && is_hex(text);
  if (!alone && !has_form(text)) {
    return {};
  }
  const std::string_view id = alone ? text : text.substr(kVersion + 1, kTraceId);
  TraceContext context{number(id.substr(0, kSpanId)), number(id.substr(kSpanId)), 0};
  if (!alone) {
    context.span = number(text.substr(kVersion + 1 + kTraceId + 1, kSpanId));
  }
  if (!context.is_set() || (!alone && context.span == 0)) {
    return {};
  }
  return context;
}

}  // namespace vprof::analyzer
