// Random programs with known critical paths: threads, locks, queues and nested calls in simulated
// time.
//
// The simulator keeps the truth in the plainest form and reads it off one nanosecond at a time. It
// shares no algorithm with the analyzer.
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

  /// ns by path for each completed interval, in order of their end.
  std::vector<std::map<std::string, int64_t>> truth() const;

 private:
  enum class Do : uint8_t { kWork, kEnter, kExit, kLock, kUnlock, kBegin, kWorkFor, kPush, kPop };
  struct Op {
    Do what;
    uint64_t value;
  };
  struct Scope {
    uint32_t site;
    int64_t start, end;
  };
  struct Blocked {
    int64_t start, released, end;
    size_t waker;
  };
  struct Thread {
    int64_t now = 0;
    std::vector<Op> ops;  // remaining, the next one last
    bool blocked = false;
    uint64_t works_for = 0;
    std::vector<Scope> scopes;       // by start, outer before inner
    std::vector<size_t> open_index;  // into scopes
    std::vector<Blocked> waits;
    std::vector<std::pair<int64_t, int64_t>> preempted;
    ThreadWriter writer;
  };
  struct Mutex {
    bool held = false;
    uint64_t sequence = 0;
    std::vector<std::pair<size_t, int64_t>> waiting;  // thread, since
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
    int64_t from = 0;          // when the task was dequeued, or the interval begun
    int64_t enqueued = 0;      // when the task was pushed
    int64_t left = INT64_MAX;  // when the thread switched to other work
  };
  struct Interval {
    std::vector<Stage> stages;
    int64_t begin = 0, end = 0;
    size_t total_stages = 1;
  };

  uint64_t pick(uint64_t n) { return random_() % n; }
  void define_sites();
  void plan();
  void calls(std::vector<Op>& ops, uint32_t caller, int depth, size_t lock);
  void stage_ops(std::vector<Op>& ops, uint64_t interval);
  void run();
  void step(size_t thread);
  void work(Thread& thread, int64_t time);
  void write_preemptions(ThreadWriter& helper) const;
  void enter(Thread& thread, uint32_t site);
  void leave(Thread& thread);
  void unlock(size_t thread, size_t mutex);
  void push(size_t thread, uint64_t task);
  void work_for(size_t thread, uint64_t interval);
  void take(size_t thread, uint64_t task);
  std::vector<std::string> where(size_t thread, int64_t t, std::vector<std::string> path) const;
  static void descend(std::vector<std::string>& path, const std::string& function,
                      const std::string& node);

  std::mt19937_64 random_;
  SitesWriter sites_;
  size_t functions_ = 0;
  struct SiteTruth {
    uint32_t function = 0, caller = 0;  // caller 0: not a call site
  };
  std::vector<SiteTruth> site_truth_ = {{}};
  std::vector<uint32_t> entry_;
  std::vector<Thread> threads_;
  std::vector<Mutex> mutexes_;
  Queue queue_;
  std::vector<Task> tasks_;
  std::vector<Interval> intervals_;
  std::vector<uint64_t> done_;  // in order of end
};

}  // namespace vprof::test
