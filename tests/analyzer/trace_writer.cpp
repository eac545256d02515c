#include "trace_writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <tuple>

namespace vprof::test {

ScratchDir::ScratchDir() {
  static std::atomic<int> number{0};
  path_ = std::filesystem::temp_directory_path() /
          fmt::format("vprof-test-{}-{}", ::getpid(), number++);
  std::filesystem::create_directories(path_);
}

ScratchDir::~ScratchDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string ScratchDir::path(const std::string& name) const {
  return name.empty() ? path_.string() : (path_ / name).string();
}

void ThreadWriter::slot(uint64_t word0, uint32_t id, uint64_t payload) {
  const vprof_slot made{word0, payload << VPROF_ID_BITS | id};
  if (id == VPROF_EV_CONT && !groups_.empty()) {
    groups_.back().push_back(made);
  } else {
    groups_.push_back({made});
  }
}

void ThreadWriter::frame(uint32_t site, int64_t start, int64_t end) {
  slot(static_cast<uint64_t>(start), site, static_cast<uint64_t>(end - start));
}

void ThreadWriter::begin(uint64_t id, int64_t time, uint32_t kind, uint64_t flags, int64_t polled,
                         uint64_t begun) {
  slot(static_cast<uint64_t>(time), VPROF_EV_BEGIN, flags);
  cont(id, kind);
  if (polled != 0) {
    cont(static_cast<uint64_t>(polled), begun);
  }
}

void ThreadWriter::end(uint64_t id, int64_t time, uint32_t kind, uint64_t flags) {
  slot(static_cast<uint64_t>(time), VPROF_EV_END, flags);
  cont(id, kind);
}

void ThreadWriter::work_for(uint64_t id, int64_t time, uint32_t kind, uint64_t flags,
                            int64_t polled, uint64_t begun) {
  slot(static_cast<uint64_t>(time), VPROF_EV_SWITCH, flags);
  cont(id, kind);
  if (polled != 0) {
    cont(static_cast<uint64_t>(polled), begun);
  }
}

void ThreadWriter::resume(uint64_t id, int64_t time, uint32_t suspension, int64_t polled) {
  work_for(id, time, 0,
           VPROF_INTERVAL_COROUTINE | (uint64_t{suspension} + 1) << VPROF_SUSPENSION_SHIFT, polled);
}

void ThreadWriter::suspend(int64_t time) { work_for(0, time, 0, VPROF_INTERVAL_COROUTINE); }

void ThreadWriter::label(uint64_t id, int64_t time, const std::string& what) {
  text(VPROF_EV_LABEL, id, time, what);
}

void ThreadWriter::trace_context(uint64_t id, int64_t time, const std::string& what) {
  text(VPROF_EV_TRACE_CONTEXT, id, time, what);
}

void ThreadWriter::text(uint32_t event, uint64_t id, int64_t time, const std::string& text) {
  slot(static_cast<uint64_t>(time), event, text.size());
  cont(id);
  for (size_t at = 0; at < text.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, std::min<size_t>(8, text.size() - at));
    cont(word);
  }
}

void ThreadWriter::enqueue(uint64_t task, int64_t time, uint32_t sync) {
  slot(static_cast<uint64_t>(time), VPROF_EV_ENQUEUE, sync);
  cont(task);
}

void ThreadWriter::dequeue(uint64_t task, int64_t time, uint32_t sync) {
  slot(static_cast<uint64_t>(time), VPROF_EV_DEQUEUE, sync);
  cont(task);
}

void ThreadWriter::wait(uint32_t event, Object object, int64_t start, int64_t end,
                        uint64_t sequence) {
  slot(static_cast<uint64_t>(start), event, static_cast<uint64_t>(end - start));
  cont(object.address,
       object.aux | (object.shared ? VPROF_AUX_SHARED : 0) | object.sync << VPROF_AUX_SYNC_SHIFT);
  cont(sequence, object.limit);
}

