// A part of a recording: the intervals that begin in it, and nothing else.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <optional>
#include <random>

#include "helpers.h"
#include "simulator.h"
#include "vprof/analyzer/details.h"
#include "vprof/analyzer/epoch_sums.h"
#include "vprof/analyzer/interval_times.h"
#include "vprof/analyzer/recording_copy.h"

using namespace vprof;

namespace {

/// Own time counts for its function or wait: a tree has no node for the body of what is all body.
std::map<std::string, int64_t> without_bodies(const std::map<std::string, int64_t>& leaves) {
  std::map<std::string, int64_t> result;
  for (const auto& [path, ns] : leaves) {
    const size_t last = path.rfind('/');
    const std::string leaf = last == std::string::npos ? "" : path.substr(last + 1);
    const bool body = leaf.starts_with("body(") || leaf.starts_with("wake-up(");
    if (ns != 0) {
      result[body ? path.substr(0, last) : path] += ns;
    }
  }
  return result;
}

/// System calls by which this process has read something. Nothing: the kernel does not count them.
std::optional<int64_t> reads_so_far() {
  std::ifstream file("/proc/self/io");
  std::string name;
  for (int64_t value = 0; file >> name >> value;) {
    if (name == "syscr:") {
      return value;
    }
  }
  return std::nullopt;
}

struct Row {
  int64_t begin, end;
  std::map<std::string, int64_t> leaves;
};

/// Each request of a recording, from one pass over all of it.
std::vector<Row> rows_of(const std::string& directory, const std::string& sites) {
  std::map<uint32_t, analyzer::PlaceRow> places;
  std::map<uint32_t, std::string> paths;
  std::vector<Row> rows;
  const auto take_place = [&](const analyzer::PlaceRow& place) -> Result<void> {
    const auto parent = paths.find(place.parent);
    paths[place.number] =
        place.number == 0 ? place.function
                          : (parent == paths.end() ? "" : parent->second) + "/" + place.function;
    places[place.number] = place;
    return {};
  };
  const auto take_row = [&](const analyzer::IntervalRow& row) -> Result<void> {
    std::map<uint32_t, int64_t> own;
    for (const analyzer::PlaceTime& time : row.times) {
      own[time.place] += static_cast<int64_t>(time.ns);
      if (time.place != 0) {
        own[places[time.place].parent] -= static_cast<int64_t>(time.ns);
      }
    }
    Row& made = rows.emplace_back();
    made.begin = static_cast<int64_t>(row.id);
    made.end = made.begin + static_cast<int64_t>(row.latency_ns);
    for (const auto& [place, ns] : own) {
      if (ns != 0) {
        made.leaves[paths[place]] += ns;
      }
    }
    return {};
  };
  analyzer::Options options;
  options.interval = "request";
  REQUIRE(analyzer::interval_times(directory, sites, options, {take_place, take_row}));
  return rows;
}

/// Divides the recordings of random programs into epochs by the begin or the end of intervals.
/// Added up, what `analyse` finds in each must be what there is in all.
template <class Analyse>
void check_partition(uint64_t random_seed, int64_t Row::* belongs, const Analyse& analyse) {
  std::mt19937_64 random(random_seed);
  for (uint64_t seed = 1; seed <= 20; seed += test::kEvery) {
    INFO("seed " << seed);
    const test::ScratchDir directory;
    const std::string sites = test::Simulator(seed).write(directory.path());
    analyzer::Options options;
    options.interval = "request";
    const auto whole = analyzer::analyze(directory.path(), sites, options);
    REQUIRE(whole);
    const std::vector<Row> rows = rows_of(directory.path(), sites);
    const auto [first, last] = std::ranges::minmax_element(rows, {}, belongs);
    std::uniform_int_distribution<int64_t> instant((*first).*belongs, (*last).*belongs);
    std::vector<int64_t> ends(6);
    std::ranges::generate(ends, [&] { return instant(random); });
    ends.push_back((*first).*belongs);
    ends.push_back((*last).*belongs + 1);
    std::ranges::sort(ends);
    std::vector<analyzer::ProfileBytes> parts;
    for (size_t i = 0; i + 1 < ends.size(); ++i) {
      options.epoch = {.from = ends[i], .to = ends[i + 1]};
      if (auto part = analyse(directory.path(), sites, options)) {
        CHECK(part->interval.incomplete == 0);
        parts.push_back({.name = "part", .bytes = std::move(part->bytes)});
      }
    }
    options.epoch = {};
    const auto sum = analyzer::merge(parts, options);
    REQUIRE(sum);
    CHECK(sum->interval.count == whole->interval.count);
    CHECK(sum->interval.max_ns == whole->interval.max_ns);
    CHECK(sum->interval.variance_ns2 == Approx(whole->interval.variance_ns2).epsilon(1e-12));
    CHECK(test::leaves(*sum) == test::leaves(*whole));
  }
}

}  // namespace

