// Kinds of time: what intervals wait for, added up over all places.
#include <random>

#include "path_case.h"
#include "simulated_sums.h"
#include "vprof/analyzer/diff.h"

using namespace vprof;
using analyzer::KindOfTime;
using analyzer::NodeKind;
using analyzer::TimeKind;
using test::Case;
using test::SimulatedSums;

namespace {

/// Mean times in ns.
std::map<TimeKind, int64_t> times_of(const analyzer::Profile& profile) {
  std::map<TimeKind, int64_t> times;
  for (const KindOfTime& kind : profile.kinds) {
    times[kind.kind] = std::llround(kind.mean_ns);
  }
  return times;
}

using Times = std::map<TimeKind, int64_t>;

/// The kind of an interval that is nothing but a wait of this name.
TimeKind kind_of(const std::string& name, NodeKind node = NodeKind::kWait) {
  SimulatedSums simulated(1);
  const uint32_t place = simulated.place(0, name, node);
  simulated.add({{place, 10}});
  const analyzer::Profile profile = simulated.profile();
  REQUIRE(profile.kinds.size() == 1);
  CHECK(profile.kinds[0].mean_ns == 10);
  return profile.kinds[0].kind;
}

}  // namespace

TEST_CASE("kinds of time: the kind of a wait follows from its name") {
  for (const char* name : {"wait(pthread_mutex_lock)", "wait(pthread_cond_wait)", "wait(futex)",
                           "polled(pthread_cond_wait)", "wait(waitpid)", "wait(file lock)",
                           "wait(lock_wait)", "wait(Pool::wait(int))", "co_await(event)"}) {
    INFO(name);
    CHECK(kind_of(name) == TimeKind::kSynchronization);
  }
  for (const char* name : {"wait(read)", "wait(write)", "wait(poll)", "wait(file I/O)",
                           "wait(pread)", "wait(fdatasync)", "wait(msync)", "wait(io_uring)"}) {
    INFO(name);
    CHECK(kind_of(name) == TimeKind::kIo);
  }
  CHECK(kind_of("wait(sleep)") == TimeKind::kSleep);
  CHECK(kind_of("polled(sleep)") == TimeKind::kSleep);
  CHECK(kind_of("polled(sched_yield)") == TimeKind::kSynchronization);
  CHECK(kind_of("queue(hand-off)", NodeKind::kQueue) == TimeKind::kQueue);
  CHECK(kind_of("parked(f)", NodeKind::kParked) == TimeKind::kQueue);
  CHECK(kind_of("preempted", NodeKind::kPreempted) == TimeKind::kPreempted);
  CHECK(kind_of("untracked", NodeKind::kUntracked) == TimeKind::kUntracked);
  CHECK(kind_of("f", NodeKind::kFunction) == TimeKind::kRunning);
}

TEST_CASE("kinds of time: a wait is a wait, whoever is to blame for it") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.wait(VPROF_EV_WAIT_MUTEX, {0x10}, 20, 70, 1);
  t.frame(c.f_entry, 10, 90);
  t.end(1, 100);
  auto& holder = c.thread(2);
  holder.wait(VPROF_EV_WAIT_STREAM, {0x20}, 25, 45);
  holder.frame(c.g_entry, 5, 60);
  holder.release(VPROF_EV_RELEASE_MUTEX, {0x10}, 62, 2);
  const analyzer::Profile profile = c.profile();
  CHECK(times_of(profile) == Times{{TimeKind::kRunning, 50}, {TimeKind::kSynchronization, 50}});
  CHECK(test::leaves(profile).contains("request/f/wait(pthread_mutex_lock)/g/wait(read)"));
}

