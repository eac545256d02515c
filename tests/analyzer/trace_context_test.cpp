// Trace contexts of other systems: from the text in the trace to exemplars and timelines.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "helpers.h"
#include "trace_writer.h"
#include "vprof/analyzer/details.h"
#include "vprof/analyzer/interval_times.h"
#include "vprof/analyzer/timeline.h"
#include "vprof/analyzer/trace_context.h"

using namespace vprof;
using analyzer::parse_trace_context;
using analyzer::TraceContext;

namespace {

const std::string kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string kSpan = "00f067aa0ba902b7";
const std::string kParent = "00-" + kTrace + "-" + kSpan + "-01";

std::string trace_id(uint64_t number) { return fmt::format("{:032x}", number); }

/// Requests of 1 to `count` us, one after the other; request i belongs to trace i.
struct Recording {
  test::ScratchDir dir;
  test::SitesWriter sites;
  test::ProcessWriter process;

  explicit Recording(uint64_t count) {
    test::ThreadWriter& thread = process.thread(1);
    const uint32_t f = sites.function_site(sites.function("f"));
    int64_t now = 1000;
    for (uint64_t i = 1; i <= count; ++i) {
      const auto latency = static_cast<int64_t>(i) * 1000;
      thread.begin(i, now);
      thread.trace_context(i, now + 1, "00-" + trace_id(i) + "-" + kSpan + "-01");
      thread.frame(f, now + 2, now + latency - 1);
      thread.end(i, now + latency);
      now += latency + 100;
    }
  }

  void write() {
    process.write(dir.path());
    sites.write(dir.path());
  }
  std::string sites_file() const { return dir.path("sites.json"); }

  analyzer::Profile profile(uint64_t window = 1 << 17) const {
    analyzer::Options options;
    options.window = window;
    auto made = analyzer::analyze(dir.path(), sites_file(), options);
    REQUIRE(made);
    return *std::move(made);
  }
};

std::string notes(const analyzer::Profile& profile) {
  std::string all;
  for (const std::string& note : profile.losses.notes) {
    all += note + "\n";
  }
  return all;
}

}  // namespace

TEST_CASE("a traceparent is read as the recommendation has it") {
  const auto context = parse_trace_context(kParent);
  REQUIRE(context);
  CHECK(context->trace_id() == kTrace);
  CHECK(context->span_id() == kSpan);
  CHECK(parse_trace_context(" \t" + kParent + "\r\nHost: example") == context);
  CHECK(parse_trace_context("01-" + kTrace + "-" + kSpan + "-01-what a later version adds") ==
        context);
  const auto alone = parse_trace_context(kTrace);
  REQUIRE(alone);
  CHECK(alone->trace_id() == kTrace);
  CHECK(alone->span_id().empty());
  CHECK(TraceContext{}.trace_id().empty());
}

TEST_CASE("what is no traceparent is malformed") {
  const std::string zeros(32, '0');
  const std::string upper = "00-4BF92F3577B34DA6A3CE929D0E0E4736-" + kSpan + "-01";
  for (const std::string& text :
       {std::string(), std::string("x"), kTrace.substr(1), kTrace + "0", zeros, upper,
        "00-" + zeros + "-" + kSpan + "-01", "00-" + kTrace + "-0000000000000000-01",
        "ff-" + kTrace + "-" + kSpan + "-01", "0-" + kTrace + "-" + kSpan + "-01",
        kParent + "-more", kParent + "0", kParent.substr(0, 54),
        "00_" + kTrace + "-" + kSpan + "-01", "00-" + kTrace + "-" + kSpan + "-0g",
        "01-" + kTrace + "-" + kSpan + "-01x"}) {
    INFO(text);
    CHECK_FALSE(parse_trace_context(text));
  }
}