TEST_CASE("epoch: the intervals that begin in it, as in an analysis of everything") {
  std::mt19937_64 random(1);
  for (uint64_t seed = 1; seed <= 60; seed += test::kEvery) {
    const test::ScratchDir directory;
    const std::string sites = test::Simulator(seed).write(directory.path());
    const std::vector<Row> rows = rows_of(directory.path(), sites);
    REQUIRE_FALSE(rows.empty());
    const auto [first, last] = std::ranges::minmax_element(rows, {}, &Row::begin);
    for (int round = 0; round < 5; ++round) {
      std::uniform_int_distribution<int64_t> instant(first->begin - 1, last->end + 1);
      analyzer::Options options;
      options.interval = "request";
      options.epoch.from = instant(random);
      options.epoch.to = instant(random);
      if (options.epoch.to < options.epoch.from) {
        std::swap(options.epoch.from, options.epoch.to);
      }
      options.epoch.until = std::max(options.epoch.to, instant(random));
      INFO("seed " << seed << ", from " << options.epoch.from << " to " << options.epoch.to
                   << " until " << options.epoch.until);
      std::map<std::string, int64_t> expected;
      uint64_t count = 0;
      uint64_t cut_off = 0;
      for (const Row& row : rows) {
        if (row.begin < options.epoch.from || row.begin >= options.epoch.to) {
          continue;
        }
        if (row.end > options.epoch.until) {
          ++cut_off;
        } else {
          ++count;
          for (const auto& [path, ns] : row.leaves) {
            expected[path] += ns;
          }
        }
      }
      const auto profile = analyzer::analyze(directory.path(), sites, options);
      if (count == 0) {
        REQUIRE_FALSE(profile);
        CHECK(profile.error().kind == ErrorKind::kNoInterval);
        continue;
      }
      REQUIRE(profile);
      CHECK(profile->interval.count == count);
      CHECK(profile->interval.incomplete == cut_off);
      CHECK(without_bodies(test::leaves(*profile)) == without_bodies(expected));
      CHECK(test::worst_violation(*profile) < 1e-9);
    }
  }
}

TEST_CASE("epoch: records, processor time and calls are those of the epoch") {
  const test::ScratchDir directory;
  test::SitesWriter sites;
  const uint32_t serve = sites.function("serve", 1, true, true);
  const uint32_t site = sites.function_site(serve);
  test::ProcessWriter process;
  constexpr int64_t kEach = 1000;
  constexpr int kIntervals = 1000;
  for (int i = 0; i < kIntervals; ++i) {
    const int64_t begin = 1'000'000 + i * kEach;
    process.thread(1).begin(static_cast<uint64_t>(i) + 1, begin);
    process.thread(1).frame(site, begin + 100, begin + 500);
    process.thread(1).end(static_cast<uint64_t>(i) + 1, begin + 800);
  }
  process.write(directory.path());
  const std::string file = sites.write(directory.path());
  analyzer::Options options;
  options.epoch = {.from = 1'000'000 + 200 * kEach - 50,
                   .to = 1'000'000 + 500 * kEach - 50,
                   .processor_ns = 123456};
  const auto profile = analyzer::analyze(directory.path(), file, options);
  REQUIRE(profile);
  CHECK(profile->interval.count == 300);
  CHECK(profile->overhead.processor_ns == 123456);
  const auto calls = analyzer::count_calls(directory.path(), options);
  REQUIRE(calls);
  CHECK(calls->at(site) == 300);
  options.epoch = {};
  CHECK(analyzer::count_calls(directory.path(), options)->at(site) == kIntervals);
}

