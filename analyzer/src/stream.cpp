#include "stream.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <utility>

#include "parallel.h"
#include "wait_classes.h"

namespace vprof::analyzer {
namespace {

size_t used_slots(const Chunk& chunk) {
  size_t count = chunk.slots.size() / sizeof(vprof_slot);
  while (count != 0 && slot_at(chunk.slots, count - 1).word1 == 0) --count;
  return count;
}

/// The first slot of a chunk begins a record, unless it was torn.
bool has_first(const Chunk& chunk) { return chunk.first.word1 != 0; }

/// The helper thread records what has happened to several others one after the other, so that its
/// records are in no order.
int64_t latest_end(const Chunk& chunk, const Clock& clock) {
  int64_t latest = INT64_MIN;
  for (size_t i = used_slots(chunk); i-- > 0;) {
    const vprof_slot slot = slot_at(chunk.slots, i);
    if (slot.word1 != 0 && (slot.word1 & VPROF_ID_MASK) != VPROF_EV_CONT)
      latest = std::max(latest, clock.to_ns(end_ticks_of(slot)));
  }
  return latest;
}

/// The last record that was begun in the chunk.
int64_t last_end(const Chunk& chunk, const Clock& clock) {
  for (size_t i = used_slots(chunk); i-- > 0;) {
    const vprof_slot slot = slot_at(chunk.slots, i);
    const uint64_t id = slot.word1 & VPROF_ID_MASK;
    if (slot.word1 != 0 && id != VPROF_EV_CONT && id != VPROF_EV_PAD)
      return clock.to_ns(end_ticks_of(slot));
  }
  return INT64_MIN;
}

/// What is kept of the last window, newest last; the waits of the items are copied along.
struct Kept {
  std::vector<Item> items;
  std::vector<Wait> waits;
};

/// Preemptions that are older than all else go back to those that are not in the history yet: they
/// may have been read of the helper thread, long before what lies around them.
Kept keep_items(const Thread& thread, int64_t before, std::vector<Preemption>& preemptions) {
  Kept kept;
  bool oldest = true;
  const auto keep = [&](const Item& item) {
    oldest = oldest && is_preemption(thread, item);
    if (item.start >= before) return;
    if (oldest) {
      preemptions.push_back({thread.serial, item.start, item.end});
      return;
    }
    Item& copy = kept.items.emplace_back(item);
    copy.parent = kNone;
    if (item.is_wait()) {
      copy.what = kWaitBit | static_cast<uint32_t>(kept.waits.size());
      kept.waits.push_back(thread.waits[item.what & ~kWaitBit]);
    }
  };
  // Of those that ended later, only what lies around `before` began earlier: the first and what it
  // lies in.
  const std::vector<Item>& items = thread.items;
  const auto later = std::partition_point(items.begin(), items.end(),
                                          [&](const Item& item) { return item.end <= before; });
  std::for_each(items.begin(), later, keep);
  for (auto i = static_cast<size_t>(later - items.begin()); i < items.size(); i = items[i].parent)
    keep(items[i]);
  return kept;
}

/// Takes the events out, and returns those before an instant. `more`: others will come into their
/// place.
template <class Event>
std::vector<Event> keep_events(std::vector<Event>& events, int64_t before, bool more) {
  std::vector<Event> kept;
  std::copy_if(events.begin(), events.end(), std::back_inserter(kept),
               [&](const Event& event) { return event.time < before; });
  events.clear();
  if (!more) events.shrink_to_fit();
  return kept;
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

void append_items(Thread& thread, const Kept& kept) {
  const auto shift = static_cast<uint32_t>(thread.waits.size());
  append(thread.waits, kept.waits);
  thread.items.reserve(thread.items.size() + kept.items.size());
  for (Item item : kept.items) {
    if (item.is_wait()) item.what += shift;
    thread.items.push_back(item);
  }
}

/// They lie in the history like waits. Call before anything else is appended: of an item that ends
/// with a preemption, the preemption is the inner one. Forest::finish() puts them where they
/// belong.
void append_preemptions(Thread& thread, std::vector<Preemption> preemptions) {
  std::stable_sort(preemptions.begin(), preemptions.end(),
                   [](const Preemption& a, const Preemption& b) { return a.end < b.end; });
  for (const Preemption& preemption : preemptions) {
    const auto wait = kWaitBit | static_cast<uint32_t>(thread.waits.size());
    thread.waits.push_back({{}, 0, VPROF_EV_PREEMPTED, 0, false});
    thread.items.push_back({preemption.start, preemption.end, wait, kNone});
  }
}

void note_switches(const vprof_file_header& header, Losses& losses) {
  if ((header.classes & VPROF_CLASS_PREEMPTION) == 0) return;
  const char* what = "the time that they spent without a processor counts to what they were doing";
  if (header.switches_refused != 0) {
    losses.notes.push_back(
        fmt::format("process {}: context switches of {} of {} threads could not be seen "
                    "(perf_event_open: {}): {}",
                    header.pid, header.unwatched, header.threads,
                    std::strerror(static_cast<int>(header.switches_refused & 0xfff)), what));
  } else if (header.unwatched != 0) {
    losses.notes.push_back(
        fmt::format("process {}: context switches of {} of {} threads were not watched: {}",
                    header.pid, header.unwatched, header.threads, what));
  }
  if (header.let_go != 0) {
    losses.notes.push_back(
        fmt::format("process {}: {} of {} threads gave up their processor more than 10,000 times a "
                    "second and were "
                    "no longer watched: {}",
                    header.pid, header.let_go, header.threads, what));
  }
  if (header.switches_lost != 0) {
    losses.notes.push_back(
        fmt::format("process {}: {} context switches were lost", header.pid, header.switches_lost));
  }
}

}  // namespace

void ItemRoom::provide(std::vector<Item>& items, size_t count, size_t most_spare) {
  const auto fits = [&](const std::vector<Item>& room) {
    return room.capacity() >= count && room.capacity() / 4 <= count;
  };
  items.clear();
  if (fits(items)) return;
  {
    const std::lock_guard lock(mutex_);
    if (spare_items_ + items.capacity() <= most_spare) {
      spare_items_ += items.capacity();
      spare_.push_back(std::exchange(items, {}));
    }
    const auto found = std::find_if(spare_.begin(), spare_.end(), fits);
    if (found != spare_.end()) {
      spare_items_ -= found->capacity();
      items = std::move(*found);
      spare_.erase(found);
      return;
    }
  }
  items = {};
  items.reserve(count + count / 4);  // windows differ by a chunk or two
  // Filled at once, it costs a page fault for each page; large ones are fewer. A kernel that has
  // none to give does as if nothing had been said.
  constexpr uintptr_t kLarge = 2 << 20;
  const auto begin = reinterpret_cast<uintptr_t>(items.data());
  const uintptr_t from = (begin + kLarge - 1) / kLarge * kLarge;
  const uintptr_t to = (begin + items.capacity() * sizeof(Item)) / kLarge * kLarge;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): within the room
  if (from < to) ::madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE);
}

