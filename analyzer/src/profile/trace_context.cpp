#include "vprof/analyzer/trace_context.h"

#include <fmt/format.h>

#include <charconv>

namespace vprof::analyzer {
namespace {

// version "-" trace id "-" parent id "-" flags
constexpr size_t kVersionDigits = 2;
constexpr size_t kTraceDigits = 32;
constexpr size_t kSpanDigits = 16;
constexpr size_t kWholeLength = kVersionDigits + 1 + kTraceDigits + 1 + kSpanDigits + 1 + 2;

/// Without white space around it, and without the rest of the header that it comes from.
std::string_view without_spaces(std::string_view text) {
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
  if (text.size() < kWholeLength || (text.size() > kWholeLength && text[kWholeLength] != '-')) {
    return false;
  }
  const std::string_view version = text.substr(0, kVersionDigits);
  if (!is_hex(version) || version == "ff" || (version == "00" && text.size() != kWholeLength)) {
    return false;
  }
  for (size_t at = kVersionDigits; const size_t length : {kTraceDigits, kSpanDigits, size_t{2}}) {
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
  text = without_spaces(text);
  const bool alone = text.size() == kTraceDigits && is_hex(text);
  if (!alone && !has_form(text)) {
    return {};
  }
  const std::string_view id = alone ? text : text.substr(kVersionDigits + 1, kTraceDigits);
  TraceContext context{number(id.substr(0, kSpanDigits)), number(id.substr(kSpanDigits)), 0};
  if (!alone) {
    context.span = number(text.substr(kVersionDigits + 1 + kTraceDigits + 1, kSpanDigits));
  }
  if (!context.is_set() || (!alone && context.span == 0)) {
    return {};
  }
  return context;
}

}  // namespace vprof::analyzer