TEST_CASE("epoch: what it took to start the recording of processes that started in it") {
  const test::ScratchDir directory;
  test::SitesWriter sites;
  const uint32_t site = sites.function_site(sites.function("serve", 1, true, true));
  const auto write = [&](uint32_t pid, int64_t start) {
    test::ProcessWriter process(pid);
    process.header.start_ticks = static_cast<uint64_t>(start);
    process.header.start_monotonic_ns = static_cast<uint64_t>(start);
    process.header.helper_ns = 10 * pid;
    process.header.set_up_ns = pid;
    process.thread(1).begin(pid, start + 10);
    process.thread(1).frame(site, start + 20, start + 30);
    process.thread(1).end(pid, start + 40);
    process.write(directory.path());
  };
  write(1, 1'000'000);
  write(2, 2'000'000);
  write(3, 2'500'000);
  write(4, 3'000'000);
  const std::string file = sites.write(directory.path());
  analyzer::Options options;
  const auto helper_ns = [&] {
    const auto profile = analyzer::analyze(directory.path(), file, options);
    return profile ? profile->overhead.helper_ns : -1;
  };
  options.epoch = {.from = 2'000'000, .to = 3'000'000, .processor_ns = 1000};
  CHECK(helper_ns() == 11 * (2 + 3));
  options.epoch = {};
  CHECK(helper_ns() == 11 * (1 + 2 + 3 + 4));
}

TEST_CASE("epoch: one after the other, they hold every interval once") {
  const auto whole_epoch = [](const std::string& directory, const std::string& sites,
                              analyzer::Options options) {
    return analyzer::analyze(directory, sites, options);
  };
  check_partition(2, &Row::begin, whole_epoch);
}

TEST_CASE("epoch: what is still open when its sites are switched is incomplete") {
  const test::ScratchDir directory;
  test::ProcessWriter process;
  for (uint64_t i = 1; i <= 5; ++i) {
    const auto begin = static_cast<int64_t>(i * 1000);
    process.thread(1).begin(i, begin);
    process.thread(1).end(i, begin + 900);
  }
  process.thread(2).begin(6, 3000);  // never ends
  process.thread(2).begin(7, 1000);  // nor does this, but it began earlier
  process.write(directory.path());
  const std::string file = test::SitesWriter().write(directory.path());
  analyzer::Options options;
  options.epoch = {.from = 1500, .to = 4500, .until = 4800};
  const auto profile = analyzer::analyze(directory.path(), file, options);
  REQUIRE(profile);
  CHECK(profile->interval.count == 2);       // 2 and 3
  CHECK(profile->interval.incomplete == 2);  // 4 and 6
}