Result<TraceStream> TraceStream::open(const std::string& directory, const Sites& sites,
                                      bool want_items) {
  auto files = open_traces(directory);
  if (!files) return tl::make_unexpected(files.error());
  TraceStream stream(sites, want_items);
  for (TraceFile& file : *files) stream.add_file(std::move(file));
  // Equal ends: by thread, so that the order is always the same. Pieces of one thread stay in
  // theirs.
  std::stable_sort(stream.pieces_.begin(), stream.pieces_.end(),
                   [](const Piece& a, const Piece& b) {
                     return std::tie(a.last_end, a.thread) < std::tie(b.last_end, b.thread);
                   });
  return stream;
}

void TraceStream::add_file(TraceFile file) {
  const vprof_file_header& header = file.header;
  const auto process = static_cast<uint32_t>(window_.processes.size());
  window_.processes.push_back({header.family, header.pid});
  losses_.unreadable_bytes += file.unreadable_bytes;
  losses_.dropped += header.dropped;
  overhead_.chunks += header.chunks;
  overhead_.stalls += header.stalls;
  if (header.overwritten != 0)
    losses_.notes.push_back(fmt::format(
        "process {}: {} older records were overwritten, as the trace keeps the last of each thread",
        header.pid, header.overwritten));
  if (const std::string names = left_out_classes(header.classes); !names.empty())
    losses_.notes.push_back(
        fmt::format("process {}: waits of some kinds were left out: {}", header.pid, names));
  note_switches(header, losses_);
  const double ticks_per_second =
      header.ticks_per_second == 0 ? 1e9 : static_cast<double>(header.ticks_per_second);
  const double cost = static_cast<double>(header.record_ticks_x256) / 256 * 1e9 / ticks_per_second;
  overhead_.record_ns = std::max(overhead_.record_ns, cost);
  const Clock clock = make_clock(file);
  begin_ = std::min(begin_, clock.to_ns(header.start_ticks));
  run_ = std::min(run_, static_cast<int64_t>(header.start_realtime_ns));
  for (const ThreadChunks& chunks : file.threads) {
    const auto index = static_cast<uint32_t>(window_.threads.size());
    Thread& thread = window_.threads.emplace_back();
    thread.process = process;
    thread.serial = chunks.serial;
    for (const Chunk& chunk : chunks.chunks) {
      if (!chunk.thread_name.empty()) thread.name = chunk.thread_name;
    }
    clocks_.push_back(clock);
    preempted_.emplace_back();
    order_pieces(chunks.chunks, index, clock);
  }
  file.threads.clear();
  files_.push_back(std::move(file));
}

