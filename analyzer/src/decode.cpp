// Slots to timelines.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "clock.h"
#include "timeline.h"
#include "trace_file.h"

namespace vprof::analyzer {
namespace {

constexpr uint64_t kFamilyScope =
    1ull << 63;  // tells scopes that are families from those that are processes

uint32_t id_of(const vprof_slot& slot) { return static_cast<uint32_t>(slot.word1 & VPROF_ID_MASK); }
uint64_t payload_of(const vprof_slot& slot) { return slot.word1 >> VPROF_ID_BITS; }

uint32_t release_kind(uint32_t wait_event) {
  if (wait_event == VPROF_EV_WAIT_WRLOCK) return VPROF_EV_RELEASE_RWLOCK;
  if (wait_event == VPROF_EV_WAIT_POLL) return VPROF_EV_RELEASE_STREAM;
  return wait_event + (VPROF_EV_RELEASE_FIRST - VPROF_EV_WAIT_FIRST);
}

bool is_wait(uint32_t id) { return id >= VPROF_EV_WAIT_FIRST && id <= VPROF_EV_WAIT_LAST; }
bool is_release(uint32_t id) { return id >= VPROF_EV_RELEASE_FIRST && id <= VPROF_EV_RELEASE_LAST; }

Clock make_clock(const TraceFile& file) {
  const vprof_file_header& header = file.header;
  Clock clock(header.start_ticks, header.start_monotonic_ns, header.ticks_per_second);
  for (const ThreadChunks& thread : file.threads) {
    if (thread.serial != 0) break;  // only the helper thread writes snapshots
    for (const Chunk& chunk : thread.chunks) {
      const size_t slots = chunk.slots.size() / sizeof(vprof_slot);
      for (size_t i = 0; i + 1 < slots; ++i) {
        const vprof_slot head = slot_at(chunk.slots, i);
        if (head.word1 == 0 || id_of(head) != VPROF_EV_CLOCK) continue;
        const vprof_slot next = slot_at(chunk.slots, i + 1);
        if (next.word1 != 0 && id_of(next) == VPROF_EV_CONT)
          clock.add_snapshot(head.word0, next.word0);
      }
    }
  }
  return clock;
}

/// Decodes the chunks of one thread. Every slot is looked at once; nothing is kept of those it
/// cannot use but a count.
class Decoder {
 public:
  Decoder(Thread& thread, const Process& process, const Sites& sites, const Clock& clock,
          bool want_items)
      : thread_(thread), sites_(sites), clock_(clock), want_items_(want_items) {
    process_scope_ = thread.process + 1;
    family_scope_ = process.family == 0 ? process_scope_ : process.family | kFamilyScope;
  }

  void chunk(std::span<const unsigned char> slots) {
    slots_ = slots;
    count_ = slots.size() / sizeof(vprof_slot);
    while (count_ != 0 && slot_at(slots_, count_ - 1).word1 == 0) --count_;
    for (at_ = 0; at_ < count_;) {
      const vprof_slot head = slot_at(slots_, at_++);
      const uint32_t id = id_of(head);
      if (head.word1 == 0) {
        ++thread_.torn;
      } else if (id < VPROF_EV_FIRST) {
        frame(id, head.word0, payload_of(head));
      } else if (id == VPROF_EV_PAD) {
        break;
      } else {
        event(id, head);
      }
    }
  }

 private:
  /// The next continuation of the current head, if it is there.
  bool next(vprof_slot& slot) {
    if (at_ >= count_) return false;
    slot = slot_at(slots_, at_);
    if (slot.word1 == 0 || id_of(slot) != VPROF_EV_CONT) return false;
    ++at_;
    return true;
  }

  void frame(uint32_t site, uint64_t start, uint64_t duration) {
    ++thread_.records;
    if (!want_items_) return;
    if (!sites_.defines(site)) {
      ++thread_.unknown;
      return;
    }
    add_item(start, duration, site);
  }

  void add_item(uint64_t start, uint64_t duration, uint32_t what) {
    const uint64_t end = start + duration < start ? UINT64_MAX : start + duration;
    thread_.items.push_back({clock_.to_ns(start), clock_.to_ns(end), what, kNone});
  }

  void event(uint32_t id, const vprof_slot& head) {
    if (id == VPROF_EV_CONT) {  // its head is gone
      ++thread_.torn;
      return;
    }
    ++thread_.records;
    bool whole = true;
    if (is_wait(id)) {
      whole = wait(id, head);
    } else if (is_release(id)) {
      whole = release(id, head);
    } else if (id == VPROF_EV_BEGIN || id == VPROF_EV_END || id == VPROF_EV_SWITCH) {
      whole = mark(id, head);
    } else if (id == VPROF_EV_LABEL) {
      whole = label(head);
    } else if (id == VPROF_EV_ENQUEUE || id == VPROF_EV_DEQUEUE) {
      whole = task(id, head);
    } else if (id == VPROF_EV_LONG_FRAME) {
      whole = long_frame(head);
    } else if (id == VPROF_EV_DROPPED) {
      thread_.dropped += payload_of(head);
    } else if (id != VPROF_EV_CLOCK && id != VPROF_EV_THREAD_START) {
      ++thread_.unknown;
    }
    if (!whole) ++thread_.torn;
    for (vprof_slot rest{}; next(rest);) {  // of an event that says more than this program knows of
    }
  }