TEST_CASE("slices: together they are what an analysis of the epoch is") {
  std::mt19937_64 random(4);
  for (uint64_t seed = 1; seed <= 20; seed += test::kEvery) {
    INFO("seed " << seed);
    const test::ScratchDir directory;
    const std::string sites = test::Simulator(seed).write(directory.path());
    analyzer::Options options;
    options.interval = "request";
    const auto whole = analyzer::analyze(directory.path(), sites, options);
    REQUIRE(whole);
    const std::vector<Row> rows = rows_of(directory.path(), sites);
    const auto [first, last] = std::ranges::minmax_element(rows, {}, &Row::begin);
    std::uniform_int_distribution<int64_t> instant(first->begin, last->begin);
    // More of them than a profile has batches, many of them without an interval.
    std::vector<int64_t> ends(100);
    std::ranges::generate(ends, [&] { return instant(random); });
    ends.insert(ends.end(), {first->begin, last->begin + 1});
    std::ranges::sort(ends);
    auto sums = analyzer::EpochSums::begin(directory.path(), sites);
    REQUIRE(sums);
    CHECK(sums->profile(options).error().kind == ErrorKind::kNoInterval);
    uint64_t count = 0;
    for (size_t i = 0; i + 1 < ends.size(); ++i) {
      // What is seen of a slice before it is over is not added.
      options.epoch = {.from = ends[i], .to = ends[i] + (ends[i + 1] - ends[i]) / 2};
      REQUIRE(sums->look(options));
      options.epoch.to = ends[i + 1];
      const auto slice = sums->look(options);
      REQUIRE(slice);
      CHECK(slice->incomplete == 0);
      count += slice->count;
      sums->close();
    }
    const auto sum = sums->profile(options);
    REQUIRE(sum);
    CHECK(count == whole->interval.count);
    CHECK(sum->interval.count == whole->interval.count);
    CHECK(sum->interval.max_ns == whole->interval.max_ns);
    CHECK(sum->interval.variance_ns2 == Approx(whole->interval.variance_ns2).epsilon(1e-12));
    CHECK(test::leaves(*sum) == test::leaves(*whole));
    CHECK(test::worst_violation(sum->tree, sum->interval.variance_ns2) < 1e-9);
  }
}

TEST_CASE("slices: what is taken out of intervals adds up") {
  const test::ScratchDir directory;
  test::SitesWriter sites;
  const uint32_t site = sites.function_site(sites.function("serve", 1, true, true));
  test::ProcessWriter process(1);
  auto& thread = process.thread(1);
  for (int64_t i = 1; i <= 3; ++i) {
    thread.begin(i, 1000 * i);
    thread.set_up(1000 * i + 100, 1000 * i + 100 + 10 * i);
    thread.frame(site, 1000 * i + 200, 1000 * i + 300);
    thread.end(i, 1000 * i + 500);
  }
  process.write(directory.path());
  auto sums = analyzer::EpochSums::begin(directory.path(), sites.write(directory.path()));
  REQUIRE(sums);
  analyzer::Options options;
  for (const auto& [from, to] : {std::pair(0, 2000), {2000, 5000}}) {
    options.epoch = {.from = from, .to = to};
    REQUIRE(sums->look(options));
    sums->close();
  }
  const auto profile = sums->profile(options);
  REQUIRE(profile);
  CHECK(profile->losses.set_up_intervals == 3);
  CHECK(profile->losses.set_up_ns == 10 + 20 + 30);
  CHECK(std::ranges::count_if(profile->losses.notes, [](const std::string& note) {
          return note.starts_with("vprof's own set-up is taken out of 3 intervals");
        }) == 1);
  CHECK(std::ranges::count_if(profile->losses.notes, [](const std::string& note) {
          return note.find("set-up") != std::string::npos;
        }) == 1);
}

TEST_CASE("slices: what was recorded before counts neither as work nor as cost") {
  constexpr int kIntervals = 1000;
  constexpr int64_t kEach = 1000;
  const test::ScratchDir directory;
  test::SitesWriter sites;
  const uint32_t function = sites.function("f", 1);
  const uint32_t site = sites.function_site(function);
  test::ProcessWriter process;
  process.slots_per_chunk = 100'000;
  process.thread(1).opened = {{1, 1}};
  for (int i = 0; i < kIntervals; ++i) {
    const int64_t begin = 1'000'000 + i * kEach;
    process.thread(1).begin(static_cast<uint64_t>(i) + 1, begin);
    process.thread(1).frame(site, begin + 100, begin + 500);
    process.thread(1).label(static_cast<uint64_t>(i) + 1, begin + 600, "a label of some slots");
    process.thread(1).end(static_cast<uint64_t>(i) + 1, begin + 800);
  }
  process.write(directory.path());
  const std::string file = sites.write(directory.path());
  for (int first = 1; first < kIntervals; first += 7) {
    // Between the frame of an interval and its label, from which on there is something.
    const int64_t since = 1'000'000 + first * kEach + 550;
    analyzer::Options options;
    options.epoch = {.from = since, .to = since + 100 * kEach, .recorded_since = since};
    auto sums = analyzer::EpochSums::begin(directory.path(), file);
    REQUIRE(sums);
    const auto slice = sums->look(options);
    REQUIRE(slice);
    INFO("from interval " << first << " on");
    const int later = kIntervals - first - 1;
    CHECK(slice->count == static_cast<uint64_t>(std::min(100, later)));
    CHECK(slice->overhead.records == static_cast<uint64_t>(later) * 4 + 2);
  }
}