void TraceStream::order_pieces(const std::vector<Chunk>& chunks, uint32_t thread,
                               const Clock& clock) {
  int64_t newest = INT64_MIN;
  const bool helper = window_.threads[thread].serial == 0;
  for (size_t i = 0; i < chunks.size(); ++i) {
    if (helper) {
      newest = std::max(newest, latest_end(chunks[i], clock));
      pieces_.push_back({chunks[i], thread, newest});
      continue;
    }
    // The next chunk's first record is not older than this one's last, and on the page that its
    // header was read from.
    const int64_t end = i + 1 < chunks.size() && has_first(chunks[i + 1])
                            ? clock.to_ns(end_ticks_of(chunks[i + 1].first))
                            : last_end(chunks[i], clock);
    newest = std::max(newest, end);
    pieces_.push_back({chunks[i], thread, newest});
  }
}

bool TraceStream::next(int64_t time, uint64_t records, unsigned threads) {
  if (pieces_.empty()) return false;
  wanted_ = std::max(records, kept_);
  std::vector<std::vector<const Piece*>> of_thread(window_.threads.size());
  uint64_t slots = 0;
  size_t taken = 0;
  while (taken < pieces_.size() && slots < wanted_) {
    const Piece& piece = pieces_[pieces_.size() - 1 - taken++];
    of_thread[piece.thread].push_back(&piece);
    slots += piece.chunk.slots.size() / sizeof(vprof_slot);
  }
  read_helpers(of_thread);
  std::atomic<uint64_t> kept{0};
  in_parallel(of_thread.size(), threads, [&](size_t thread, unsigned) {
    kept += read(static_cast<uint32_t>(thread), of_thread[thread], time);
  });
  kept_ = kept;
  pieces_.resize(pieces_.size() - taken);
  complete_after_ = pieces_.empty() ? INT64_MIN : pieces_.back().last_end;
  return true;
}

