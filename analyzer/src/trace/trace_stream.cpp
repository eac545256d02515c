#include "trace/trace_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <utility>

#include "trace/wait_classes.h"

namespace vprof::analyzer {
namespace {

/// So many slots of a chunk are taken at a time: a window is made of many parts, so that it holds
/// about the same stretch of time of each thread.
constexpr size_t kMostPart = 4096;
constexpr size_t kLeastPart = 64;
/// A window of so many slots for each thread makes up for looking at all threads.
constexpr uint64_t kWindowPerThread = 64;

/// Without what has not been written.
Slots used(const File& file, Slots slots) {
  SlotFinder finder(file, slots);
  size_t count = slots.count;
  while (count != 0 && finder.at(count - 1).word1 == 0) {
    --count;
  }
  return slots.first(count);
}

/// The first slot of a chunk begins a record, unless it was torn.
bool has_first(const Chunk& chunk) { return chunk.first.word1 != 0; }

/// The helper thread records what has happened to several others one after the other, so that its
/// records are in no order.
int64_t latest_end(const File& file, Slots slots, const Clock& clock) {
  int64_t latest = INT64_MIN;
  std::vector<vprof_slot> all;
  read_slots(file, slots, all);
  for (const vprof_slot& slot : all) {
    if (is_head(slot)) {
      latest = std::max(latest, clock.to_ns(end_ticks_of(slot)));
    }
  }
  return latest;
}

/// Of the last record that begins before slot `before`.
int64_t last_end(SlotFinder& finder, size_t before, const Clock& clock) {
  for (size_t i = before; i-- > 0;) {
    const vprof_slot& slot = finder.at(i);
    if (is_head(slot) && (slot.word1 & VPROF_ID_MASK) != VPROF_EV_PAD) {
      return clock.to_ns(end_ticks_of(slot));
    }
  }
  return INT64_MIN;
}

/// Takes the events out, and returns those before an instant. `more`: others will come into their
/// place.
template <class Event>
std::vector<Event> keep_events(std::vector<Event>& events, int64_t before, bool more) {
  std::vector<Event> kept;
  std::copy_if(events.begin(), events.end(), std::back_inserter(kept),
               [&](const Event& event) { return event.time < before; });
  events.clear();
  if (!more) {
    events.shrink_to_fit();
  }
  return kept;
}

/// Events that were read from the last to the first, and those kept of later ones, into order of
/// time.
template <class Event>
void order_events(std::vector<Event>& events, const std::vector<Event>& kept) {
  std::reverse(events.begin(), events.end());
  events.insert(events.end(), kept.begin(), kept.end());
  sort_by_time(events);
}

bool ends_earlier(const Preemption& a, const Preemption& b) { return a.end < b.end; }

void note_switches(const vprof_file_header& header, Losses& losses) {
  if ((header.classes & VPROF_CLASS_PREEMPTION) == 0) {
    return;
  }
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

void ItemRoom::provide(Items& items, size_t count, size_t most_spare) {
  const auto too_large = [&](const Items& room) {
    return room.capacity() / 4 > std::max(count, kShared);
  };
  if (items.capacity() >= count && !too_large(items)) {
    return;
  }
  Items other;
  if (count >= kShared) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(spare_.begin(), spare_.end(), [&](const Items& room) {
      return room.capacity() >= count && !too_large(room);
    });
    if (found != spare_.end()) {
      spare_items_ -= found->capacity();
      other = std::move(*found);
      spare_.erase(found);
    }
  }
  if (other.capacity() == 0 && !too_large(items)) {
    items.grow(std::max(count, 2 * items.capacity()));
    return;
  }
  if (other.capacity() == 0) {
    other.grow(count);
  }
  other.assign(items);
  std::swap(items, other);
  const std::lock_guard lock(mutex_);
  if (other.capacity() < kShared || spare_items_ + other.capacity() > most_spare) {
    return;
  }
  spare_items_ += other.capacity();
  spare_.push_back(std::move(other));
}

Result<TraceStream> TraceStream::open(const std::string& directory, const Sites& sites) {
  auto files = VPROF_TRY(open_traces(directory));
  TraceStream stream(sites);
  for (TraceFile& file : files) {
    stream.add_file(std::move(file));
  }
  std::make_heap(stream.pieces_.begin(), stream.pieces_.end(), Piece::earlier);
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
  if (header.overwritten != 0) {
    losses_.notes.push_back(fmt::format(
        "process {}: {} older records were overwritten, as the trace keeps the last of each thread",
        header.pid, header.overwritten));
  }
  if (const std::string names = left_out_classes(header.classes); !names.empty()) {
    losses_.notes.push_back(
        fmt::format("process {}: waits of some kinds were left out: {}", header.pid, names));
  }
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
    thread.items.grow(1);
    thread.items.fence();
    for (const Chunk& chunk : chunks.chunks) {
      if (!chunk.thread_name.empty()) {
        thread.name = chunk.thread_name;
      }
    }
    clocks_.push_back(clock);
    file_of_.push_back(file.file);
    preempted_.emplace_back();
    order_pieces(chunks.chunks, index, clock);
  }
  file.threads.clear();
  files_.push_back(std::move(file));
}

void TraceStream::order_pieces(const std::vector<Chunk>& chunks, uint32_t thread,
                               const Clock& clock) {
  int64_t newest = INT64_MIN;
  const File& file = *file_of_[thread];
  const bool helper = window_.threads[thread].serial == 0;
  for (size_t i = 0; i < chunks.size(); ++i) {
    const Chunk& chunk = chunks[i];
    const int64_t older = newest;
    // The next chunk's first record is not older than this one's last, and on the page that its
    // header was read from.
    int64_t end = INT64_MIN;
    if (helper) {
      end = latest_end(file, chunk.slots, clock);
    } else if (i + 1 < chunks.size() && has_first(chunks[i + 1])) {
      end = clock.to_ns(end_ticks_of(chunks[i + 1].first));
    } else {
      SlotFinder finder(file, chunk.slots);
      end = last_end(finder, chunk.slots.count, clock);
    }
    newest = std::max(newest, end);
    pieces_.push_back({chunk.slots, thread, static_cast<uint32_t>(i), newest, older, false});
  }
}

bool TraceStream::Piece::earlier(const Piece& a, const Piece& b) {
  // Equal ends: by thread, so that the order is always the same. Those of one thread stay in
  // theirs.
  return std::tie(a.last_end, a.thread, a.index) < std::tie(b.last_end, b.thread, b.index);
}

/// Takes the newest `most` slots, or a few more, of the piece that ended last. What is left of it
/// is put back.
TraceStream::Piece TraceStream::take_piece(size_t most) {
  std::pop_heap(pieces_.begin(), pieces_.end(), Piece::earlier);
  Piece piece = pieces_.back();
  pieces_.pop_back();
  if (window_.threads[piece.thread].serial == 0) {
    return piece;
  }
  const File& file = *file_of_[piece.thread];
  if (!piece.begun) {
    piece.slots = used(file, piece.slots);
  }
  if (piece.slots.count <= most) {
    return piece;
  }
  SlotFinder finder(file, piece.slots);
  size_t begin = piece.slots.count - most;
  while (begin != 0 && !is_head(finder.at(begin))) {
    --begin;
  }
  if (begin == 0) {
    return piece;
  }
  Piece rest = piece;
  rest.begun = true;
  rest.slots = piece.slots.first(begin);
  piece.slots = piece.slots.from(begin);
  // A signal handler's record may stand one before its time.
  const Clock& clock = clocks_[piece.thread];
  const int64_t first_end = clock.to_ns(end_ticks_of(finder.at(begin)));
  const int64_t end = std::max(first_end, last_end(finder, begin, clock));
  rest.last_end = std::clamp(end, rest.older_end, piece.last_end);
  pieces_.push_back(rest);
  std::push_heap(pieces_.begin(), pieces_.end(), Piece::earlier);
  return piece;
}

bool TraceStream::next(int64_t time, uint64_t records, Crew& crew) {
  if (pieces_.empty()) {
    return false;
  }
  wanted_ = std::max({records, needed_, kWindowPerThread * window_.threads.size()});
  const size_t part = std::clamp<size_t>(wanted_ / 32, kLeastPart, kMostPart);
  std::vector<std::vector<Slots>> newest_first(window_.threads.size());
  for (uint64_t slots = 0; !pieces_.empty() && slots < wanted_;) {
    const Piece piece = take_piece(part);
    slots += piece.slots.count;
    newest_first[piece.thread].push_back(piece.slots);
  }
  complete_after_ = pieces_.empty() ? INT64_MIN : pieces_.front().last_end;
  read_helpers(newest_first);
  std::atomic<uint64_t> needed{0};
  std::atomic<uint64_t> added{0};
  crew.each(newest_first.size(), [&](size_t thread, unsigned) {
    const Amount amount = read(static_cast<uint32_t>(thread), newest_first[thread], time);
    needed += amount.needed;
    added += amount.added;
  });
  needed_ = needed;
  added_ = added;
  return true;
}

/// What the helper threads have recorded for others, before those are read.
void TraceStream::read_helpers(const std::vector<std::vector<Slots>>& newest_first) {
  std::vector<vprof_slot> slots;
  for (uint32_t index = 0; index < newest_first.size(); ++index) {
    Thread& helper = window_.threads[index];
    if (helper.serial != 0 || newest_first[index].empty()) {
      continue;
    }
    for (const Slots part : newest_first[index]) {
      helper.items.grow(part.count + 1);
      helper.counts.missing_bytes += read_slots(*file_of_[index], part, slots);
      decode(slots, window_.processes[helper.process], known_, clocks_[index], helper);
      helper.items.resize(0);  // of damage
      helper.items.fence();
      helper.nesting = {};
    }
    std::vector<uint32_t> changed;
    for (const Preemption& preemption : helper.preemptions) {
      const auto whom = std::partition_point(window_.threads.begin(), window_.threads.end(),
                                             [&](const Thread& thread) {
                                               return std::tie(thread.process, thread.serial) <
                                                      std::tie(helper.process, preemption.serial);
                                             });
      if (whom == window_.threads.end() || whom->process != helper.process ||
          whom->serial != preemption.serial || preemption.serial == 0) {
        continue;
      }
      changed.push_back(static_cast<uint32_t>(whom - window_.threads.begin()));
      preempted_[changed.back()].push_back(preemption);
    }
    helper.preemptions.clear();
    std::sort(changed.begin(), changed.end());
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    for (const uint32_t thread : changed) {
      std::stable_sort(preempted_[thread].begin(), preempted_[thread].end(), ends_earlier);
    }
  }
}

/// Adds what is new in the window to what is still needed of the last one.
TraceStream::Amount TraceStream::read(uint32_t index, const std::vector<Slots>& newest_first,
                                      int64_t before) {
  Thread& thread = window_.threads[index];
  if (thread.serial == 0) {
    return {};
  }
  const bool more = !newest_first.empty();
  const auto releases = keep_events(thread.releases, before, more);
  const auto marks = keep_events(thread.marks, INT64_MAX, more);
  const auto enqueues = keep_events(thread.enqueues, before, more);
  const auto dequeues = keep_events(thread.dequeues, before, more);
  std::erase_if(thread.segments, [&](const Segment& s) { return s.start >= before; });
  std::vector<Preemption>& preempted = preempted_[index];
  size_t most = preempted.size();
  for (const Slots part : newest_first) {
    most += part.count;
  }
  const uint64_t needed = thread.forget(before, most);
  room_->provide(thread.items, thread.items.size() + most + 1, 2 * wanted_);
  const size_t first = thread.items.size();
  std::vector<vprof_slot> slots;
  for (const Slots part : newest_first) {
    thread.counts.missing_bytes += read_slots(*file_of_[index], part, slots);
    decode(slots, window_.processes[thread.process], known_, clocks_[index], thread);
  }
  // Read of the helper thread, perhaps long before what they lie in: then they wait for that.
  const int64_t oldest = std::min(thread.nesting.oldest_end, complete_after_);
  const auto due =
      std::partition_point(preempted.begin(), preempted.end(),
                           [&](const Preemption& preemption) { return preemption.end <= oldest; });
  thread.settle(first, {due, preempted.end()});
  thread.items.fence();
  preempted.erase(due, preempted.end());
  order_events(thread.releases, releases);
  order_events(thread.marks, marks);
  order_events(thread.enqueues, enqueues);
  order_events(thread.dequeues, dequeues);
  for (Release& release : thread.releases) {
    release.thread = index;
  }
  return {needed, thread.items.size() - first};
}

void TraceStream::add_losses(Losses& losses, Overhead& overhead) const {
  losses = losses_;
  overhead = overhead_;
  uint64_t dropped = 0;
  uint64_t unknown = 0;
  uint64_t clipped = 0;
  for (const Thread& thread : window_.threads) {
    overhead.records += thread.counts.records;
    overhead.threads += thread.counts.records != 0 ? 1 : 0;
    losses.torn += thread.counts.torn;
    dropped += thread.counts.dropped;
    unknown += thread.counts.unknown;
    clipped += thread.counts.clipped;
    losses.unreadable_bytes += thread.counts.missing_bytes;
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
