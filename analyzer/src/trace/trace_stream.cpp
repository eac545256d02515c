#include "trace/trace_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <utility>

namespace vprof::analyzer {
namespace {

/// Limits of the number of slots taken from a chunk at a time. A window consists of many parts, so
/// that it covers about the same stretch of time of each thread.
constexpr size_t kMaxPartSlots = 4096;
constexpr size_t kMinPartSlots = 64;
/// Least size of a window in slots per thread: makes up for the cost of visiting all threads.
constexpr uint64_t kWindowPerThread = 64;

/// Part of the records that overlap without nesting, from which on it is no damage.
constexpr double kManyClipped = 1e-3;

/// The slots without the unwritten ones at their end.
Slots used(const File& file, Slots slots) {
  BackwardSlotReader reader(file, slots);
  size_t count = slots.count;
  while (count != 0 && reader.at(count - 1).word1 == 0) {
    --count;
  }
  return slots.first(count);
}

/// The first slot of a chunk begins a record, unless it is torn.
bool has_first(const Chunk& chunk) { return chunk.first.word1 != 0; }

/// The latest end of a record of the helper thread. They are in no order, as it records several
/// threads in turn.
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

/// The end of the last record that begins before slot `before`.
int64_t last_end(BackwardSlotReader& reader, size_t before, const Clock& clock) {
  for (size_t i = before; i-- > 0;) {
    const vprof_slot& slot = reader.at(i);
    if (is_head(slot) && id_of(slot) != VPROF_EV_PAD) {
      return clock.to_ns(end_ticks_of(slot));
    }
  }
  return INT64_MIN;
}

/// Whether an event began before an instant.
template <class Event>
bool began_before(const Event& event, int64_t time) {
  return event.time < time;
}
bool began_before(const Poll& poll, int64_t time) { return poll.start < time; }

/// Empties `events`, and returns those before an instant. `more`: others will follow.
template <class Event>
std::vector<Event> keep_events(std::vector<Event>& events, int64_t before, bool more) {
  std::vector<Event> kept;
  std::copy_if(events.begin(), events.end(), std::back_inserter(kept),
               [&](const Event& event) { return began_before(event, before); });
  events.clear();
  if (!more) {
    events.shrink_to_fit();
  }
  return kept;
}

/// Puts events in order of time: those just read, from the last to the first, and those kept.
template <class Event>
void order_events(std::vector<Event>& events, const std::vector<Event>& kept) {
  std::reverse(events.begin(), events.end());
  events.insert(events.end(), kept.begin(), kept.end());
  sort_by_time(events);
}

bool ends_earlier(const Preemption& a, const Preemption& b) { return a.end < b.end; }

}  // namespace

Result<TraceStream> TraceStream::open(const std::string& directory, const Sites& sites,
                                      const Epoch& epoch) {
  auto files = VPROF_TRY(open_traces(directory));
  TraceStream stream(sites, epoch);
  for (TraceFile& file : files) {
    stream.add_file(std::move(file));
  }
  std::make_heap(stream.unread_.begin(), stream.unread_.end(), Unread::ends_earlier);
  return stream;
}

void TraceStream::add_file(TraceFile file) {
  const vprof_file_header& header = file.header;
  const auto process = static_cast<uint32_t>(window_.processes.size());
  window_.processes.push_back(
      {header.family, header.pid,
       std::string(header.program, strnlen(header.program, sizeof header.program))});
  losses_.unreadable_bytes += file.unreadable_bytes;
  const Clock clock = make_clock(file, epoch_.until);
  if (epoch_.is_all()) {
    losses_.dropped += header.dropped;
  } else {
    keep_chunks_of(epoch_, clock, file);
  }
  overhead_.chunks += header.chunks;
  overhead_.stalls += header.stalls;
  loss_notes_.add(header, epoch_.is_all());
  const double ticks_per_second =
      header.ticks_per_second == 0 ? 1e9 : static_cast<double>(header.ticks_per_second);
  const double cost = static_cast<double>(header.record_ticks_x256) / 256 * 1e9 / ticks_per_second;
  overhead_.record_ns = std::max(overhead_.record_ns, cost);
  const double helper_ns = overhead_.helper_ns;
  add_busy_time(file, clock, epoch_.recorded_since, overhead_);
  // If a program starts processes all the time, what starting their recording took may be most of
  // what a slice costs. Of a process that ran before, the header's figures are not the epoch's.
  if (!epoch_.contains(clock.to_ns(header.start_ticks))) {
    overhead_.helper_ns = helper_ns;
  }
  begin_ = std::min(begin_, clock.to_ns(header.start_ticks));
  run_ = std::min(run_, static_cast<int64_t>(header.start_realtime_ns));
  for (const ThreadChunks& chunks : file.threads) {
    const auto index = static_cast<uint32_t>(window_.threads.size());
    Thread& thread = window_.threads.emplace_back();
    thread.process = process;
    thread.serial = chunks.serial;
    thread.counted_from = epoch_.from;
    thread.counted_to = epoch_.by_end ? epoch_.to : epoch_.until;
    thread.items.grow(1);
    thread.items.fence();
    for (const Chunk& chunk : chunks.chunks) {
      if (!chunk.thread_name.empty()) {
        thread.name = chunk.thread_name;
      }
      thread.tid = chunk.tid;
    }
    clocks_.push_back(clock);
    file_of_.push_back(file.file);
    preempted_.emplace_back();
    add_chunks(chunks.chunks, index, clock);
  }
  file.threads.clear();
  files_.push_back(std::move(file));
}

void TraceStream::add_chunks(const std::vector<Chunk>& chunks, uint32_t thread,
                             const Clock& clock) {
  int64_t newest = INT64_MIN;
  const File& file = *file_of_[thread];
  const bool helper = window_.threads[thread].serial == 0;
  for (size_t i = 0; i < chunks.size(); ++i) {
    const Chunk& chunk = chunks[i];
    const int64_t older = newest;
    // The first record of the next chunk ended no earlier than the last one of this chunk, and is
    // in memory already.
    int64_t end = INT64_MIN;
    if (helper) {
      end = latest_end(file, chunk.slots, clock);
    } else if (i + 1 < chunks.size() && has_first(chunks[i + 1])) {
      end = clock.to_ns(end_ticks_of(chunks[i + 1].first));
    } else {
      BackwardSlotReader reader(file, chunk.slots);
      end = last_end(reader, chunk.slots.count, clock);
    }
    newest = std::max(newest, end);
    unread_.push_back({chunk.slots, thread, static_cast<uint32_t>(i), newest, older, false});
  }
}

bool TraceStream::Unread::ends_earlier(const Unread& a, const Unread& b) {
  // Ties are broken by thread and chunk, so that the order is deterministic.
  return std::tie(a.last_end, a.thread, a.index) < std::tie(b.last_end, b.thread, b.index);
}

/// Takes the newest `most` slots, or a few more, of the chunk that ended last. The rest of it stays
/// unread.
TraceStream::Unread TraceStream::take_newest(size_t most) {
  std::pop_heap(unread_.begin(), unread_.end(), Unread::ends_earlier);
  Unread part = unread_.back();
  unread_.pop_back();
  if (window_.threads[part.thread].serial == 0) {
    return part;
  }
  const File& file = *file_of_[part.thread];
  if (!part.partly_read) {
    part.slots = used(file, part.slots);
  }
  if (part.slots.count <= most) {
    return part;
  }
  BackwardSlotReader reader(file, part.slots);
  size_t begin = part.slots.count - most;
  while (begin != 0 && !is_head(reader.at(begin))) {
    --begin;
  }
  if (begin == 0) {
    return part;
  }
  Unread rest = part;
  rest.partly_read = true;
  rest.slots = part.slots.first(begin);
  part.slots = part.slots.from(begin);
  // A signal handler's record may come one slot early.
  const Clock& clock = clocks_[part.thread];
  const int64_t first_end = clock.to_ns(end_ticks_of(reader.at(begin)));
  const int64_t end = std::max(first_end, last_end(reader, begin, clock));
  rest.last_end = std::clamp(end, rest.older_end, part.last_end);
  unread_.push_back(rest);
  std::push_heap(unread_.begin(), unread_.end(), Unread::ends_earlier);
  return part;
}

bool TraceStream::next(int64_t time, uint64_t records, WorkerPool& pool) {
  if (unread_.empty()) {
    return false;
  }
  wanted_ = std::max({records, needed_, kWindowPerThread * window_.threads.size()});
  const size_t part_size = std::clamp<size_t>(wanted_ / 32, kMinPartSlots, kMaxPartSlots);
  std::vector<std::vector<Slots>> newest_first(window_.threads.size());
  for (uint64_t slots = 0; !unread_.empty() && slots < wanted_;) {
    const Unread part = take_newest(part_size);
    slots += part.slots.count;
    newest_first[part.thread].push_back(part.slots);
  }
  complete_after_ = unread_.empty() ? INT64_MIN : unread_.front().last_end;
  read_helpers(newest_first);
  std::atomic<uint64_t> needed{0};
  std::atomic<uint64_t> added{0};
  pool.each(newest_first.size(), [&](size_t thread, unsigned) {
    const Amount amount = read(static_cast<uint32_t>(thread), newest_first[thread], time);
    needed += amount.needed;
    added += amount.added;
  });
  needed_ = needed;
  added_ = added;
  return true;
}

/// Reads what the helper threads recorded for other threads. Must come before those are read.
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
      helper.items.resize(0);  // items of a helper come from damage
      helper.items.fence();
      helper.nesting = {};
    }
    deliver_preemptions(helper);
  }
}

