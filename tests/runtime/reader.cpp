#include "reader.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

namespace vprof::test {
namespace {

struct Chunk {
  vprof_chunk_header header{};
  std::vector<vprof_slot> slots;
};

void decode(const Chunk& chunk, Thread& thread) {
  size_t count = chunk.slots.size();
  while (count > 0 && chunk.slots[count - 1].word1 == 0) {
    --count;
  }
  bool head = false;
  for (size_t i = 0; i < count; ++i) {
    const vprof_slot& slot = chunk.slots[i];
    const auto id = static_cast<uint32_t>(slot.word1 & VPROF_ID_MASK);
    const uint64_t payload = slot.word1 >> VPROF_ID_BITS;
    if (slot.word1 == 0) {
      ++thread.holes;
      head = false;
    } else if (id == VPROF_EV_PAD) {
      if (i + 1 != count) {
        ++thread.orphans;  // nothing may follow
      }
      return;
    } else if (id != VPROF_EV_CONT) {
      thread.records.push_back({id, slot.word0, payload, {}});
      head = true;
    } else if (head) {
      thread.records.back().more.push_back({slot.word0, payload});
    } else {
      ++thread.orphans;
    }
  }
}

std::vector<Chunk> chunks_of(std::ifstream& file, Trace& trace) {
  std::vector<Chunk> chunks;
  const uint64_t end = std::min<uint64_t>(trace.header.used, trace.file_bytes);
  if (trace.header.used > trace.file_bytes) {
    trace.error = "used is beyond the end of the file";
  }
  for (uint64_t at = VPROF_FILE_HEADER_BYTES; at < end;) {
    Chunk chunk;
    file.seekg(static_cast<std::streamoff>(at));
    file.read(reinterpret_cast<char*>(&chunk.header), sizeof chunk.header);
    if (chunk.header.magic == 0) {  // reserved, never made ready
      at += VPROF_PAGE_BYTES;
      continue;
    }
    if (chunk.header.magic != VPROF_CHUNK_MAGIC || chunk.header.bytes % VPROF_PAGE_BYTES != 0 ||
        chunk.header.bytes == 0 || at + chunk.header.bytes > end) {
      trace.error = "bad chunk at " + std::to_string(at);
      return chunks;
    }
    chunk.slots.resize((chunk.header.bytes - sizeof chunk.header) / sizeof(vprof_slot));
    file.read(reinterpret_cast<char*>(chunk.slots.data()),
              static_cast<std::streamsize>(chunk.slots.size() * sizeof(vprof_slot)));
    at += chunk.header.bytes;
    chunks.push_back(std::move(chunk));
  }
  return chunks;
}

}  // namespace

std::vector<Record> Thread::frames() const {
  std::vector<Record> found;
  std::copy_if(records.begin(), records.end(), std::back_inserter(found),
               [](const Record& record) { return record.id < VPROF_EV_FIRST; });
  return found;
}

std::vector<Record> Trace::all(uint32_t id) const {
  std::vector<Record> found;
  for (const Record& record : helper.records) {
    if (record.id == id) {
      found.push_back(record);
    }
  }
  for (const Thread& thread : threads) {
    for (const Record& record : thread.records) {
      if (record.id == id) {
        found.push_back(record);
      }
    }
  }
  return found;
}

uint64_t Trace::frames() const {
  uint64_t count = 0;
  for (const Thread& thread : threads) {
    count += thread.frames().size();
  }
  return count;
}

uint64_t Trace::frames(uint32_t site) const { return all(site).size(); }

Trace read_trace(const std::string& path) {
  Trace trace;
  trace.path = path;
  trace.file_bytes = std::filesystem::file_size(path);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(&trace.header), sizeof trace.header);
  if (!file || trace.header.magic != VPROF_TRACE_MAGIC ||
      trace.header.version != VPROF_TRACE_VERSION) {
    trace.error = "bad file header";
    return trace;
  }
  std::map<uint32_t, std::vector<Chunk>> by_thread;
  for (Chunk& chunk : chunks_of(file, trace)) {
    const bool used = chunk.header.thread_serial != 0 || chunk.header.tid != 0;
    if (!used) {
      ++trace.spare_chunks;
    } else {
      by_thread[chunk.header.thread_serial].push_back(std::move(chunk));
    }
  }
  for (auto& [serial, chunks] : by_thread) {
    std::stable_sort(chunks.begin(), chunks.end(), [](const Chunk& a, const Chunk& b) {
      return a.header.index < b.header.index;
    });
    // A chunk that was being archived appears twice. The first is whole.
    const auto same = [](const Chunk& a, const Chunk& b) {
      return a.header.index == b.header.index;
    };
    const auto copies = std::unique(chunks.begin(), chunks.end(), same);
    trace.copied_chunks += static_cast<uint64_t>(chunks.end() - copies);
    chunks.erase(copies, chunks.end());
    Thread thread;
    thread.serial = serial;
    thread.tid = chunks[0].header.tid;
    for (size_t i = 0; i < chunks.size(); ++i) {
      thread.own_calls += chunks[i].header.own_calls;
      thread.timed_calls += chunks[i].header.timed_calls;
      if (chunks[i].header.index != i && trace.header.overwritten == 0) {
        trace.error = "thread " + std::to_string(serial) + " lacks a chunk";
      }
      thread.name =
          std::string(chunks[i].header.thread_name, strnlen(chunks[i].header.thread_name, 16));
      decode(chunks[i], thread);
    }
    if (serial == 0) {
      trace.helper = std::move(thread);
    } else {
      trace.threads.push_back(std::move(thread));
    }
  }
  return trace;
}

std::vector<Trace> read_traces(const std::string& directory) {
  std::vector<Trace> traces;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".vpt") {
      traces.push_back(read_trace(entry.path().string()));
    }
  }
  // CLOCK_REALTIME may jump back.
  std::sort(traces.begin(), traces.end(), [](const Trace& a, const Trace& b) {
    return a.header.start_monotonic_ns < b.header.start_monotonic_ns;
  });
  return traces;
}

const Trace& root_of(const std::vector<Trace>& traces) {
  const auto has_parent = [&](const Trace& child) {
    return std::any_of(traces.begin(), traces.end(), [&](const Trace& other) {
      return other.header.pid == child.header.parent_pid;
    });
  };
  return *std::find_if_not(traces.begin(), traces.end(), has_parent);
}

std::string label_text(const Record& record) {
  std::string text;
  for (size_t i = 1; i < record.more.size(); ++i) {
    for (int byte = 0; byte < 8; ++byte) {
      text.push_back(static_cast<char>(record.more[i].word >> 8 * byte));
    }
  }
  text.resize(std::min<size_t>(text.size(), record.payload));
  return text;
}

std::string nesting_error(const Thread& thread) {
  std::vector<std::pair<uint64_t, uint64_t>> open;  // disjoint so far, in order of time
  for (const Record& record : thread.frames()) {
    const uint64_t start = record.word;
    const uint64_t end = start + record.payload;
    while (!open.empty() && open.back().first >= start) {
      if (open.back().second > end) {
        return "a frame ends after the one that holds it";
      }
      open.pop_back();
    }
    if (!open.empty() && open.back().second > start) {
      return "two frames overlap";
    }
    open.emplace_back(start, end);
  }
  return {};
}

}  // namespace vprof::test
