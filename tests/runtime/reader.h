// A reader of traces for the tests of the runtime, as plain as possible: it keeps everything in
// memory and tolerates nothing silently.
#pragma once

#include <vprof/runtime/trace_format.h>

#include <cstdint>
#include <string>
#include <vector>

namespace vprof::test {

struct Continuation {
  uint64_t word = 0;
  uint64_t payload = 0;
};

// A frame (id < VPROF_EV_FIRST) or an event with its continuations.
struct Record {
  uint32_t id = 0;
  uint64_t word = 0;
  uint64_t payload = 0;
  std::vector<Continuation> more;
};

struct Thread {
  uint32_t serial = 0;
  uint32_t tid = 0;
  std::string name;
  std::vector<Record> records;
  uint64_t holes = 0;                       // zero slots before non-zero ones
  uint64_t orphans = 0;                     // continuations without a head
  uint64_t own_calls = 0, timed_calls = 0;  // of all its chunks

  // In the order in which they ended, without the events between them.
  std::vector<Record> frames() const;
};

struct Trace {
  std::string path;
  uint64_t file_bytes = 0;
  vprof_file_header header{};
  std::vector<Thread> threads;  // by serial
  Thread helper;                // it writes the clock, if the process lives long enough
  uint64_t spare_chunks = 0;    // never owned by a thread
  uint64_t copied_chunks = 0;   // found twice
  std::string error;            // empty: the file is as the format says

  std::vector<Record> all(uint32_t id) const;
  uint64_t frames() const;
  uint64_t frames(uint32_t site) const;
};

// Of processes that fork from one another: the trace of the first, which need not be the first to
// record.
const Trace& root_of(const std::vector<Trace>& traces);

Trace read_trace(const std::string& path);
// All traces of a directory, in the order in which they start.
std::vector<Trace> read_traces(const std::string& directory);

// ThreadSanitizer has a thread of its own, turns vfork into fork, and delivers signals late.
#ifdef __SANITIZE_THREAD__
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

// The text of an EV_LABEL or EV_TRACE_CONTEXT.
std::string label_text(const Record& record);

// Empty if any two frames of the thread are disjoint, or one contains the other and is written
// after it.
std::string nesting_error(const Thread& thread);

}  // namespace vprof::test
