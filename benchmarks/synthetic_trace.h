// Traces of any length, as a server would record them, written without holding them in memory.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "vprof/runtime/trace_format.h"

namespace vprof::bench {

/// One thread's stream of slots, cut into chunks as the runtime does. Ticks are nanoseconds.
class ChunkWriter {
 public:
  ChunkWriter(std::FILE* file, uint32_t serial) : file_(file) {
    header_.magic = VPROF_CHUNK_MAGIC;
    header_.bytes = kBytes;
    header_.thread_serial = serial;
    std::snprintf(header_.thread_name, sizeof(header_.thread_name), "worker-%u", serial);
    slots_.reserve(kSlots);
  }

  void frame(uint32_t site, int64_t start, int64_t end) {
    put({head(start, site, static_cast<uint64_t>(end - start))});
  }
  void mark(uint32_t event, uint64_t id, int64_t time) {
    put({head(time, event, 0), head(static_cast<int64_t>(id), VPROF_EV_CONT, 0)});
  }
  void wait(uint64_t object, int64_t start, int64_t end, uint64_t sequence) {
    put({head(start, VPROF_EV_WAIT_MUTEX, static_cast<uint64_t>(end - start)),
         head(static_cast<int64_t>(object), VPROF_EV_CONT, 0),
         head(static_cast<int64_t>(sequence), VPROF_EV_CONT, 0)});
  }
  void release(uint64_t object, int64_t time, uint64_t sequence) {
    put({head(time, VPROF_EV_RELEASE_MUTEX, 0),
         head(static_cast<int64_t>(object), VPROF_EV_CONT, 0),
         head(static_cast<int64_t>(sequence), VPROF_EV_CONT, 0)});
  }
  /// Writes the chunk, padded with zeros.
  void flush() {
    if (slots_.empty()) {
      return;
    }
    slots_.resize(kSlots);
    std::fwrite(&header_, sizeof(header_), 1, file_);
    std::fwrite(slots_.data(), sizeof(vprof_slot), kSlots, file_);
    ++header_.index;
    slots_.clear();
  }
  uint64_t records() const { return records_; }

 private:
  static constexpr uint32_t kBytes = 1 << 20;
  static constexpr size_t kSlots = (kBytes - sizeof(vprof_chunk_header)) / sizeof(vprof_slot);

  static vprof_slot head(int64_t word0, uint32_t id, uint64_t payload) {
    return {static_cast<uint64_t>(word0), payload << VPROF_ID_BITS | id};
  }
  void put(std::initializer_list<vprof_slot> group) {
    ++records_;
    if (slots_.size() + group.size() > kSlots) {
      if (slots_.size() < kSlots) {
        slots_.push_back(head(0, VPROF_EV_PAD, 0));
      }
      flush();
    }
    slots_.insert(slots_.end(), group);
  }

  std::FILE* file_;
  vprof_chunk_header header_{};
  std::vector<vprof_slot> slots_;
  uint64_t records_ = 0;
};

/// Writes a trace of about `records` records to `directory`, with its sites.json: four workers that
/// handle requests of 24 calls, two deep. One request in eight waits for a lock that the next
/// worker holds. Returns the number of records.
inline uint64_t write_trace(const std::string& directory, uint64_t records) {
  constexpr uint32_t kThreads = 4;
  constexpr uint32_t kLoop = 1, kHandle = 2, kFirstCall = 3, kCalls = 8;
  ::mkdir(directory.c_str(), 0777);
  std::FILE* sites = std::fopen((directory + "/sites.json").c_str(), "w");
  std::fprintf(sites, R"({"schema":1,"root_height":4,"functions":[)");
  for (uint32_t i = 1; i < kFirstCall + kCalls; ++i) {
    std::fprintf(sites,
                 R"(%s{"id":%u,"key":"f%u","name":"f%u","file":"a.c","line":%u,"height":%d})",
                 i == 1 ? "" : ",", i, i, i, i,
                 i == kLoop     ? 3
                 : i == kHandle ? 2
                                : i % 2 == 0);
  }
  std::fprintf(sites, R"(],"sites":[)");
  for (uint32_t i = 1; i < kFirstCall + kCalls; ++i) {
    std::fprintf(sites, R"(%s{"id":%u,"kind":"function","function":%u,"file":"a.c","line":%u})",
                 i == 1 ? "" : ",", i, i, i);
  }
  std::fprintf(sites, R"(],"intervals":[{"index":0,"name":"request"}],"sync":[]})");
  std::fclose(sites);

  std::FILE* file = std::fopen((directory + "/1-0.vpt").c_str(), "wb");
  vprof_file_header header{};
  header.magic = VPROF_TRACE_MAGIC;
  header.version = VPROF_TRACE_VERSION;
  header.endian = VPROF_TRACE_ENDIAN;
  header.slot_bytes = sizeof(vprof_slot);
  header.clock = VPROF_CLOCK_MONOTONIC;
  header.pid = 1;
  header.ticks_per_second = 1'000'000'000;
  std::fwrite(&header, sizeof(header), 1, file);
  std::vector<ChunkWriter> threads;
  for (uint32_t t = 1; t <= kThreads; ++t) {
    threads.emplace_back(file, t);
  }
  std::vector<uint64_t> random(kThreads, 88172645463325252ull);
  uint64_t sequence = 0;
  const auto next = [](uint64_t& state) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
  };
  constexpr int64_t kRequest = 60'000;  // ns from one request of a worker to its next
  const uint64_t rounds = records / (kThreads * 28) + 1;
  for (uint64_t round = 0; round < rounds; ++round) {
    for (uint32_t t = 0; t < kThreads; ++t) {
      random[t] += t;
      ChunkWriter& own = threads[t];
      int64_t now = static_cast<int64_t>(round) * kRequest + 50 * t;
      const uint64_t id = round * kThreads + t + 1;
      own.mark(VPROF_EV_BEGIN, id, now);
      const int64_t handle = now += 20;
      for (uint32_t call = 0; call < 12; ++call) {
        const int64_t start = now += 15;
        const auto took = static_cast<int64_t>(100 + next(random[t]) % 1000);
        if (call == 5 && id % 8 == 0) {
          ++sequence;
          own.wait(0x1000, now, now + took, sequence);
          threads[(t + 1) % kThreads].release(0x1000, now + took - 10, sequence);
          now += took;
        }
        own.frame(kFirstCall + 1 + call % 4 * 2, now + 10, now + 10 + took);
        now += took + 20;
        own.frame(kFirstCall + call % 4 * 2, start, now);
      }
      own.frame(kHandle, handle, now += 10);
      own.mark(VPROF_EV_END, id, now += 10);
    }
  }
  uint64_t total = 0;
  for (ChunkWriter& thread : threads) {
    thread.frame(kLoop, 0, static_cast<int64_t>(rounds + 1) * kRequest);
    thread.flush();
    total += thread.records();
  }
  header.used = header.capacity = static_cast<uint64_t>(std::ftell(file));
  std::fseek(file, 0, SEEK_SET);
  std::fwrite(&header, sizeof(header), 1, file);
  std::fclose(file);
  return total;
}

}  // namespace vprof::bench