/// Moves what a helper thread recorded to the threads that it is about.
void TraceStream::deliver_preemptions(Thread& helper) {
  std::vector<Thread>& threads = window_.threads;
  std::vector<uint32_t> changed;
  for (const Preemption& preemption : helper.preemptions) {
    const auto whom =
        std::partition_point(threads.begin(), threads.end(), [&](const Thread& thread) {
          return std::tie(thread.process, thread.serial) <
                 std::tie(helper.process, preemption.serial);
        });
    if (whom == threads.end() || whom->process != helper.process ||
        whom->serial != preemption.serial || preemption.serial == 0) {
      continue;
    }
    changed.push_back(static_cast<uint32_t>(whom - threads.begin()));
    preempted_[changed.back()].push_back(preemption);
  }
  helper.preemptions.clear();
  std::sort(changed.begin(), changed.end());
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  for (const uint32_t thread : changed) {
    std::stable_sort(preempted_[thread].begin(), preempted_[thread].end(), ends_earlier);
  }
}

/// Adds the new slots of a thread to what is still needed of the previous window.
TraceStream::Amount TraceStream::read(uint32_t index, const std::vector<Slots>& newest_first,
                                      int64_t before) {
  Thread& thread = window_.threads[index];
  if (thread.serial == 0) {
    return {};
  }
  const bool more = !newest_first.empty();
  const auto sync_events = keep_events(thread.sync_events, before, more);
  const auto marks = keep_events(thread.marks, INT64_MAX, more);
  const auto enqueues = keep_events(thread.enqueues, before, more);
  const auto dequeues = keep_events(thread.dequeues, before, more);
  const auto polls = keep_events(thread.polls, before, more);
  for (std::vector<Segment>& of_kind : thread.segments) {
    std::erase_if(of_kind, [&](const Segment& s) { return s.start >= before; });
  }
  std::vector<Preemption>& preempted = preempted_[index];
  size_t most = preempted.size();
  for (const Slots part : newest_first) {
    most += part.count;
  }
  const uint64_t needed = thread.forget(before, most);
  item_pool_->reserve(thread.items, thread.items.size() + most + 1, 2 * wanted_);
  const size_t first = thread.items.size();
  std::vector<vprof_slot> slots;
  for (const Slots part : newest_first) {
    thread.counts.missing_bytes += read_slots(*file_of_[index], part, slots);
    decode(slots, window_.processes[thread.process], known_, clocks_[index], thread);
  }
  // Preemptions may be read long before the items around them. Those wait for a later window.
  const int64_t oldest = std::min(thread.nesting.oldest_end, complete_after_);
  const auto due =
      std::partition_point(preempted.begin(), preempted.end(),
                           [&](const Preemption& preemption) { return preemption.end <= oldest; });
  thread.sort_and_merge(first, {due, preempted.end()});
  thread.items.fence();
  preempted.erase(due, preempted.end());
  order_events(thread.sync_events, sync_events);
  order_events(thread.marks, marks);
  order_events(thread.enqueues, enqueues);
  order_events(thread.dequeues, dequeues);
  order_events(thread.polls, polls);
  for (SyncEvent& event : thread.sync_events) {
    event.thread = index;
  }
  return {needed, thread.items.size() - first};
}