// Ten intervals in each slice, which are all alike.
TEST_CASE("slices: one is one batch if recording pauses between them") {
  constexpr int64_t kSlices = 8, kOfSlice = 10, kMs = 1'000'000;
  const test::ScratchDir directory;
  test::SitesWriter sites;
  const uint32_t site = sites.function_site(sites.function("f", 1));
  test::ProcessWriter process;
  process.slots_per_chunk = 100'000;
  process.thread(1).opened = {{1, 1}};
  for (int64_t i = 0; i < kSlices * kOfSlice; ++i) {
    const int64_t begin = (i + 1) * kMs;
    process.thread(1).begin(static_cast<uint64_t>(i) + 1, begin);
    const int64_t end = begin + kMs / 10 * (1 + i / kOfSlice * 3 % kSlices);
    process.thread(1).frame(site, begin, end);
    process.thread(1).end(static_cast<uint64_t>(i) + 1, end);
  }
  process.write(directory.path());
  const std::string file = sites.write(directory.path());
  const auto degrees = [&](bool pauses) {
    auto sums = analyzer::EpochSums::begin(directory.path(), file);
    REQUIRE(sums);
    analyzer::Options options;
    for (int64_t slice = 0; slice < kSlices; ++slice) {
      const int64_t from = (slice * kOfSlice + 1) * kMs;
      options.epoch = {
          .from = from, .to = from + kOfSlice * kMs, .recorded_since = pauses ? from : kMs};
      REQUIRE(sums->look(options));
      sums->close();
    }
    const auto profile = sums->profile(options);
    REQUIRE(profile);
    CHECK(profile->interval.count == kSlices * kOfSlice);
    const auto read = analyzer::merge({{.name = "one", .bytes = profile->bytes}}, options);
    REQUIRE(read);
    CHECK(read->interval.degrees == profile->interval.degrees);
    return profile->interval.degrees;
  };
  CHECK(degrees(true) == kSlices - 1);
  CHECK(degrees(false) != kSlices - 1);
}

TEST_CASE("slices: what nobody has written yet is not looked at slot by slot") {
  constexpr uint32_t kSlots = 1'000'000;
  const test::ScratchDir directory;
  test::SitesWriter sites;
  test::ProcessWriter process;
  process.slots_per_chunk = kSlots;
  process.thread(1).opened = {{1, 1}};
  for (int i = 0; i < 1000; ++i) {
    const int64_t begin = 1'000'000 + i * 1000;
    process.thread(1).begin(static_cast<uint64_t>(i) + 1, begin);
    process.thread(1).end(static_cast<uint64_t>(i) + 1, begin + 800);
  }
  process.write(directory.path());
  analyzer::Options options;
  options.epoch = {.from = 1'500'000, .to = 1'600'000, .recorded_since = 1'500'000};
  auto sums = analyzer::EpochSums::begin(directory.path(), sites.write(directory.path()));
  REQUIRE(sums);
  const auto before = reads_so_far();
  REQUIRE(sums->look(options));
  if (const auto after = reads_so_far(); before && after) {
    CHECK(*after - *before < 1000);
  }
}

