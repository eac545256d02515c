// Random coroutines on executors in simulated time, and the truth of each microsecond of their
// requests.
//
// An executor is a thread with a queue, and idle while that is empty. A request is a chain of
// coroutines, each awaiting the next. It goes on to another executor, waits for a timer, hands
// tasks to executors and goes on when the last one of them has ended, or is resumed from within a
// function. Executors also run what belongs to no request. As in the random programs of
// simulator.h, the truth is kept in the plainest form and shares no algorithm with the analyzer.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "trace_writer.h"

namespace vprof::test {

class CoroutineSimulator {
 public:
  explicit CoroutineSimulator(uint64_t seed);

  /// Writes the trace and sites.json. Returns the path of sites.json.
  std::string write(const std::string& directory) const;

  /// ns by path, summed over all requests, in the analyzer's names.
  std::map<std::string, int64_t> truth() const;

  size_t requests() const { return requests_.size(); }

 private:
  static constexpr size_t kNobody = SIZE_MAX;
  enum class Do : uint8_t { kResume, kResumeFromHandler, kTask, kOther };

  /// What an executor runs. Request 0 is none.
  struct Job {
    int64_t ready;
    size_t poster;  // kNobody: a timer
    Do what;
    uint64_t request;
  };
  struct Scope {
    uint32_t function;
    int64_t start, end;
  };
  struct Idle {
    int64_t start, end;
    size_t woken_by;  // kNobody: a timer
    int64_t woken_at;
  };
  /// The thread works for the request.
  struct Stretch {
    size_t thread;
    int64_t from, to;
    std::vector<uint32_t> chain;  // of coroutines, outermost first
    uint32_t suspension;          // where it was suspended before
  };
  struct Request {
    int64_t begin = -1, end = -1;
    std::vector<uint32_t> chain;
    std::vector<Stretch> stretches;
    uint32_t suspension = 0;  // where it is suspended
    uint64_t left = 0;        // steps to come
    uint64_t tasks = 0;       // that it waits for
  };
  /// A record, by the time at which the runtime would write it.
  struct Record {
    int64_t time;
    std::function<void(ThreadWriter&)> write;
  };
  struct Thread {
    int64_t now = 0;
    int64_t polled = 0;
    std::vector<Job> queue;  // in order of time
    std::vector<Scope> scopes;
    std::vector<Idle> idle;
    std::vector<Record> records;
  };
  struct Point {
    uint32_t coroutine;
    std::string awaited;
    bool begins_tasks;
  };

  uint64_t pick(uint64_t n) { return random_() % n; }
  int64_t some(uint64_t us) { return static_cast<int64_t>(1000 * pick(us + 1)); }
  uint32_t define(const std::string& name);
  uint32_t point(uint32_t coroutine, const std::string& awaited, bool begins_tasks = false);
  void post(size_t executor, const Job& job);
  void scope(Thread& thread, uint32_t function, int64_t start);
  void calls(Thread& thread);

  void run();
  void idle_until(size_t executor, const Job& job);
  void run_job(size_t executor, const Job& job);
  void end_task(size_t executor, uint64_t request);
  void go_on(size_t executor, uint64_t request);
  void stretch(size_t executor, uint64_t request);
  bool leave(size_t executor, uint64_t request);

  // The truth.
  std::string doing(size_t thread, int64_t t, std::string path, int64_t from, bool own) const;
  std::string suspended(const Stretch& before, const Stretch& after, int64_t t) const;
  std::string kept_by(size_t thread, int64_t left, int64_t until, int64_t t,
                      const std::string& path, const Stretch* resumed) const;
  const Idle* last_idle(size_t thread, int64_t left, int64_t until) const;
  bool was_for_it(const Idle& idle, const Stretch& resumed) const;
  void explain(const Request& request, std::map<std::string, int64_t>& times) const;

  std::mt19937_64 random_;
  SitesWriter sites_;
  std::vector<std::string> names_ = {""};  // by function
  std::vector<uint32_t> entry_ = {0};      // the site of each
  std::vector<uint32_t> coroutines_, callees_;
  uint32_t task_ = 0, handler_ = 0;
  std::vector<Point> points_;  // by number
  std::vector<Thread> threads_;
  std::vector<Request> requests_;
  uint64_t flags_ = 0;  // of begin and end
  uint64_t waits_ = 0;
};

}  // namespace vprof::test
