// Random event loops in simulated time, and the truth of each nanosecond of their requests.
//
// A request is worked on in pieces, each by a handler that a loop calls. Between two pieces it
// waits for a timer or for a descriptor, which a helper thread makes ready, and may move to another
// loop. Loops also call handlers that belong to no request. As in the random programs of
// simulator.h, the truth is kept in the plainest form and shares no algorithm with the analyzer.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "trace_writer.h"

namespace vprof::test {

class LoopSimulator {
 public:
  explicit LoopSimulator(uint64_t seed);

  /// Writes the trace and sites.json. Returns the path of sites.json.
  std::string write(const std::string& directory) const;

  /// ns by path, summed over all requests, in the analyzer's names.
  std::map<std::string, int64_t> truth() const;

  size_t requests() const { return requests_.size(); }

 private:
  enum class Event : uint8_t { kTimer, kDescriptor };
  /// Makes a loop call a handler; request 0 is none.
  struct Due {
    int64_t time;
    Event event;
    uint64_t request;
    size_t helper;    // that makes the descriptor ready; kNobody: somebody outside
    int64_t working;  // since when the helper works for it
  };
  struct Scope {
    uint32_t function;
    int64_t start, end;
  };
  struct Blocked {
    int64_t start, end;
    bool of_loop;
    bool timed_out = false;
    Due first{};             // what it returned first
    bool one_event = false;  // and nothing else, and no timer was set
  };
  /// Since `from` the thread works for the request.
  struct Mark {
    int64_t from;
    uint64_t request;
    int64_t polled;
  };
  struct Thread {
    int64_t now = 0;
    bool blocked = false;
    int64_t blocked_since = 0;
    int64_t polled = 0;
    std::vector<Due> due;  // in order of time
    std::vector<Scope> scopes;
    std::vector<Blocked> waits;
    std::vector<Mark> marks;  // request 0: it left the last one
    ThreadWriter writer;
  };
  struct Piece {
    size_t thread;
    uint32_t handler;
    int64_t from;
    size_t mark;
  };
  struct Request {
    int64_t begin = 0, end = 0;
    size_t left = 0;  // pieces to come
    std::vector<Piece> pieces;
  };
  static constexpr size_t kNobody = SIZE_MAX;

  uint64_t pick(uint64_t n) { return random_() % n; }
  int64_t some(uint64_t n) { return static_cast<int64_t>(pick(n)); }
  uint32_t define(const std::string& name, int height);
  void schedule(size_t loop, const Due& due);
  void run();
  void poll(size_t loop);
  void turn(size_t loop, std::vector<Due> events);
  void handle(size_t loop, const Due& due);
  void work(size_t loop, uint64_t request);
  void park(size_t loop, uint64_t request);
  void scope(Thread& thread, uint32_t function, int64_t start);
  std::string doing(size_t thread, int64_t t, std::string path) const;
  const Blocked* poll_of(const Piece& next, int64_t left) const;
  std::string parked(const Request& request, size_t next, int64_t left, int64_t t) const;
  void explain(const Request& request, std::map<std::string, int64_t>& times) const;
  int64_t left_at(const Request& request, size_t piece) const;
  bool first_thing(size_t thread, int64_t from, int64_t to) const;

  std::mt19937_64 random_;
  SitesWriter sites_;
  std::vector<std::string> names_ = {""};  // by function
  std::vector<uint32_t> entry_ = {0};
  uint32_t loop_ = 0, turn_ = 0, poll_ = 0;  // the loop's functions; 0: not measured
  std::vector<uint32_t> handlers_, callees_;
  std::vector<Thread> threads_;  // loops, then helpers
  size_t loops_ = 0;
  uint64_t flags_ = 0;  // of the marks
  std::vector<Request> requests_;
};

}  // namespace vprof::test
