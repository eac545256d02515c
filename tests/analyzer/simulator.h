// Random programs with known critical paths: threads, locks, queues and nested calls in simulated
// time.
//
// The simulator keeps the truth in the plainest form and reads it off one nanosecond at a time. It
// shares no algorithm with the analyzer.
//
// Locks behave as those of glibc do, and are recorded by the rules of the runtime:
//
//   - A release makes the lock free and wakes sleepers, which run later and try again. Until then
//     anybody else may get the lock.
//   - Only what happens while somebody is counted as waiting is recorded.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "trace_writer.h"

namespace vprof::test {

class Simulator {
 public:
  explicit Simulator(uint64_t seed);

  /// Runs the program and writes its trace and sites.json. Returns the path of sites.json.
  std::string write(const std::string& directory) const;

  /// ns by path for each completed interval of kind `request`, in order of their end.
  std::vector<std::map<std::string, int64_t>> truth() const;

  /// Waits by what was waited for, to show that the programs have enough of each.
  std::map<std::string, uint64_t> waits() const;

  /// Whether a thread signalled while a thread that another one's broadcast had woken was on its
  /// way. Which of the two gave it what it waited for is not recorded.
  bool has_crossed_broadcasts() const { return crossed_broadcasts_; }

  /// The same for kind `step`. Steps lie within requests, each on one thread.
  std::vector<std::map<std::string, int64_t>> truth_of_steps() const;

 private:
  static constexpr size_t kNobody = SIZE_MAX;
  static constexpr int64_t kNever = INT64_MAX;

  enum class Do : uint8_t {
    kWork,
    kEnter,
    kExit,
    kBegin,
    kWorkFor,
    kPush,
    kPop,
    kBeginStep,
    kEndStep,
    kLabel,
    kTick,  // posts a semaphore that others wait for, again and again
    // The value is an object.
    kLock,
    kUnlock,
    kPost,
    kTryAgain,  // woken
    // The value is a resource.
    kCheck,  // the predicate of a condition; waits if it is false
    kGive,
    kSignal  // although nothing has changed
  };
  enum class How : uint8_t { kWrite, kRead };
  struct Op {
    Do what;
    uint64_t value;
    How how = How::kWrite;
    uint64_t label = 0;  // an attempt: if it fails, all up to this label is skipped
  };
  struct Scope {
    uint32_t site;
    int64_t start, end;
  };
  /// Who is to blame for a nanosecond of a wait, and when that thread released the waiter. kNobody:
  /// the wait's body.
  struct Cause {
    size_t thread = kNobody;
    int64_t until = kNever;
  };
  /// A wait. `causes` has one for each nanosecond; of a condition wait, from its signal on.
  struct Blocked {
    int64_t start, end;
    uint32_t event;
    size_t object;
    std::vector<Cause> causes;
    // Of a condition.
    size_t signaller = kNobody;
    int64_t signalled = 0;
    std::vector<size_t> turns;  // all waits of its loop
  };
  struct Thread {
    int64_t now = 0;
    std::vector<Op> ops;  // remaining, the next one last
    bool blocked = false;
    bool idle = false;  // in the queue, for a task
    uint64_t works_for = 0;
    size_t step = 0;                 // index of the one that it began last
    std::vector<Scope> scopes;       // by start, outer before inner
    std::vector<size_t> open_index;  // into scopes
    std::vector<Blocked> waits;
    std::vector<std::pair<int64_t, int64_t>> preempted;
    ThreadWriter writer;
    // The wait that it is in.
    struct {
      size_t object = kNobody;  // what it tries for; of a condition wait, the mutex
      How how = How::kWrite;
      int64_t since = 0;
      uint32_t event = 0;
      size_t condition = kNobody;
      bool again = false;
      size_t signaller = kNobody;
      int64_t signalled = 0;
    } waiting;
    std::vector<size_t> turns;  // waits of the loop that it is in
    // The runtime's: vprof_self.
    size_t returned_with = kNobody;
    size_t returned_from = kNobody;
  };
  enum class Kind : uint8_t { kPlainMutex, kOtherMutex, kSpin, kRwlock, kSem, kCondition };
  enum class Mark : uint8_t { kNone, kWaitedFor, kGotAhead, kReturned };
  struct Hold {
    size_t thread;
    How how;
    int64_t from, to;
  };
  /// A semaphore's count: +1 by a post.
  struct Change {
    int64_t time;
    size_t thread;
    int by;
  };
  struct Lock {
    Kind kind;
    uint64_t address;
    int64_t last = -1;  // the last operation
    std::vector<size_t> asleep;
    std::vector<size_t> woken;  // have yet to try again
    // What the runtime keeps.
    uint64_t count = 0, returning = 0, sequence = 0;
    Mark mark = Mark::kNone;  // of a plain mutex
    // Its state.
    enum class Word : uint8_t { kFree, kLocked, kContended } word = Word::kFree;  // of a mutex
    std::vector<size_t> readers;  // of a rwlock, once for each time it was taken
    bool written = false;
    uint64_t value = 0;  // of a semaphore
    uint64_t initially = 0;
    // The truth.
    std::vector<Hold> holds;
    std::vector<Change> changes;
  };
  /// Something that is given out under a mutex; whoever finds it taken waits for the condition.
  struct Resource {
    size_t mutex, condition;
    size_t guard;  // held by the one who waits; kNobody: many may wait, and all are woken
    bool free = true;
  };
  /// What calls() may take, in the order in which it is taken.
  struct Lockable {
    enum class Type : uint8_t { kLock, kRwlock, kSem, kResource, kSignal } type;
    size_t index;  // of the lock or resource
  };
  struct Task {
    uint64_t interval;
    size_t stage;
  };
  struct Queue {
    std::vector<std::pair<uint64_t, int64_t>> tasks;  // task, since
    std::vector<size_t> idle;                         // threads that wait for one
  };
  struct Stage {
    size_t thread = 0;
    int64_t from = 0;       // when the task was dequeued, or the interval begun
    int64_t enqueued = 0;   // when the task was pushed
    int64_t left = kNever;  // when the thread switched to other work
  };
  struct Interval {
    std::vector<Stage> stages;
    int64_t begin = 0, end = 0;
    size_t total_stages = 1;
  };