/// What the helper threads have recorded for others, before those are read.
void TraceStream::read_helpers(const std::vector<std::vector<const Piece*>>& of_thread) {
  for (uint32_t index = 0; index < of_thread.size(); ++index) {
    Thread& helper = window_.threads[index];
    if (helper.serial != 0 || of_thread[index].empty()) continue;
    for (const Piece* piece : of_thread[index]) {
      decode_chunk(piece->chunk, window_.processes[helper.process], known_, clocks_[index],
                   want_items_, helper);
      release_pages(piece->chunk);
    }
    for (const Preemption& preemption : helper.preemptions) {
      const auto whom = std::partition_point(window_.threads.begin(), window_.threads.end(),
                                             [&](const Thread& thread) {
                                               return std::tie(thread.process, thread.serial) <
                                                      std::tie(helper.process, preemption.serial);
                                             });
      if (whom != window_.threads.end() && whom->process == helper.process &&
          whom->serial == preemption.serial && preemption.serial != 0)
        preempted_[static_cast<size_t>(whom - window_.threads.begin())].push_back(preemption);
    }
    helper.preemptions.clear();
  }
}

/// `pieces` from the newest to the oldest. Returns how many items were kept.
uint64_t TraceStream::read(uint32_t index, const std::vector<const Piece*>& pieces,
                           int64_t keep_before) {
  Thread& thread = window_.threads[index];
  if (thread.serial == 0) return 0;
  const Kept kept = keep_items(thread, keep_before, preempted_[index]);
  const bool more = !pieces.empty();
  const auto releases = keep_events(thread.releases, keep_before, more);
  const auto marks = keep_events(thread.marks, INT64_MAX, more);
  const auto enqueues = keep_events(thread.enqueues, keep_before, more);
  const auto dequeues = keep_events(thread.dequeues, keep_before, more);
  std::erase_if(thread.segments, [&](const Segment& s) { return s.start >= keep_before; });
  thread.waits.clear();
  size_t slots = 0;
  for (const Piece* piece : pieces) slots += piece->chunk.slots.size() / sizeof(vprof_slot);
  slots += kept.items.size() + preempted_[index].size();
  room_->provide(thread.items, slots, wanted_);
  append_preemptions(thread, std::exchange(preempted_[index], {}));
  Forest forest(thread);
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    read_pages((*piece)->chunk);
    decode_chunk((*piece)->chunk, window_.processes[thread.process], known_, clocks_[index],
                 want_items_, thread);
    release_pages((*piece)->chunk);
    forest.extend();
  }
  append_items(thread, kept);
  append(thread.releases, releases);
  append(thread.marks, marks);
  append(thread.enqueues, enqueues);
  append(thread.dequeues, dequeues);
  for (Release& release : thread.releases) release.thread = index;
  sort_by_time(thread.marks);
  sort_by_time(thread.enqueues);
  sort_by_time(thread.dequeues);
  forest.finish();
  return kept.items.size();
}

uint64_t TraceStream::size() const {
  uint64_t items = 0;
  for (const Thread& thread : window_.threads) items += thread.items.size();
  return items;
}

void TraceStream::add_losses(Losses& losses, Overhead& overhead) const {
  losses = losses_;
  overhead = overhead_;
  uint64_t dropped = 0;
  uint64_t unknown = 0;
  uint64_t clipped = 0;
  for (const Thread& thread : window_.threads) {
    overhead.records += thread.records;
    overhead.threads += thread.records != 0 ? 1 : 0;
    losses.torn += thread.torn;
    dropped += thread.dropped;
    unknown += thread.unknown;
    clipped += thread.clipped;
  }
  // The header's counter is ahead of the events, unless the header is damaged.
  losses.dropped = std::max(losses.dropped, dropped);
  overhead.dropped = losses.dropped;
  if (unknown != 0) {
    losses.notes.push_back(fmt::format(
        "{} records of sites or events that are not known: is sites.json that of the run?",
        unknown));
  }
  if (clipped != 0) {
    losses.notes.push_back(
        fmt::format("{} records overlapped without nesting and were cut", clipped));
  }
}

}  // namespace vprof::analyzer