TEST_CASE("intervals keep their traces, whatever is read at a time") {
  Recording recording(200);
  recording.process.slots_per_chunk = 60;
  recording.write();
  for (const uint64_t window : {uint64_t{1} << 17, uint64_t{40}}) {
    const analyzer::Profile profile = recording.profile(window);
    REQUIRE(!profile.factors.empty());
    const analyzer::Exemplar& worst = profile.factors[0].worst.at(0);
    CHECK(worst.trace.trace_id() == trace_id(200));
    CHECK(worst.trace.span_id() == kSpan);
    CHECK(notes(profile).find("trace context") == std::string::npos);
    const auto details = analyzer::details_of(profile.bytes);
    REQUIRE(details);
    CHECK(details->worst.at(0).trace == worst.trace);
    CHECK(std::ranges::all_of(details->sampled, [](const auto& one) {
      return one.trace.trace_id() == trace_id(one.latency_ns / 1000);
    }));
  }
}

TEST_CASE("traces survive the profile file and merging") {
  Recording recording(50);
  recording.write();
  const analyzer::Profile profile = recording.profile();
  const auto merged =
      analyzer::merge({{"a", profile.bytes}, {"b", profile.bytes}}, analyzer::Options{});
  REQUIRE(merged);
  CHECK(merged->factors.at(0).worst.at(0).trace.trace_id() == trace_id(50));
  CHECK(std::ranges::all_of(merged->factors[0].typical,
                            [](const auto& one) { return one.trace.is_set(); }));
}

TEST_CASE("the slowest interval of a trace has a timeline") {
  Recording recording(20);
  test::ThreadWriter& thread = recording.process.thread(2);
  thread.begin(100, 500'000);  // another one of trace 7
  thread.trace_context(100, 500'001, trace_id(7));
  thread.end(100, 590'000);
  recording.write();
  const auto context = parse_trace_context(trace_id(7));
  REQUIRE(context);
  const auto timeline =
      analyzer::timeline_of(recording.dir.path(), recording.sites_file(), *context, {});
  REQUIRE(timeline);
  CHECK(timeline->latency_ns == 90'000);
  CHECK(timeline->others == 1);
  CHECK(timeline->trace.span_id().empty());
  const auto none = analyzer::timeline_of(recording.dir.path(), recording.sites_file(),
                                          *parse_trace_context(kTrace), {});
  REQUIRE_FALSE(none);
  CHECK(none.error().message.find(kTrace) != std::string::npos);
}

TEST_CASE("malformed and misplaced trace contexts are counted and shown") {
  Recording recording(20);
  test::ThreadWriter& thread = recording.process.thread(2);
  thread.trace_context(300, 900'000, kParent);  // before it begins
  thread.begin(300, 900'001);
  thread.trace_context(300, 900'002, "00-not\x01 a trace");
  thread.trace_context(300, 900'003, "7");
  thread.end(300, 900'500);
  thread.trace_context(300, 900'600, kParent);  // after its end
  recording.write();
  const std::string text = notes(recording.profile());
  CHECK(
      text.find("2 trace contexts are not as W3C's traceparent is, such as \"00-not? a trace\"") !=
      std::string::npos);
  CHECK(text.find("2 trace contexts belong to no completed interval") != std::string::npos);
}

TEST_CASE("the last trace context of an interval counts") {
  Recording recording(1);
  recording.process.thread(1).begin(9, 50'000);
  recording.process.thread(1).trace_context(9, 50'001, trace_id(1));
  recording.process.thread(1).trace_context(9, 50'002, trace_id(2));
  recording.process.thread(1).end(9, 60'000);
  recording.write();
  std::vector<std::string> traces;
  const analyzer::IntervalSink sink{[](const auto&) { return Result<void>(); },
                                    [&](const analyzer::IntervalRow& row) {
                                      traces.push_back(row.trace.trace_id());
                                      return Result<void>();
                                    }};
  REQUIRE(analyzer::interval_times(recording.dir.path(), recording.sites_file(), {}, sink));
  CHECK(traces == std::vector<std::string>{trace_id(2), trace_id(1)});
}