void ThreadWriter::epoll_wait(int64_t start, int64_t end, Object object, int descriptor) {
  object.aux |= VPROF_AUX_POLL | VPROF_AUX_EPOLL;
  if (descriptor < 0) {
    object.aux |= VPROF_AUX_TIMED_OUT;
  } else {
    object.sync = static_cast<uint32_t>(descriptor + 1);
  }
  wait(descriptor < 0 ? VPROF_EV_WAIT_TIMER : VPROF_EV_WAIT_POLL, object, start, end);
}

void ThreadWriter::condition_wait(Object condition, Object mutex, int64_t start, int64_t end,
                                  uint64_t sequence) {
  wait(VPROF_EV_WAIT_COND, condition, start, end, sequence);
  cont(mutex.address, mutex.shared ? VPROF_AUX_SHARED : 0);
}

void ThreadWriter::acquire(uint32_t event, Object object, int64_t time, uint64_t payload) {
  slot(static_cast<uint64_t>(time), event, payload);
  cont(object.address, object.shared ? VPROF_AUX_SHARED : 0);
}

void ThreadWriter::work(uint64_t id, int64_t time, uint64_t units) {
  slot(static_cast<uint64_t>(time), VPROF_EV_WORK, 0);
  cont(id);
  cont(units);
}

void ThreadWriter::preempted(uint32_t serial, int64_t start, int64_t end) {
  slot(static_cast<uint64_t>(start), VPROF_EV_PREEMPTED, static_cast<uint64_t>(end - start));
  cont(serial);
}

void ThreadWriter::set_up(int64_t start, int64_t end) {
  slot(static_cast<uint64_t>(start), VPROF_EV_SETUP, static_cast<uint64_t>(end - start));
}

void ThreadWriter::release(uint32_t event, Object object, int64_t time, uint64_t sequence,
                           uint64_t payload) {
  slot(static_cast<uint64_t>(time), event, payload);
  cont(object.address,
       object.aux | (object.shared ? VPROF_AUX_SHARED : 0) | object.sync << VPROF_AUX_SYNC_SHIFT);
  cont(sequence);
}

ProcessWriter::ProcessWriter(uint32_t pid, uint64_t family) {
  header.magic = VPROF_TRACE_MAGIC;
  header.version = VPROF_TRACE_VERSION;
  header.endian = VPROF_TRACE_ENDIAN;
  header.slot_bytes = sizeof(vprof_slot);
  header.clock = VPROF_CLOCK_MONOTONIC;
  header.pid = pid;
  header.family = family;
  header.ticks_per_second = 1'000'000'000;
}

std::vector<unsigned char> ProcessWriter::bytes() const {
  std::vector<unsigned char> all(VPROF_FILE_HEADER_BYTES);
  const size_t chunk_bytes =
      (sizeof(vprof_chunk_header) + slots_per_chunk * sizeof(vprof_slot) + VPROF_PAGE_BYTES - 1) /
      VPROF_PAGE_BYTES * VPROF_PAGE_BYTES;
  for (const auto& [serial, thread] : threads) {
    size_t at = 0;
    uint32_t index = 0;
    size_t room = 0;
    for (const auto& group : thread.groups()) {
      if (group.size() > room) {
        if (room > 0) {
          const vprof_slot pad{0, VPROF_EV_PAD};
          std::memcpy(all.data() + at, &pad, sizeof(pad));
        }
        vprof_chunk_header chunk{};
        chunk.magic = VPROF_CHUNK_MAGIC;
        chunk.bytes = static_cast<uint32_t>(chunk_bytes);
        chunk.thread_serial = serial;
        chunk.tid = 1000 + serial;
        if (index < thread.opened.size()) {
          std::tie(chunk.opened_processor_ns, chunk.opened_ticks) = thread.opened[index];
        }
        chunk.own_calls = thread.own_calls;
        chunk.timed_calls = thread.timed_calls;
        chunk.index = index++;
        std::strncpy(chunk.thread_name, thread.name.c_str(), sizeof(chunk.thread_name) - 1);
        at = all.size();
        all.resize(at + chunk_bytes);
        std::memcpy(all.data() + at, &chunk, sizeof(chunk));
        at += sizeof(chunk);
        room = slots_per_chunk;
      }
      std::memcpy(all.data() + at, group.data(), group.size() * sizeof(vprof_slot));
      at += group.size() * sizeof(vprof_slot);
      room -= group.size();
    }
  }
  vprof_file_header head = header;
  head.used = all.size();
  head.capacity = all.size();
  std::memcpy(all.data(), &head, sizeof(head));
  return all;
}

