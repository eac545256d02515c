// Writes traces slot by slot, as the runtime would, and their sites.json. One tick is one
// nanosecond.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "vprof/runtime/trace_format.h"

namespace vprof::test {

/// A temporary directory, removed with the object.
class ScratchDir {
 public:
  ScratchDir();
  ~ScratchDir();
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;
  std::string path(const std::string& name = "") const;

 private:
  std::filesystem::path path_;
};

struct Object {
  uint64_t address = 0;
  bool shared = false;
  uint32_t sync = 0;
  uint64_t aux = 0;    ///< further bits
  uint64_t limit = 0;  ///< of a poll, as the trace has it
};

class ThreadWriter {
 public:
  std::string name;
  /// Processor time and ticks when each chunk was taken; without an entry, 0: unknown.
  std::vector<std::pair<uint64_t, uint64_t>> opened;
  /// Of each chunk.
  uint32_t own_calls = 0, timed_calls = 0;

  void slot(uint64_t word0, uint32_t id, uint64_t payload);
  void cont(uint64_t word0, uint64_t payload = 0) { slot(word0, VPROF_EV_CONT, payload); }
  void torn() { groups_.push_back({{0, 0}}); }

  void frame(uint32_t site, int64_t start, int64_t end);
  /// `polled`: when the thread's epoll_wait returned last; 0: never. `begun`: the number of its
  /// marks since then.
  void begin(uint64_t id, int64_t time, uint32_t kind = 0, uint64_t flags = 0, int64_t polled = 0,
             uint64_t begun = 0);
  void end(uint64_t id, int64_t time, uint32_t kind = 0, uint64_t flags = 0);
  void work_for(uint64_t id, int64_t time, uint32_t kind = 0, uint64_t flags = 0,
                int64_t polled = 0, uint64_t begun = 0);
  /// A coroutine begins or goes on. `suspension`: where it was suspended.
  void resume(uint64_t id, int64_t time, uint32_t suspension, int64_t polled = 0);
  void suspend(int64_t time);
  void label(uint64_t id, int64_t time, const std::string& text);
  void trace_context(uint64_t id, int64_t time, const std::string& text);
  void work(uint64_t id, int64_t time, uint64_t units);
  void enqueue(uint64_t task, int64_t time, uint32_t sync = 0);
  void dequeue(uint64_t task, int64_t time, uint32_t sync = 0);
  void wait(uint32_t event, Object object, int64_t start, int64_t end, uint64_t sequence = 0);
  /// An epoll_wait that returned a descriptor, or, with no descriptor, after its time limit.
  void epoll_wait(int64_t start, int64_t end, Object object = {}, int descriptor = -1);
  void condition_wait(Object condition, Object mutex, int64_t start, int64_t end,
                      uint64_t sequence = 0);
  void acquire(uint32_t event, Object object, int64_t time, uint64_t payload = 0);
  /// For the helper thread: another thread had no processor.
  void preempted(uint32_t serial, int64_t start, int64_t end);
  /// The thread did work of the runtime's own.
  void set_up(int64_t start, int64_t end);
  void release(uint32_t event, Object object, int64_t time, uint64_t sequence = 0,
               uint64_t payload = 0);

  const std::vector<std::vector<vprof_slot>>& groups() const { return groups_; }

 private:
  void text(uint32_t event, uint64_t id, int64_t time, const std::string& text);

  std::vector<std::vector<vprof_slot>> groups_;  // a head with its continuations
};

class ProcessWriter {
 public:
  explicit ProcessWriter(uint32_t pid = 100, uint64_t family = 1);

  vprof_file_header header{};
  std::map<uint32_t, ThreadWriter> threads;  ///< by serial
  uint32_t slots_per_chunk = 251;            ///< 251 fill a page

  ThreadWriter& thread(uint32_t serial) { return threads[serial]; }
  std::vector<unsigned char> bytes() const;
  void write(const std::string& directory) const;
};

void write_bytes(const std::string& path, const std::vector<unsigned char>& bytes);
std::vector<unsigned char> read_bytes(const std::string& path);

/// Writes sites.json. Functions and sites are numbered from 1, in the order they are added.
class SitesWriter {
 public:
  int root_height = 9;
  std::vector<std::string> intervals = {"request"};

  uint32_t function(const std::string& name, int height = 0, bool expandable = false,
                    bool expanded = false);
  /// Without a definition in the program.
  uint32_t library(const std::string& name, int height = 0);
  /// Calls what it is given.
  uint32_t wrapper(const std::string& name, int height = 0);
  uint32_t function_site(uint32_t function);
  uint32_t call_site(uint32_t caller, uint32_t callee);
  /// Where a coroutine can be suspended. Returns its index.
  uint32_t suspension(const std::string& awaited, uint32_t coroutine,
                      const std::vector<uint32_t>& awaits = {});
  void sync(const std::string& role, const std::string& name, bool shared = false);

  std::string write(const std::string& directory) const;

 private:
  nlohmann::json functions_ = nlohmann::json::array();
  nlohmann::json sites_ = nlohmann::json::array();
  nlohmann::json sync_ = nlohmann::json::array();
  nlohmann::json suspensions_ = nlohmann::json::array();
};

}  // namespace vprof::test
