// Rows for tables: they add up to what the profile of the same recording has.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <tuple>

#include "helpers.h"
#include "profile/profile_file.h"
#include "simulator.h"
#include "vprof/analyzer/table_rows.h"

using namespace vprof;
using analyzer::NodeKind;
using analyzer::UInt128;

namespace {

struct Rows {
  std::vector<analyzer::TablePlace> places;
  std::vector<analyzer::TableInterval> intervals;
  std::vector<analyzer::SumsRow> sums;
  std::vector<analyzer::ProductRow> products;
  std::vector<analyzer::BinRow> bins;
  std::vector<analyzer::LatencyRow> latencies;
  std::vector<analyzer::RecordingRow> recordings;

  /// Names and positions from the root down: the same for all numberings.
  std::string path(uint32_t place) const {
    const analyzer::TablePlace& one = places[place];
    return place == 0 ? "" : path(one.parent) + "/" + one.function + "@" + one.position;
  }
  uint32_t body_of(uint32_t place) const {
    const auto found = std::ranges::find_if(places, [&](const analyzer::TablePlace& one) {
      return one.kind == NodeKind::kBody && one.parent == place;
    });
    return found == places.end() ? UINT32_MAX : found->number;
  }
};

template <class Row>
std::function<Result<void>(const Row&)> append_to(std::vector<Row>& rows) {
  return [&rows](const Row& row) -> Result<void> {
    rows.push_back(row);
    return {};
  };
}

/// The recording of a random program, and a pass over its requests.
struct Recording {
  explicit Recording(uint64_t seed) : sites(test::Simulator(seed).write(directory.path())) {
    options.interval = "request";
  }