  ObjectKey key(uint64_t address, uint64_t aux, uint32_t kind) const {
    return {(aux & VPROF_AUX_SHARED) != 0 ? family_scope_ : process_scope_, address, kind};
  }

  bool wait(uint32_t id, const vprof_slot& head) {
    vprof_slot object{};
    vprof_slot sequence{};
    if (!next(object) || !next(sequence)) return false;
    if (!want_items_) return true;
    const uint64_t aux = payload_of(object);
    const auto sync = static_cast<uint32_t>((aux & 0xffffffff) >> VPROF_AUX_SYNC_SHIFT);
    if (thread_.waits.size() >= kWaitBit) return true;
    thread_.waits.push_back({key(object.word0, aux, release_kind(id)), sequence.word0, id, sync});
    add_item(head.word0, payload_of(head),
             kWaitBit | static_cast<uint32_t>(thread_.waits.size() - 1));
    return true;
  }

  bool release(uint32_t id, const vprof_slot& head) {
    vprof_slot object{};
    vprof_slot sequence{};
    if (!next(object) || !next(sequence)) return false;
    if (!want_items_) return true;
    thread_.releases.push_back(
        {key(object.word0, payload_of(object), id), sequence.word0, clock_.to_ns(head.word0), 0});
    return true;
  }

  bool mark(uint32_t id, const vprof_slot& head) {
    vprof_slot what{};
    if (!next(what)) return false;
    const bool local = (payload_of(head) & VPROF_INTERVAL_PROCESS_LOCAL) != 0;
    thread_.marks.push_back({clock_.to_ns(head.word0), what.word0, local ? process_scope_ : 0, id,
                             static_cast<uint32_t>(payload_of(what))});
    return true;
  }

  bool label(const vprof_slot& head) {
    vprof_slot what{};
    if (!next(what)) return false;
    const uint64_t length = std::min<uint64_t>(payload_of(head), VPROF_LABEL_MAX);
    std::string text;
    while (text.size() < length) {
      vprof_slot part{};
      if (!next(part)) return false;
      for (int byte = 0; byte < 8 && text.size() < length; ++byte) {
        const auto c = static_cast<unsigned char>(part.word0 >> (8 * byte));
        text.push_back(c >= 0x20 && c < 0x7f ? static_cast<char>(c)
                                             : '?');  // what any reader can show
      }
    }
    const bool local = (payload_of(what) & VPROF_INTERVAL_PROCESS_LOCAL) != 0;
    thread_.marks.push_back({clock_.to_ns(head.word0), what.word0, local ? process_scope_ : 0,
                             VPROF_EV_LABEL, label_index(text)});
    return true;
  }

  /// Labels are few and come in runs, so the thread's own short list is searched.
  uint32_t label_index(const std::string& text) {
    const auto found = std::find(thread_.labels.begin(), thread_.labels.end(), text);
    if (found != thread_.labels.end()) return static_cast<uint32_t>(found - thread_.labels.begin());
    thread_.labels.push_back(text);
    return static_cast<uint32_t>(thread_.labels.size() - 1);
  }

  bool task(uint32_t id, const vprof_slot& head) {
    vprof_slot what{};
    if (!next(what)) return false;
    auto& list = id == VPROF_EV_ENQUEUE ? thread_.enqueues : thread_.dequeues;
    if (want_items_ && what.word0 != 0) {
      list.push_back(
          {clock_.to_ns(head.word0), what.word0, static_cast<uint32_t>(payload_of(head))});
    }
    return true;
  }

  bool long_frame(const vprof_slot& head) {
    vprof_slot duration{};
    if (!next(duration)) return false;
    --thread_.records;  // frame() counts it
    frame(static_cast<uint32_t>(payload_of(head) & VPROF_ID_MASK), head.word0, duration.word0);
    return true;
  }