TEST_CASE("epoch: what is learnt about a clock later does not move its intervals") {
  constexpr int64_t kUntil = 2'000'000'000;
  test::SitesWriter sites;
  const auto profile_with = [&](bool is_later) {
    const test::ScratchDir directory;
    test::ProcessWriter process;
    const auto snapshot = [&](uint64_t ticks, uint64_t ns) {
      process.thread(0).slot(ticks, VPROF_EV_CLOCK, 0);
      process.thread(0).cont(ns);
      process.thread(0).cont(ns);
    };
    snapshot(1'000'000'000, 1'000'000'000);
    for (uint64_t i = 1; i <= 10; ++i) {
      const auto begin = static_cast<int64_t>(1'900'000'000 + 1'000'000 * i);
      process.thread(1).begin(i, begin);
      process.thread(1).end(i, begin + 800'000);
    }
    if (is_later) {
      snapshot(2'500'000'000, 2'500'400'000);  // the rate was another one
    }
    process.write(directory.path());
    analyzer::Options options;
    options.epoch = {.from = 1'500'000'000, .to = 1'950'000'000, .until = kUntil};
    return analyzer::analyze(directory.path(), sites.write(directory.path()), options);
  };
  const auto then = profile_with(false);
  const auto later = profile_with(true);
  REQUIRE(then);
  REQUIRE(later);
  CHECK(later->interval.count == 10);
  CHECK(later->interval.mean_ns == 800'000);
  const auto ids = [](const analyzer::Profile& profile) {
    std::vector<uint64_t> all;
    const auto details = analyzer::details_of(profile.bytes);
    REQUIRE(details);
    for (const analyzer::IntervalDetail& one : details->worst) {
      all.push_back(one.id);
    }
    return all;
  };
  CHECK(ids(*later).size() == 10);
  CHECK(ids(*later) == ids(*then));
}

TEST_CASE("epochs: one after the other, they hold every record once") {
  std::mt19937_64 random(5);
  for (uint64_t seed = 1; seed <= 20; seed += test::kEvery) {
    INFO("seed " << seed);
    const test::ScratchDir directory;
    const std::string sites = test::Simulator(seed).write(directory.path());
    analyzer::Options options;
    options.interval = "request";
    const auto whole = analyzer::analyze(directory.path(), sites, options);
    REQUIRE(whole);
    const std::vector<Row> rows = rows_of(directory.path(), sites);
    std::uniform_int_distribution<int64_t> instant(std::ranges::min(rows, {}, &Row::begin).begin,
                                                   std::ranges::max(rows, {}, &Row::end).end);
    std::vector<int64_t> ends(8);
    std::ranges::generate(ends, [&] { return instant(random); });
    ends.insert(ends.end(), {INT64_MIN + 1, INT64_MAX});
    std::ranges::sort(ends);
    for (const bool by_end : {false, true}) {
      auto sums = analyzer::EpochSums::begin(directory.path(), sites);
      REQUIRE(sums);
      uint64_t records = 0;
      for (size_t i = 0; i + 1 < ends.size(); ++i) {
        options.epoch = {.from = ends[i], .to = ends[i + 1], .by_end = by_end};
        options.epoch.until = by_end ? INT64_MAX : ends[i + 1];
        const auto slice = sums->look(options);
        REQUIRE(slice);
        records += slice->overhead.records;
        sums->close();
      }
      INFO("by end " << by_end);
      CHECK(records == whole->overhead.records);
    }
  }
}

TEST_CASE("epoch by end: one after the other, they hold every interval once") {
  // From a copy of what was recorded since then. If an interval has begun earlier, all of it.
  const auto from_copies = [](const std::string& directory, const std::string& sites,
                              analyzer::Options options) {
    options.epoch.by_end = true;
    Result<analyzer::Profile> part = fail("nothing was analysed");
    for (const int64_t since : {options.epoch.from, INT64_MIN}) {
      const test::ScratchDir copy;
      REQUIRE(analyzer::copy_recording(directory, copy.path(), since));
      options.epoch.recorded_since = since;
      part = analyzer::analyze(copy.path(), sites, options);
      if (part && part->interval.incomplete == 0) {
        break;
      }
    }
    return part;
  };
  check_partition(3, &Row::end, from_copies);
}