TEST_CASE("kinds of time: what is parked is an event, and then the turn of others") {
  Case c;
  auto& t = c.thread(1);
  t.begin(1, 0);
  t.frame(c.f_entry, 0, 10);
  t.epoll_wait(10, 40);
  t.work_for(2, 41);
  t.frame(c.h_entry, 41, 80);
  t.work_for(1, 81);
  t.frame(c.g_entry, 81, 90);
  t.end(1, 90);
  CHECK(times_of(c.profile()) ==
        Times{{TimeKind::kRunning, 10 + 9}, {TimeKind::kSleep, 30}, {TimeKind::kQueue, 39 + 2}});

  Case ready;
  auto& loop = ready.thread(1);
  loop.begin(1, 0);
  loop.frame(ready.f_entry, 0, 10);
  loop.epoll_wait(10, 62, {0x10}, 5);
  loop.work_for(1, 64);
  loop.frame(ready.g_entry, 64, 70);
  loop.end(1, 70);
  auto& helper = ready.thread(2);
  helper.frame(ready.h_entry, 5, 58);
  helper.release(VPROF_EV_RELEASE_STREAM, {0x10}, 60);
  CHECK(times_of(ready.profile()) ==
        Times{{TimeKind::kRunning, 10 + 6}, {TimeKind::kIo, 48 + 2 + 2}, {TimeKind::kQueue, 2}});
}

TEST_CASE("kinds of time: what a suspended coroutine waits for") {
  SimulatedSums simulated(1);
  const uint32_t f = simulated.place(0, "f");
  const uint32_t await = simulated.place(f, "co_await(event)", NodeKind::kWait);
  const uint32_t timer = simulated.place(await, "timer", NodeKind::kUntracked);
  const uint32_t ready = simulated.place(await, "readiness", NodeKind::kUntracked);
  const uint32_t thread = simulated.place(await, "untracked(thread)", NodeKind::kUntracked);
  const uint32_t other = simulated.place(await, "h");
  const uint32_t wake_up = simulated.place(await, "", NodeKind::kBody);
  simulated.add({{timer, 1}, {ready, 20}, {thread, 300}, {other, 4000}, {wake_up, 50000}});
  CHECK(times_of(simulated.profile()) ==
        Times{{TimeKind::kSleep, 1}, {TimeKind::kIo, 20}, {TimeKind::kSynchronization, 54300}});
}

// One queue, seen as three things, below each of which is the work of others: no factor is as large
// as all of it.
TEST_CASE("kinds of time: a wait that is spread over places comes first as a kind") {
  constexpr uint64_t kIntervals = 4000;
  SimulatedSums simulated(kIntervals);
  std::vector<uint32_t> places;
  const uint32_t queue = simulated.place(0, "queue(get)", NodeKind::kQueue);
  const uint32_t hand_off = simulated.place(0, "queue(hand-off)", NodeKind::kQueue);
  const uint32_t parked = simulated.place(0, "parked(f)", NodeKind::kParked);
  for (const uint32_t wait : {queue, hand_off, parked}) {
    places.push_back(simulated.place(wait, "g"));
    places.push_back(simulated.place(wait, "h"));
  }
  const uint32_t lock = simulated.place(0, "wait(pthread_mutex_lock)", NodeKind::kWait);
  const uint32_t own = simulated.place(0, "work");
  std::mt19937_64 random(1);
  const auto up_to = [&](uint64_t most) { return random() % most; };
  long double sum = 0;
  long double squares = 0;
  long double queue_sum = 0;
  long double products = 0;
  for (uint64_t i = 0; i < kIntervals; ++i) {
    std::vector<std::pair<uint32_t, uint64_t>> leaves = {{lock, up_to(14000)}, {own, up_to(4000)}};
    long double latency = static_cast<long double>(leaves[0].second + leaves[1].second);
    long double in_queue = 0;
    for (const uint32_t place : places) {
      leaves.emplace_back(place, up_to(8000));
      in_queue += leaves.back().second;
    }
    latency += in_queue;
    sum += latency;
    squares += latency * latency;
    queue_sum += in_queue;
    products += latency * in_queue;
    simulated.add(leaves);
  }
  const analyzer::Profile profile = simulated.profile();
  CHECK(profile.factors.at(0).functions == std::vector<std::string>{"wait(pthread_mutex_lock)"});
  REQUIRE(profile.kinds.size() == 3);
  const KindOfTime& first = profile.kinds[0];
  CHECK(first.kind == TimeKind::kQueue);
  CHECK(profile.kinds[1].kind == TimeKind::kSynchronization);
  CHECK(profile.kinds[2].kind == TimeKind::kRunning);
  const long double n = kIntervals;
  const auto share =
      static_cast<double>((products - sum * queue_sum / n) / (squares - sum * sum / n));
  CHECK(first.share == Approx(share).epsilon(1e-9));
  CHECK(first.mean_ns == Approx(static_cast<double>(queue_sum / n)));
  // Uniform and independent: the squares of the ranges decide.
  const double true_share = 6 * 64.0 / (6 * 64.0 + 14 * 14 + 4 * 4);
  CHECK(first.share_ci95[0] < true_share);
  CHECK(first.share_ci95[1] > true_share);
  CHECK(first.share_ci95[1] - first.share_ci95[0] < 0.1);
  CHECK(test::worst_violation(profile.kinds, profile.tree) < 1e-9);
}