void ProcessWriter::write(const std::string& directory) const {
  write_bytes(fmt::format("{}/{}-{}.vpt", directory, header.pid, header.start_monotonic_ns),
              bytes());
}

std::vector<unsigned char> read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const std::string& path, const std::vector<unsigned char>& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

uint32_t SitesWriter::function(const std::string& name, int height, bool expandable,
                               bool expanded) {
  const size_t id = functions_.size() + 1;
  functions_.push_back({{"id", id},
                        {"key", fmt::format("{}@src/a.c:{}", name, 10 * id)},
                        {"name", name},
                        {"file", "src/a.c"},
                        {"line", 10 * id},
                        {"height", height},
                        {"callees", 0},
                        {"expandable", expandable},
                        {"expanded", expanded}});
  return static_cast<uint32_t>(id);
}

uint32_t SitesWriter::library(const std::string& name, int height) {
  const uint32_t id = function(name, height);
  functions_.back()["key"] = name + "@";
  functions_.back()["file"] = "";
  functions_.back()["line"] = 0;
  return id;
}

uint32_t SitesWriter::wrapper(const std::string& name, int height) {
  const uint32_t id = function(name, height);
  functions_.back()["wrapper"] = true;
  return id;
}

uint32_t SitesWriter::function_site(uint32_t function) {
  const size_t id = sites_.size() + 1;
  sites_.push_back({{"id", id},
                    {"kind", "function"},
                    {"function", function},
                    {"file", "src/a.c"},
                    {"line", 10 * function},
                    {"column", 1}});
  return static_cast<uint32_t>(id);
}

uint32_t SitesWriter::call_site(uint32_t caller, uint32_t callee) {
  const size_t id = sites_.size() + 1;
  sites_.push_back({{"id", id},
                    {"kind", "call"},
                    {"function", callee},
                    {"parent", caller},
                    {"file", "src/a.c"},
                    {"line", 1000 + id},
                    {"column", 1},
                    {"rule", "statement"},
                    {"call", "direct"}});
  return static_cast<uint32_t>(id);
}

void SitesWriter::sync(const std::string& role, const std::string& name, bool shared) {
  sync_.push_back(
      {{"index", sync_.size()}, {"role", role}, {"function", name}, {"shared", shared}});
}

uint32_t SitesWriter::suspension(const std::string& awaited, uint32_t coroutine,
                                 const std::vector<uint32_t>& awaits) {
  const size_t index = suspensions_.size();
  suspensions_.push_back({{"index", index},
                          {"name", awaited},
                          {"parent", coroutine},
                          {"file", "src/a.cpp"},
                          {"line", 2000 + index},
                          {"awaits", awaits}});
  return static_cast<uint32_t>(index);
}

std::string SitesWriter::write(const std::string& directory) const {
  nlohmann::json named = nlohmann::json::array();
  for (size_t i = 0; i < intervals.size(); ++i) {
    named.push_back({{"index", i}, {"name", intervals[i]}});
  }
  const nlohmann::json document = {{"schema", 1},
                                   {"root_height", root_height},
                                   {"functions", functions_},
                                   {"sites", sites_},
                                   {"intervals", named},
                                   {"suspensions", suspensions_},
                                   {"sync", sync_},
                                   {"unwrapped", nlohmann::json::array()}};
  const std::string path = directory + "/sites.json";
  std::ofstream(path) << document.dump();
  return path;
}

}  // namespace vprof::test