  test::ScratchDir directory;
  std::string sites;
  analyzer::Options options;
};

Rows rows_of(const std::string& directory, const std::string& sites,
             const analyzer::Options& options) {
  Rows rows;
  const analyzer::TableSink sink{append_to(rows.intervals), append_to(rows.sums),
                                 append_to(rows.products),  append_to(rows.bins),
                                 append_to(rows.latencies), append_to(rows.places),
                                 append_to(rows.recordings)};
  REQUIRE(analyzer::table_rows(directory, sites, options, sink));
  return rows;
}

/// Paths of a profile's places, as Rows::path() has them.
std::vector<std::string> paths_of(const analyzer::IntervalSums& sums) {
  std::vector<std::string> paths = {""};
  for (size_t i = 1; i < sums.places.size(); ++i) {
    const analyzer::Place& place = sums.places[i];
    const analyzer::Place& parent = sums.places[place.parent];
    const std::string name =
        place.kind == NodeKind::kBody
            ? analyzer::body_name(parent.kind, place.parent == 0 ? "request" : parent.name)
            : place.name;
    paths.push_back(paths[place.parent] + "/" + name + "@" + place.position);
  }
  return paths;
}

/// Time of every place in each interval, bodies as well.
std::vector<std::map<uint32_t, uint64_t>> times_with_bodies(const Rows& rows) {
  std::vector<std::map<uint32_t, uint64_t>> all;
  for (const analyzer::TableInterval& interval : rows.intervals) {
    std::map<uint32_t, uint64_t>& times = all.emplace_back();
    for (const analyzer::TableTime& time : interval.times) {
      times[time.place] = time.total_ns;
      if (const uint32_t body = rows.body_of(time.place); body != UINT32_MAX && time.self_ns != 0) {
        times[body] = time.self_ns;
      }
    }
  }
  return all;
}

void check_times(const Rows& rows) {
  for (const analyzer::TableInterval& interval : rows.intervals) {
    std::map<uint32_t, const analyzer::TableTime*> times;
    std::map<uint32_t, uint64_t> below, wait_below, blame_below;
    uint64_t own = 0;
    for (const analyzer::TableTime& time : interval.times) {
      times[time.place] = &time;
      own += time.self_ns;
      if (time.place != 0) {
        const uint32_t parent = rows.places[time.place].parent;
        below[parent] += time.total_ns;
        wait_below[parent] += time.wait_ns;
        blame_below[parent] += time.blame_ns;
      }
    }
    CHECK(own == interval.latency_ns);
    CHECK(times.at(0)->total_ns == interval.latency_ns);
    for (const auto& [place, time] : times) {
      CHECK(time->total_ns == time->self_ns + below[place]);
      const NodeKind kind = rows.places[place].kind;
      const bool waits =
          kind == NodeKind::kWait || kind == NodeKind::kQueue || kind == NodeKind::kParked;
      CHECK(time->wait_ns == (waits ? time->total_ns : wait_below[place]));
      CHECK(time->blame_ns == (kind == NodeKind::kBlame ? time->total_ns : blame_below[place]));
      CHECK(kind != NodeKind::kBody);
    }
  }
}

using Key = std::pair<uint64_t, std::string>;  // batch, and path

void check_sums(const Rows& rows, const analyzer::IntervalSums& profile) {
  using Sums = std::tuple<uint64_t, UInt128, UInt128, UInt128>;
  std::map<Key, Sums> found, expected;
  std::map<uint64_t, uint64_t> n;
  for (const analyzer::SumsRow& row : rows.sums) {
    auto& [count, x, xx, xt] = found[{row.batch, rows.path(row.place)}];
    count += row.count;
    x += row.x;
    xx += row.xx;
    xt += row.xt;
    if (row.place == 0) {
      n[row.batch] += row.n;
      CHECK(row.n == row.count);
    }
  }
  const auto paths = paths_of(profile);
  for (const analyzer::Batch& batch : profile.batches) {
    const uint64_t number = UINT64_MAX - batch.order;
    CHECK(n[number] == batch.sums.n);
    for (size_t place = 0; place < batch.sums.nodes.size(); ++place) {
      if (const analyzer::NodeSums& sums = batch.sums.nodes[place]; sums.x != 0) {
        expected[{number, paths[place]}] = {sums.count, sums.x, sums.xx, sums.xt};
      }
    }
  }
  CHECK(found == expected);
}

void check_products(const Rows& rows) {
  std::map<std::tuple<uint64_t, uint32_t, uint32_t>, UInt128> found, expected;
  for (const analyzer::ProductRow& row : rows.products) {
    if (row.a != row.b) {
      found[{row.batch, row.a, row.b}] += row.xy;
    }
  }
  const auto times = times_with_bodies(rows);
  for (size_t i = 0; i < rows.intervals.size(); ++i) {
    const uint64_t batch = rows.intervals[i].number >> rows.recordings.front().batch_shift;
    for (const auto& [a, x] : times[i]) {
      for (const auto& [b, y] : times[i]) {
        if (a < b && a != 0 && rows.places[a].parent == rows.places[b].parent) {
          expected[{batch, a, b}] += static_cast<UInt128>(x) * y;
        }
      }
    }
  }
  CHECK(found == expected);
}

void check_latencies(const Rows& rows) {
  std::map<std::pair<std::string, uint32_t>, std::array<uint64_t, 3>> found, expected;
  std::map<std::pair<uint32_t, uint32_t>, UInt128> bins, expected_bins;
  for (const analyzer::LatencyRow& row : rows.latencies) {
    found[{*row.label, row.bucket}] = {row.n, row.least_ns, row.greatest_ns};
  }
  for (const analyzer::BinRow& row : rows.bins) {
    bins[{row.place, row.bin}] += row.x;
  }
  const auto times = times_with_bodies(rows);
  for (size_t i = 0; i < rows.intervals.size(); ++i) {
    const analyzer::TableInterval& interval = rows.intervals[i];
    const uint32_t bucket = analyzer::latency_bucket(interval.latency_ns);
    auto& [n, least, greatest] = expected[{interval.label, bucket}];
    least = n++ == 0 ? interval.latency_ns : std::min(least, interval.latency_ns);
    greatest = std::max(greatest, interval.latency_ns);
    for (const auto& [place, ns] : times[i]) {
      expected_bins[{place, bucket >> 5}] += ns;
    }
  }
  CHECK(found == expected);
  CHECK(bins == expected_bins);
}

}  // namespace

