// Makes the pages that page_test.mjs opens, from synthetic recordings:
//
//   whole.html   every view, with hostile names in every place
//   large.html   a variance tree of more than 5,000 nodes
//   wide.html    80,000 nodes and 5,000 factors
//   bare.html    only a report: no profile, no recording, no source
#include <cstdio>
#include <fstream>
#include <random>

#include "trace_writer.h"
#include "vprof/report/html.h"
#include "wide_fixture.h"

using namespace vprof;

namespace {

const char* const kHostile[] = {
    "<img src=x onerror=\"window.hacked=1\">", "</script><script>window.hacked=1</script>",
    "line\u2028separator\u2029and\u202e reversed", "<!--<script>", "\xff\xfe no UTF-8 \x01"};

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "fixture: %s\n", message.c_str());
  std::exit(1);
}

template <class T>
T checked(Result<T> result) {
  if (!result) {
    fail(result.error().message);
  }
  return *std::move(result);
}

/// Requests on one thread that wait for a mutex held by another.
void record_whole(const test::ScratchDir& dir, test::SitesWriter& sites) {
  sites.intervals = {kHostile[0]};
  const auto site = [&](const char* name, int height) {
    return sites.function_site(sites.function(name, height, height > 0, height > 1));
  };
  const uint32_t serve = site("serve", 3), load = site(kHostile[1], 2), pack = site(kHostile[2], 1),
                 flush = site("flush<int>", 0), parse = site(kHostile[3], 0);
  test::ProcessWriter process;
  auto& t = process.thread(1);
  auto& u = process.thread(2);
  t.name = "<b>worker</b>";
  u.name = "flusher";
  std::mt19937_64 random(7);
  std::exponential_distribution<double> slow(1 / 60'000.0);
  int64_t now = 10'000;
  for (uint64_t i = 1; i <= 3000; ++i) {
    const int64_t begin = now;
    t.begin(i, begin);
    t.label(i, begin + 1, i % 3 == 0 ? kHostile[0] : i % 7 == 0 ? "bulk" : "small");
    const auto size =
        static_cast<int64_t>(random() % 60'000);  // both functions take longer for larger requests
    const int64_t in_parse = 20'000 + size + static_cast<int64_t>(random() % 9000);
    t.frame(parse, begin + 200, begin + 200 + in_parse);
    int64_t at = begin + 300 + in_parse;
    const int64_t load_from = at;
    if (i % 8 == 0) {
      const auto held = 50'000 + static_cast<int64_t>(slow(random));
      u.frame(flush, at - 10'000, at + held);
      u.release(VPROF_EV_RELEASE_MUTEX, {0x10}, at + held + 500, i);
      t.wait(VPROF_EV_WAIT_MUTEX, {0x10}, at + 100, at + held + 4000, i);
      at += held + 4100;
    }
    const int64_t in_pack = 5'000 + size + static_cast<int64_t>(random() % 20'000);
    t.frame(pack, at, at + in_pack);
    at += in_pack + 1000;
    t.frame(load, load_from, at);
    t.frame(serve, begin + 100, at + 500);
    t.end(i, at + 1000);
    now = at + 30'000 + static_cast<int64_t>(random() % 20'000);
  }
  process.write(dir.path());
}

report::HtmlReport page_of(const test::ScratchDir& dir, const std::string& sites) {
  report::HtmlReport page;
  page.profile = checked(analyzer::analyze(dir.path(), sites, {}));
  page.details = checked(analyzer::details_of(page.profile.bytes));
  return page;
}

void add_timelines(const test::ScratchDir& dir, const std::string& sites,
                   report::HtmlReport& page) {
  std::vector<analyzer::TimelineRequest> requests;
  for (size_t i = 0; i < 3; ++i) {
    const analyzer::IntervalDetail& one = page.details->worst[i];
    requests.push_back({one.id, static_cast<int64_t>(one.latency_ns)});
  }
  for (const analyzer::Factor& factor : page.profile.factors) {
    for (const analyzer::Exemplar& one : factor.worst) {
      requests.push_back({one.id, static_cast<int64_t>(one.latency_ns)});
    }
  }
  const auto take = [&](size_t i, analyzer::Timeline timeline) {
    page.timelines.add(i, {"slowest <i>", std::move(timeline)});
  };
  if (auto done = analyzer::visit_timelines(dir.path(), sites, requests, {}, take); !done) {
    fail(done.error().message);
  }
  if (page.timelines.all().size() < 3) {
    fail("timelines are missing");
  }
}

analyzer::CallCost call(const char* callee, uint32_t line, double share) {
  analyzer::CallCost cost;
  cost.callee = callee;
  cost.file = "src/<b>.c";
  cost.line = line;
  cost.calls = 2;
  cost.cost = {.count = 900, .mean_ns = 1e6, .stddev_ns = 2e5, .share = share};
  return cost;
}

/// A function of 300 lines with costs, one whose text is gone, and lines without costs.
void add_sources(report::HtmlReport& page) {
  report::SourceText costed;
  costed.costed = true;
  costed.factors = {0};
  report::AnnotatedFunction& function = costed.function;
  function.name = kHostile[1];
  function.file = "src/<b>.c";
  function.first = 40;
  function.recorded = function.measured = true;
  function.lines = {"int f(void) {", "\treturn x < y && y > z;  // </script>",
                    std::string("  \"") + kHostile[2] + "\""};
  function.lines.resize(300, "  again();");
  function.costs.interval = kHostile[0];
  function.costs.intervals = 3000;
  function.costs.calls = 1;
  function.costs.whole = {.count = 3000, .mean_ns = 3e6, .stddev_ns = 5e5, .share = 0.75};
  function.costs.own = {.count = 3000, .mean_ns = 1e6, .stddev_ns = 1e5, .share = 0.05};
  function.costs.sites = {call(kHostile[3], 41, 0.001), call("flush<int>", 250, 0.5),
                          call("serve", 250, 0.125)};
  function.costs.sites.push_back(call("wait(pthread_mutex_lock)", 0, 0.0625));
  function.unmeasured = {{"free", "src/<b>.c", 44, "trivial"}};
  page.sources.push_back(costed);
  report::SourceText gone = costed;
  gone.factors = {1};
  gone.function.name = "second";
  gone.function.file = "src/second.c";
  gone.function.lines = {"int other;"};
  gone.function.outdated = gone.function.changed = true;
  page.sources.push_back(gone);
  report::SourceText plain;
  plain.line = 2;
  plain.factors = {1};
  plain.function.name = "wait(x)";
  plain.function.file = "src/third.c";
  plain.function.lines = {"int third;", "x();"};
  page.sources.push_back(plain);
  page.sources_left_out = 17;
}

report::HtmlReport whole() {
  const test::ScratchDir dir;
  test::SitesWriter sites;
  record_whole(dir, sites);
  const std::string sites_json = sites.write(dir.path());
  report::HtmlReport page = page_of(dir, sites_json);
  page.title = kHostile[0];
  add_timelines(dir, sites_json, page);
  for (int i = 1; i <= 3; ++i) {
    report::Iteration& iteration = page.context.iterations.emplace_back();
    iteration.expanded = {kHostile[1], "serve"};
    iteration.sites = static_cast<uint64_t>(10 * i);
    iteration.build_s = 1.5 * i;
    iteration.run_s = 3.0;
    iteration.mean_ns = page.profile.interval.mean_ns;
    iteration.variance_ns2 = page.profile.interval.variance_ns2 / i;
  }
  page.context.unwrapped = {{kHostile[0], 12}};
  page.context.provenance = {.date = "2026-11-24T10:00:00Z",
                             .host = kHostile[0],
                             .kernel = "Linux 6.1.0 x86_64",
                             .processor = "a processor",
                             .processors = 2,
                             .compiler = "gcc 12.2.0",
                             .version = "v1.2-3-gabcdef0-dirty",
                             .commit = "abcdef0123456789",
                             .command = kHostile[1],
                             .configuration = "// <b>\n{ \"run\": \"x\" }\n",
                             .vprof = "0.1.0"};
  page.profile.losses.notes = {kHostile[1], "a note"};
  page.profile.losses.dropped = 4;
  page.profile.interval.incomplete = 2;
  page.profile.interval.loop_queue = {
      .begun = 2000, .waited = 500, .mean_ns = 1e6, .p99_ns = 2e6, .share = 0.25};
  add_sources(page);
  return page;
}

/// 70 functions that call 72 others each: 5,111 nodes.
report::HtmlReport large() {
  const test::ScratchDir dir;
  test::SitesWriter sites;
  constexpr uint32_t kOuter = 70, kInner = 72;
  std::vector<uint32_t> outer, inner;
  for (uint32_t i = 0; i < kInner; ++i) {
    inner.push_back(sites.function_site(sites.function("inner_function_" + std::to_string(i), 0)));
  }
  for (uint32_t i = 0; i < kOuter; ++i) {
    outer.push_back(
        sites.function_site(sites.function("outer_function_" + std::to_string(i), 1, true, true)));
  }
  test::ProcessWriter process;
  auto& t = process.thread(1);
  std::mt19937_64 random(11);
  int64_t now = 10'000;
  for (uint64_t i = 1; i <= 60; ++i) {
    t.begin(i, now);
    for (const uint32_t o : outer) {
      const int64_t from = now += 50;
      for (const uint32_t n : inner) {
        const auto took = static_cast<int64_t>(100 + random() % 2000);
        t.frame(n, now + 10, now + 10 + took);
        now += took + 20;
      }
      now += static_cast<int64_t>(20 + random() % 500);
      t.frame(o, from, now);
    }
    t.end(i, now += 100);
    now += 1000;
  }
  process.write(dir.path());
  report::HtmlReport page = page_of(dir, sites.write(dir.path()));
  page.title = "large";
  if (page.details->nodes.size() < 5000) {
    fail("the large tree is too small");
  }
  return page;
}

report::HtmlReport bare() {
  report::HtmlReport page = whole();
  page.details.reset();
  page.timelines = report::PageTimelines();
  page.sources.clear();
  page.notes = {"There is no profile."};
  return page;
}

void write(const std::string& file, const report::HtmlReport& page) {
  std::ofstream out(file, std::ios::binary);
  out << checked(report::html(page));
  if (!out.flush()) {
    fail("cannot write " + file);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fail("usage: fixture DIRECTORY");
  }
  const std::string directory = argv[1];
  write(directory + "/whole.html", whole());
  write(directory + "/large.html", large());
  write(directory + "/wide.html", wide_report());
  write(directory + "/bare.html", bare());
  return 0;
}