void TraceStream::add_losses(Losses& losses, Overhead& overhead) const {
  losses = losses_;
  losses.notes = loss_notes_.text();
  overhead = overhead_;
  if (!epoch_.is_all()) {
    overhead.processor_ns = overhead.process_ns = epoch_.processor_ns;
  }
  uint64_t all = 0;
  uint64_t dropped = 0;
  uint64_t unknown = 0;
  uint64_t clipped = 0;
  for (const Thread& thread : window_.threads) {
    const uint64_t records = thread.counts.records - thread.counts.elsewhere;
    all += thread.counts.records;
    overhead.records += records;
    overhead.waits += thread.counts.waits;
    overhead.threads += records != 0 ? 1 : 0;
    losses.torn += thread.counts.torn;
    dropped += thread.counts.dropped;
    unknown += thread.counts.unknown;
    clipped += thread.counts.clipped;
    losses.unreadable_bytes += thread.counts.missing_bytes;
  }
  if (all != 0) {  // as if calls had been made as evenly as records
    const double part = static_cast<double>(overhead.records) / static_cast<double>(all);
    overhead.calls_ns *= part;
    overhead.timed_calls = static_cast<uint64_t>(part * static_cast<double>(overhead.timed_calls));
  }
  // The counter in the header is at least the sum of the events, unless the header is damaged.
  losses.dropped = std::max(losses.dropped, dropped);
  overhead.dropped = losses.dropped;
  // Of an epoch, those are of sites that were on before it.
  if (unknown != 0 && epoch_.is_all()) {
    losses.notes.push_back(fmt::format(
        "{} records of sites or events that are unknown: does sites.json belong to this run?",
        unknown));
  }
  if (clipped != 0) {
    const bool many = static_cast<double>(clipped) >= kManyClipped * static_cast<double>(all);
    losses.notes.push_back(
        fmt::format("{} records overlapped without nesting and were cut{}", clipped,
                    many ? ": threads seem to switch stacks (fibers, `swapcontext`), which is not "
                           "followed, so time may be in the wrong functions"
                         : ""));
  }
}

}  // namespace vprof::analyzer