namespace {

/// Requests that compute, wait for a lock and, if `queued`, in a queue.
analyzer::Profile requests(uint64_t seed, uint64_t locked, uint64_t queued) {
  std::mt19937_64 random(seed);
  SimulatedSums simulated(4000);
  const uint32_t f = simulated.place(0, "f");
  const uint32_t lock = simulated.place(f, "wait(pthread_mutex_lock)", NodeKind::kWait);
  const uint32_t body = simulated.place(f, "f", NodeKind::kBody);
  const uint32_t queue = simulated.place(0, "queue(hand-off)", NodeKind::kQueue);
  const auto up_to = [&](uint64_t most) {
    return std::uniform_int_distribution<uint64_t>(0, most)(random);
  };
  for (int i = 0; i < 4000; ++i) {
    simulated.add({{lock, up_to(locked)}, {body, 1000 + up_to(500)}, {queue, up_to(queued)}});
  }
  analyzer::Options all;
  all.least_listed = 0;
  return simulated.profile(all);
}

}  // namespace

TEST_CASE("kinds of time: what changed adds up to the change of the variance") {
  const analyzer::Profile a = requests(1, 3000, 2000);
  const analyzer::Profile b = requests(2, 3000, 0);
  for (const auto& [before, after] : {std::pair(&a, &b), std::pair(&b, &a), std::pair(&a, &a)}) {
    const analyzer::Diff diff = analyzer::diff(*before, *after);
    double change = 0;
    double mean_a = 0;
    double mean_b = 0;
    for (const analyzer::KindChange& kind : diff.kinds) {
      change += kind.change;
      mean_a += kind.mean_a_ns;
      mean_b += kind.mean_b_ns;
    }
    CHECK(change == Approx(diff.variance_b / diff.variance_a - 1).margin(1e-9));
    CHECK(mean_a == Approx(before->interval.mean_ns));
    CHECK(mean_b == Approx(after->interval.mean_ns));
  }
  // The queue is gone, and that is no chance; the rest is the same but for chance.
  const std::vector<analyzer::KindChange> gone = analyzer::diff(a, b).kinds;
  REQUIRE(gone.size() == 3);
  CHECK(gone[0].kind == TimeKind::kQueue);
  CHECK(gone[0].significant);
  CHECK(gone[0].mean_b_ns == 0);
  CHECK(gone[0].change == Approx(-a.kinds[1].share).margin(1e-9));
  CHECK(gone[0].ci95[1] < 0);
  for (const analyzer::KindChange& kind : {gone[1], gone[2]}) {
    CHECK(!kind.significant);
    CHECK(kind.ci95[0] < 0);
    CHECK(kind.ci95[1] > 0);
  }
  // From nothing, a kind is found as well.
  const std::vector<analyzer::KindChange> come = analyzer::diff(b, a).kinds;
  CHECK(come[0].kind == TimeKind::kQueue);
  CHECK(come[0].mean_a_ns == 0);
  CHECK(come[0].significant);
}