  struct Step {
    size_t thread = 0;
    int64_t begin = 0, end = 0;
  };

  // The program: simulator.cpp.
  uint64_t pick(uint64_t n) { return random_() % n; }
  void define_sites();
  void plan();
  void plan_locks();
  void calls(std::vector<Op>& ops, uint32_t caller, int depth, size_t lock);
  void take_and_give(std::vector<Op>& ops, uint32_t caller, int depth, size_t lock);
  void stage_ops(std::vector<Op>& ops, uint64_t interval);
  void run();
  void step(size_t thread);
  void work(Thread& thread, int64_t time);
  void enter(Thread& thread, uint32_t site);
  void leave(Thread& thread);
  void push(size_t thread, uint64_t task);
  void work_for(size_t thread, uint64_t interval);
  void take(size_t thread, uint64_t task);
  void tick(size_t thread, const Op& op);

  // Its locks: simulated_locks.cpp.
  size_t new_lock(Kind kind, uint64_t value = 0);
  static void skip(Thread& thread, uint64_t label);
  bool must_come_later(size_t thread, const Op& op);
  bool get(size_t thread, size_t lock, How how);
  void got_at_once(size_t thread, size_t lock, How how);
  void lock(size_t thread, const Op& op);
  void try_again(size_t thread, size_t lock);
  void end_wait(size_t thread);
  void record_release(size_t thread, Lock& lock, uint32_t event, uint64_t payload);
  void wake(size_t lock, size_t at, int64_t now);
  void free_mutex(size_t thread, size_t lock);
  void unlock(size_t thread, size_t lock);
  void post(size_t thread, size_t lock);
  void check(size_t thread, const Op& op);
  void wait_for_condition(size_t thread, const Resource& resource);
  void signal(size_t thread, const Resource& resource);
  void note_crossing(size_t thread, const Resource& resource);

  // The truth: simulated_truth.cpp.
  void explain_waits();
  void explain(size_t thread, Blocked& wait) const;
  static void blame_holder(const Lock& lock, Blocked& wait, int64_t from);
  static void blame_writers_and_readers(const Lock& lock, Blocked& wait);
  static void blame_posts(const Lock& lock, Blocked& wait);
  Cause cause_of(const Thread& thread, const Blocked& wait, int64_t t, int64_t until) const;
  std::vector<std::string> where(size_t thread, int64_t t, int64_t until,
                                 std::vector<std::string> path) const;
  static void descend(std::vector<std::string>& path, const std::string& function,
                      const std::string& node);
  void write_preemptions(ThreadWriter& helper) const;

  std::mt19937_64 random_;
  SitesWriter sites_;
  size_t functions_ = 0;
  /// Every third function is one of a library.
  static bool is_library(const std::string& function) {
    return std::stoi(function.substr(1)) % 3 == 0;
  }
  struct SiteTruth {
    uint32_t function = 0, caller = 0;  // caller 0: not a call site
  };
  std::vector<SiteTruth> site_truth_ = {{}};
  std::vector<uint32_t> entry_;
  std::vector<Thread> threads_;
  std::vector<Lock> locks_;
  std::vector<Resource> resources_;
  std::vector<Lockable> lockables_;
  uint64_t labels_ = 0;
  bool apart_ = false;  // operations on one object are at least 1 ns apart
  bool crossed_broadcasts_ = false;
  Queue queue_;
  std::vector<Task> tasks_;
  std::vector<Interval> intervals_;
  std::vector<uint64_t> done_;  // in order of end
  std::vector<Step> steps_;
};

}  // namespace vprof::test