TEST_CASE("rows for tables add up to the profile") {
  for (uint64_t seed = 1; seed <= 20; seed += test::kEvery) {
    INFO("seed " << seed);
    Recording made(seed);
    const auto profile = analyzer::analyze(made.directory.path(), made.sites, made.options);
    REQUIRE(profile);
    const auto sums = analyzer::from_bytes(profile->bytes);
    REQUIRE(sums);
    made.options.window = seed % 2 == 0 ? 1 : 1 << 17;
    const Rows rows = rows_of(made.directory.path(), made.sites, made.options);
    REQUIRE(rows.recordings.size() == 1);
    const analyzer::RecordingRow& recording = rows.recordings.front();
    CHECK(recording.intervals == profile->interval.count);
    CHECK(rows.intervals.size() == profile->interval.count);
    CHECK(recording.incomplete == profile->interval.incomplete);
    CHECK(recording.records == profile->overhead.records);
    check_times(rows);
    check_sums(rows, *sums);
    check_products(rows);
    check_latencies(rows);
  }
}

namespace {

/// A function, wait or body, wherever it is, and whether it has the time of the place: what is
/// within another instance is a part of that one's time.
struct Variable {
  std::tuple<NodeKind, std::string, std::string> name;
  bool outermost = true;
};

std::vector<Variable> variables_of(const Rows& rows) {
  const auto name = [&](uint32_t place) {
    const analyzer::TablePlace& one = rows.places[place];
    const NodeKind kind = one.kind == NodeKind::kBlame ? NodeKind::kFunction : one.kind;
    return std::tuple(kind, one.function, one.key);
  };
  std::vector<Variable> all;
  for (uint32_t place = 0; place < rows.places.size(); ++place) {
    Variable& variable = all.emplace_back();
    variable.name = name(place);
    variable.outermost = place != 0;
    for (uint32_t above = rows.places[place].parent; above != 0;
         above = rows.places[above].parent) {
      variable.outermost = variable.outermost && name(above) != variable.name;
    }
  }
  return all;
}

}  // namespace

TEST_CASE("a function with several places has its products with itself") {
  size_t products = 0;
  for (uint64_t seed = 1; seed <= 20; seed += test::kEvery) {
    INFO("seed " << seed);
    const Recording made(seed);
    const Rows rows = rows_of(made.directory.path(), made.sites, made.options);
    const auto variables = variables_of(rows);
    std::map<Key, UInt128> found, expected;
    for (const analyzer::ProductRow& row : rows.products) {
      if (row.a == row.b) {
        found[{row.batch, rows.path(row.a)}] += row.xy;
      }
    }
    const auto times = times_with_bodies(rows);
    for (size_t i = 0; i < rows.intervals.size(); ++i) {
      const uint64_t batch = rows.intervals[i].number >> rows.recordings.front().batch_shift;
      std::map<std::tuple<NodeKind, std::string, std::string>, uint64_t> sums;
      for (const auto& [place, ns] : times[i]) {
        sums[variables[place].name] += variables[place].outermost ? ns : 0;
      }
      for (const auto& [place, ns] : times[i]) {
        const uint64_t others = sums[variables[place].name] - ns;
        if (variables[place].outermost && others != 0) {
          expected[{batch, rows.path(place)}] += static_cast<UInt128>(ns) * others;
        }
      }
    }
    CHECK(found == expected);
    products += found.size();
  }
  CHECK(products > 100);
}

TEST_CASE("rows of all kinds of intervals are in one tree") {
  const test::ScratchDir directory;
  const std::string sites = test::Simulator(3).write(directory.path());
  const Rows rows = rows_of(directory.path(), sites, {});
  std::map<std::string, uint64_t> intervals;
  for (const analyzer::TableInterval& interval : rows.intervals) {
    ++intervals[interval.name];
  }
  CHECK(intervals.size() == rows.recordings.size());
  for (const analyzer::RecordingRow& recording : rows.recordings) {
    CHECK(recording.intervals == intervals[recording.name]);
    CHECK(recording.begin_ns <= recording.end_ns);
    CHECK(recording.run_ns <= recording.begin_ns);
  }
  for (const analyzer::TablePlace& place : rows.places) {
    CHECK((place.number == 0 || place.parent < place.number));
  }
  check_times(rows);
}

TEST_CASE("a recording without intervals has no rows") {
  const test::ScratchDir directory;
  const std::string sites = test::Simulator(1).write(directory.path());
  analyzer::Options options;
  options.epoch = {.from = 0, .to = 1};
  const auto rows = analyzer::table_rows(directory.path(), sites, options, analyzer::TableSink{});
  REQUIRE_FALSE(rows);
  CHECK(rows.error().kind == ErrorKind::kNoInterval);
}