  Thread& thread_;
  const Sites& sites_;
  const Clock& clock_;
  const bool want_items_;
  uint64_t process_scope_ = 0;
  uint64_t family_scope_ = 0;
  std::span<const unsigned char> slots_;
  size_t count_ = 0;
  size_t at_ = 0;
};

template <class Event>
void sort_by_time(std::vector<Event>& events) {
  const auto earlier = [](const Event& a, const Event& b) { return a.time < b.time; };
  if (!std::is_sorted(events.begin(), events.end(), earlier)) {
    std::stable_sort(events.begin(), events.end(), earlier);
  }
}

struct Job {
  const ThreadChunks* chunks;
  const Clock* clock;
  uint32_t thread;
};

void decode(const Job& job, const Sites& sites, bool want_items, Recording& recording) {
  Thread& thread = recording.threads[job.thread];
  const Clock clock =
      *job.clock;  // it remembers where it was asked last, so each thread has its own
  Decoder decoder(thread, recording.processes[thread.process], sites, clock, want_items);
  for (const Chunk& chunk : job.chunks->chunks) {
    decoder.chunk(chunk.slots);
    if (!chunk.thread_name.empty()) thread.name = chunk.thread_name;
  }
  sort_by_time(thread.marks);
  sort_by_time(thread.enqueues);
  sort_by_time(thread.dequeues);
  build_forest(thread);
  for (Release& release : thread.releases) release.thread = job.thread;
}

/// Threads are independent and each writes to its own slot of the result, so the order of work does
/// not show in it.
void decode_all(const std::vector<Job>& jobs, const Sites& sites, bool want_items,
                Recording& recording) {
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++)
      decode(jobs[i], sites, want_items, recording);
  };
  const size_t helpers = std::min<size_t>({std::thread::hardware_concurrency(), jobs.size(), 8});
  std::vector<std::thread> pool;
  for (size_t i = 1; i < helpers; ++i) pool.emplace_back(work);
  work();
  for (std::thread& thread : pool) thread.join();
}

constexpr struct {
  const char* name;
  uint32_t bit;
} kClasses[] = {VPROF_CLASS_NAMES};

std::string left_out(uint64_t classes) {
  std::string names;
  for (const auto& c : kClasses) {
    if ((classes & c.bit) == 0) names += (names.empty() ? "" : ", ") + std::string(c.name);
  }
  return names;
}

void add_header(const TraceFile& file, Recording& recording) {
  const vprof_file_header& header = file.header;
  recording.processes.push_back({header.family, header.pid});
  recording.losses.unreadable_bytes += file.unreadable_bytes;
  recording.losses.dropped += header.dropped;
  recording.overhead.chunks += header.chunks;
  recording.overhead.stalls += header.stalls;
  if (header.overwritten != 0) {
    recording.losses.notes.push_back(fmt::format(
        "process {}: {} older records were overwritten, as the trace keeps the last of each thread",
        header.pid, header.overwritten));
  }
  if (header.classes != 0 && header.classes != VPROF_CLASS_ALL) {
    recording.losses.notes.push_back(fmt::format(
        "process {}: waits of some kinds were left out: {}", header.pid, left_out(header.classes)));
  }
  const double ticks_per_second =
      header.ticks_per_second == 0 ? 1e9 : static_cast<double>(header.ticks_per_second);
  const double cost = static_cast<double>(header.record_ticks_x256) / 256 * 1e9 / ticks_per_second;
  recording.overhead.record_ns = std::max(recording.overhead.record_ns, cost);
}

void sum_up(Recording& recording) {
  uint64_t dropped = 0;
  uint64_t unknown = 0;
  uint64_t clipped = 0;
  for (const Thread& thread : recording.threads) {
    recording.overhead.records += thread.records;
    recording.losses.torn += thread.torn;
    dropped += thread.dropped;
    unknown += thread.unknown;
    clipped += thread.clipped;
  }
  // The header's counter is ahead of the events, unless the header is damaged.
  recording.losses.dropped = std::max(recording.losses.dropped, dropped);
  recording.overhead.dropped = recording.losses.dropped;
  auto& notes = recording.losses.notes;
  if (unknown != 0) {
    notes.push_back(fmt::format(
        "{} records of sites or events that are not known: is sites.json that of the run?",
        unknown));
  }
  if (clipped != 0)
    notes.push_back(fmt::format("{} records overlapped without nesting and were cut", clipped));
}

}  // namespace

std::vector<std::string> wait_classes() {
  std::vector<std::string> names;
  for (const auto& c : kClasses) names.emplace_back(c.name);
  return names;
}

Result<Recording> read_recording(const std::string& directory, const Sites& sites,
                                 bool want_items) {
  auto files = open_traces(directory);
  if (!files) return tl::make_unexpected(files.error());
  Recording recording;
  std::vector<Clock> clocks;
  clocks.reserve(files->size());
  std::vector<Job> jobs;
  for (const TraceFile& file : *files) {
    const auto process = static_cast<uint32_t>(recording.processes.size());
    add_header(file, recording);
    clocks.push_back(make_clock(file));
    for (const ThreadChunks& chunks : file.threads) {
      jobs.push_back({&chunks, &clocks.back(), static_cast<uint32_t>(recording.threads.size())});
      Thread& thread = recording.threads.emplace_back();
      thread.process = process;
      thread.serial = chunks.serial;
    }
  }
  decode_all(jobs, sites, want_items, recording);
  sum_up(recording);
  return recording;
}

}  // namespace vprof::analyzer
