#include "trace/decode.h"

#include <algorithm>
#include <utility>

#include "vprof/support/text.h"

namespace vprof::analyzer {
namespace {

uint32_t release_kind(uint32_t wait_event) {
  switch (wait_event) {
    case VPROF_EV_WAIT_WRLOCK:
      return VPROF_EV_RELEASE_RWLOCK;
    case VPROF_EV_WAIT_POLL:
      return VPROF_EV_RELEASE_STREAM;
    case VPROF_EV_WAIT_OPENMP_LOCK:
      return VPROF_EV_RELEASE_MUTEX;
    case VPROF_EV_WAIT_ROOM:
      return VPROF_EV_RELEASE_SEND;
    default:
      return wait_event + (VPROF_EV_RELEASE_FIRST - VPROF_EV_WAIT_FIRST);
  }
}

/// Whether the end of the wait means that the thread has the object.
bool acquires(uint32_t wait_event) {
  const vprof_ended_by ended_by = vprof_wait_ended_by(wait_event);
  return ended_by == VPROF_ENDED_BY_HOLDER || ended_by == VPROF_ENDED_BY_POST;
}

bool is_acquisition(uint32_t id) {
  return id >= VPROF_EV_ACQUIRE_FIRST && id <= VPROF_EV_ACQUIRE_LAST;
}

bool is_release(uint32_t id) { return id >= VPROF_EV_RELEASE_FIRST && id <= VPROF_EV_RELEASE_LAST; }

/// Decodes slots of one thread, from the last to the first. It looks at every slot once, and counts
/// those it cannot use.
class Decoder {
 public:
  Decoder(Thread& thread, const Process& process, const KnownSites& sites, const Clock& clock)
      : thread_(thread), sites_(sites), clock_(clock) {
    process_scope_ = object_scope(process, thread.process, false);
    family_scope_ = object_scope(process, thread.process, true);
    all_count_ = thread.counted_from == INT64_MIN && thread.counted_to == INT64_MAX;
  }

  void decode(std::span<const vprof_slot> slots) {
    slots_ = slots.data();
    count_ = slots.size();
    while (count_ != 0 && slots_[count_ - 1].word1 == 0) {
      --count_;
    }
    size_t rest = 0;  // continuations after the next slot
    for (size_t at = count_; at > 0;) {
      if (frames(at)) {
        thread_.counts.torn += std::exchange(rest, 0);  // their head is lost: frames have none
        continue;
      }
      const vprof_slot head = slots_[--at];
      const uint32_t id = id_of(head);
      if (head.word1 != 0 && id == VPROF_EV_CONT) {
        ++rest;
        continue;
      }
      if (head.word1 == 0) {
        thread_.counts.torn += rest + 1;
      } else if (id < VPROF_EV_FIRST) {
        thread_.counts.torn += rest;
        frame(id, head.word0, payload_of(head));
      } else if (id != VPROF_EV_PAD) {
        at_ = at + 1;
        event(id, head);
      }
      rest = 0;
    }
    thread_.counts.torn += rest;
    thread_.nest();
  }

 private:
  bool counts(int64_t end) const { return end >= thread_.counted_from && end < thread_.counted_to; }

  void count(uint64_t end_ticks) {
    counted_ = all_count_ || counts(clock_.to_ns(end_ticks));
    ++thread_.counts.records;
    thread_.counts.elsewhere += counted_ ? 0 : 1;
  }

  /// Of the frames from item `first` on.
  void count_frames(uint32_t first) {
    const std::span<const Item> frames(thread_.items.begin() + first, thread_.items.end());
    thread_.counts.records += frames.size();
    if (!all_count_) {
      thread_.counts.elsewhere += static_cast<uint64_t>(
          std::ranges::count_if(frames, [&](const Item& item) { return !counts(item.end); }));
    }
  }

  /// The next continuation of the current head. False: it is missing.
  bool next(vprof_slot& slot) {
    if (at_ >= count_) {
      return false;
    }
    slot = slots_[at_];
    if (slot.word1 == 0 || id_of(slot) != VPROF_EV_CONT) {
      return false;
    }
    ++at_;
    return true;
  }

  /// Decodes the run of frames before `at`, and moves `at` before it. Most chunks consist of
  /// frames, so this is the hot loop of reading. False: there is no usable frame.
  bool frames(size_t& at) {
    const unsigned char* const known = sites_.flags();
    const uint32_t sites = sites_.size();
    Clock::Range clock = clock_.current();
    thread_.nest();
    Nester nester(thread_.nesting);
    const auto first = static_cast<uint32_t>(thread_.items.size());
    uint32_t index = first;
    Item* item = thread_.items.end();
    for (; at > 0; --at, ++index, ++item) {
      const vprof_slot slot = slots_[at - 1];
      const uint32_t site = id_of(slot);
      if (site >= sites || known[site] == 0 || slot.word1 == 0) {
        break;
      }
      const uint64_t begin = clock.offset_of(slot.word0);
      const uint64_t end = begin + payload_of(slot);
      if (!clock.contains(begin) || !clock.contains(end)) [[unlikely]] {
        clock = convert(slot, *item);
      } else {
        item->start = clock.to_ns(begin);
        item->end = clock.to_ns(end);
      }
      item->what = site;
      item->parent = nester.parent_of(index, item->start, item->end,
                                      [&](uint32_t later) { thread_.cut(later, item->end, site); });
    }
    nester.store(index);
    thread_.items.resize(index);
    count_frames(first);
    return index != first;
  }

  /// Converts the times of a frame that the current range of the clock does not contain. Returns a
  /// range that contains its start.
  [[gnu::noinline]] Clock::Range convert(vprof_slot slot, Item& item) {
    item.end = clock_.to_ns(saturated_sum(slot.word0, payload_of(slot)));
    item.start = clock_.to_ns(slot.word0);
    return clock_.current();
  }

  void frame(uint32_t site, uint64_t start, uint64_t duration) {
    count(saturated_sum(start, duration));
    if (!sites_.contains(site)) {
      ++thread_.counts.unknown;
      return;
    }
    add_item(start, duration, site);
  }

  void add_item(uint64_t start, uint64_t duration, uint32_t what) {
    const uint64_t end = saturated_sum(start, duration);
    thread_.items.append({clock_.to_ns(start), clock_.to_ns(end), what, kNone});
  }

  void event(uint32_t id, const vprof_slot& head) {
    if (id != VPROF_EV_LONG_FRAME) {
      count(end_ticks_of(head));
    }
    bool whole = true;
    if (is_wait(id)) {
      whole = wait(id, head);
    } else if (is_release(id)) {
      whole = release(id, head);
    } else if (is_acquisition(id)) {
      whole = acquisition(id, head);
    } else if (id == VPROF_EV_BEGIN || id == VPROF_EV_END || id == VPROF_EV_SWITCH) {
      whole = mark(id, head);
    } else if (id == VPROF_EV_LABEL || id == VPROF_EV_TRACE_CONTEXT) {
      whole = text(id, head);
    } else if (id == VPROF_EV_WORK) {
      whole = work(head);
    } else if (id == VPROF_EV_ENQUEUE || id == VPROF_EV_DEQUEUE) {
      whole = task(id, head);
    } else if (id == VPROF_EV_LONG_FRAME) {
      whole = long_frame(head);
    } else if (id == VPROF_EV_PREEMPTED) {
      whole = preempted(head);
    } else if (id == VPROF_EV_SETUP) {
      add_stretch(id, head);
    } else if (id == VPROF_EV_DROPPED) {
      thread_.counts.dropped += counted_ ? payload_of(head) : 0;
    } else if (id != VPROF_EV_CLOCK && id != VPROF_EV_THREAD_START && id != VPROF_EV_GAP) {
      ++thread_.counts.unknown;
    }
    if (!whole) {
      ++thread_.counts.torn;
    }
    for (vprof_slot rest{}; next(rest);) {  // words that a newer runtime added to the event
    }
  }

  static uint32_t sync_of(uint64_t aux) {
    return static_cast<uint32_t>((aux & 0xffffffff) >> VPROF_AUX_SYNC_SHIFT);
  }

  /// Only the configuration says whether an application's objects are shared.
  ObjectKey key(uint64_t address, uint64_t aux, uint32_t kind) const {
    const bool shared =
        kind == VPROF_EV_RELEASE_APP ? sites_.shares(sync_of(aux)) : (aux & VPROF_AUX_SHARED) != 0;
    return {shared ? family_scope_ : process_scope_, address, kind};
  }

  bool wait(uint32_t id, const vprof_slot& head) {
    thread_.counts.waits += counted_ ? 1 : 0;
    vprof_slot object{};
    vprof_slot sequence{};
    if (!next(object) || !next(sequence)) {
      return false;
    }
    const uint64_t aux = payload_of(object);
    if (thread_.waits.size() >= kWaitBit) {
      return true;
    }
    Wait wait{.object = key(object.word0, aux, release_kind(id)),
              .sequence = sequence.word0,
              .event = id,
              .sync = sync_of(aux),
              .timed_out = (aux & VPROF_AUX_TIMED_OUT) != 0,
              .again = (aux & VPROF_AUX_AGAIN) != 0};
    const int64_t end = clock_.to_ns(saturated_sum(head.word0, payload_of(head)));
    vprof_slot mutex{};
    if (id == VPROF_EV_WAIT_COND && next(mutex)) {
      wait.mutex = mutex.word0;
      wait.mutex_shared = (payload_of(mutex) & VPROF_AUX_SHARED) != 0;
      acquired(key(mutex.word0, payload_of(mutex), VPROF_EV_RELEASE_MUTEX), end, false);
    } else if (acquires(id) && !wait.timed_out) {
      acquired(wait.object, end, id == VPROF_EV_WAIT_RDLOCK);
    }
    if ((aux & VPROF_AUX_POLL) != 0) {
      thread_.polls.push_back({.start = clock_.to_ns(head.word0),
                               .time = end,
                               .limit = limit_of_poll(clock_.to_ns(head.word0), sequence),
                               .epoll = (aux & VPROF_AUX_EPOLL) != 0,
                               .one_ready = (aux & VPROF_AUX_ONE_READY) != 0,
                               .wait = wait});
    }
    thread_.waits.push_back(wait);
    add_item(head.word0, payload_of(head),
             kWaitBit | static_cast<uint32_t>(thread_.waits.size() - 1));
    return true;
  }

  /// When the time limit of a poll passes that began at `start`; `sequence` is its second
  /// continuation.
  static int64_t limit_of_poll(int64_t start, const vprof_slot& sequence) {
    const uint64_t limit = payload_of(sequence);
    if (limit == 0) {
      return kNoTime;
    }
    const int64_t length = static_cast<int64_t>(limit - 1) * 1000;
    const bool is_far = limit == VPROF_NO_LIMIT || start > INT64_MAX - length;  // or damaged
    return is_far ? INT64_MAX : start + length;
  }

  /// The end of a wait by which the thread got the object.
  void acquired(const ObjectKey& object, int64_t time, bool for_reading) {
    thread_.sync_events.push_back({.object = object,
                                   .time = time,
                                   .acquired = true,
                                   .after_wait = true,
                                   .for_reading = for_reading});
  }

  bool acquisition(uint32_t id, const vprof_slot& head) {
    vprof_slot object{};
    if (!next(object)) {
      return false;
    }
    const uint32_t kind = id - VPROF_EV_ACQUIRE_FIRST + VPROF_EV_RELEASE_FIRST;
    thread_.sync_events.push_back({.object = key(object.word0, payload_of(object), kind),
                                   .time = clock_.to_ns(head.word0),
                                   .acquired = true,
                                   .for_reading = payload_of(head) == 1});
    return true;
  }

  bool release(uint32_t id, const vprof_slot& head) {
    vprof_slot object{};
    vprof_slot sequence{};
    if (!next(object) || !next(sequence)) {
      return false;
    }
    thread_.sync_events.push_back(
        {.object = key(object.word0, payload_of(object), id),
         .sequence = sequence.word0,
         .time = clock_.to_ns(head.word0),
         .broadcast = id == VPROF_EV_RELEASE_COND && payload_of(head) == 1});
    return true;
  }

  bool mark(uint32_t id, const vprof_slot& head) {
    vprof_slot what{};
    if (!next(what)) {
      return false;
    }
    const bool local = (payload_of(head) & VPROF_INTERVAL_PROCESS_LOCAL) != 0;
    vprof_slot polled{};
    const bool polls = id != VPROF_EV_END && next(polled) && polled.word0 != 0;
    const uint64_t since = polls ? payload_of(polled) : 0;
    // Constructed in place: copying a struct stalls on store forwarding.
    thread_.marks.emplace_back(
        clock_.to_ns(head.word0), what.word0, local ? process_scope_ : 0, id,
        static_cast<uint32_t>(payload_of(what)), uint64_t{0},
        polls ? clock_.to_ns(polled.word0) : kNoTime, (since & ~VPROF_NO_BATCH) != 0,
        (since & VPROF_NO_BATCH) != 0, (payload_of(head) & VPROF_INTERVAL_COROUTINE) != 0,
        static_cast<uint32_t>(payload_of(head) >> VPROF_SUSPENSION_SHIFT) - 1);
    return true;
  }

  /// A LABEL or TRACE_CONTEXT.
  bool text(uint32_t id, const vprof_slot& head) {
    vprof_slot what{};
    if (!next(what)) {
      return false;
    }
    const uint64_t length = std::min<uint64_t>(payload_of(head), VPROF_LABEL_MAX);
    std::string text;
    while (text.size() < length) {
      vprof_slot part{};
      if (!next(part)) {
        return false;
      }
      for (int byte = 0; byte < 8 && text.size() < length; ++byte) {
        text.push_back(static_cast<char>(part.word0 >> (8 * byte)));
      }
    }
    const auto context = id == VPROF_EV_TRACE_CONTEXT ? parse_trace_context(text) : std::nullopt;
    text = printable(text);
    const bool local = (payload_of(what) & VPROF_INTERVAL_PROCESS_LOCAL) != 0;
    uint32_t index = 0;
    if (id == VPROF_EV_LABEL) {
      index = label_index(text);
    } else if (context) {
      index = static_cast<uint32_t>(thread_.trace_contexts.size());
      thread_.trace_contexts.push_back(*context);
    } else {
      ++thread_.malformed_contexts.count;
      thread_.malformed_contexts.example = text;
      return true;
    }
    thread_.marks.push_back({clock_.to_ns(head.word0), what.word0, local ? process_scope_ : 0, id,
                             index, 0, kNoTime, false});
    return true;
  }

  bool work(const vprof_slot& head) {
    vprof_slot what{};
    vprof_slot units{};
    if (!next(what) || !next(units)) {
      return false;
    }
    const bool local = (payload_of(head) & VPROF_INTERVAL_PROCESS_LOCAL) != 0;
    thread_.marks.push_back({clock_.to_ns(head.word0), what.word0, local ? process_scope_ : 0,
                             VPROF_EV_WORK, 0, units.word0, kNoTime, false});
    return true;
  }

  /// A thread has few labels, and they come in runs, so a linear search is fast.
  uint32_t label_index(const std::string& text) {
    const auto found = std::find(thread_.labels.begin(), thread_.labels.end(), text);
    if (found != thread_.labels.end()) {
      return static_cast<uint32_t>(found - thread_.labels.begin());
    }
    thread_.labels.push_back(text);
    return static_cast<uint32_t>(thread_.labels.size() - 1);
  }

  bool task(uint32_t id, const vprof_slot& head) {
    vprof_slot what{};
    if (!next(what)) {
      return false;
    }
    auto& list = id == VPROF_EV_ENQUEUE ? thread_.enqueues : thread_.dequeues;
    if (what.word0 != 0) {
      list.push_back(
          {clock_.to_ns(head.word0), what.word0, static_cast<uint32_t>(payload_of(head))});
    }
    return true;
  }

  bool preempted(const vprof_slot& head) {
    vprof_slot whom{};
    if (!next(whom)) {
      return false;
    }
    const auto serial = static_cast<uint32_t>(whom.word0);
    if (serial != thread_.serial) {
      const uint64_t end = saturated_sum(head.word0, payload_of(head));
      thread_.preemptions.push_back({serial, clock_.to_ns(head.word0), clock_.to_ns(end)});
    } else {
      thread_.counts.waits += counted_ ? 1 : 0;  // the thread has asked the kernel, as after a wait
      add_stretch(VPROF_EV_PREEMPTED, head);
    }
    return true;
  }

  /// A stretch that is no wait, but is stored like one.
  void add_stretch(uint32_t id, const vprof_slot& head) {
    if (thread_.waits.size() >= kWaitBit) {
      return;
    }
    thread_.waits.push_back({.event = id});
    add_item(head.word0, payload_of(head),
             kWaitBit | static_cast<uint32_t>(thread_.waits.size() - 1));
  }

  bool long_frame(const vprof_slot& head) {
    vprof_slot duration{};
    if (!next(duration)) {
      count(head.word0);
      return false;
    }
    frame(static_cast<uint32_t>(payload_of(head) & VPROF_ID_MASK), head.word0, duration.word0);
    return true;
  }

  Thread& thread_;
  const KnownSites& sites_;
  const Clock& clock_;
  bool all_count_ = true;
  bool counted_ = true;  // the present record
  uint64_t process_scope_ = 0;
  uint64_t family_scope_ = 0;
  const vprof_slot* slots_ = nullptr;
  size_t count_ = 0;
  size_t at_ = 0;
};

}  // namespace

Clock make_clock(const TraceFile& file, int64_t until) {
  const vprof_file_header& header = file.header;
  Clock clock(header.start_ticks, header.start_monotonic_ns, header.ticks_per_second);
  std::vector<vprof_slot> slots;
  for (const ThreadChunks& thread : file.threads) {
    if (thread.serial != 0) {
      break;  // only the helper thread writes snapshots
    }
    for (const Chunk& chunk : thread.chunks) {
      read_slots(*file.file, chunk.slots, slots);
      for (size_t i = 0; i + 1 < slots.size(); ++i) {
        const vprof_slot& head = slots[i];
        if (head.word1 == 0 || id_of(head) != VPROF_EV_CLOCK) {
          continue;
        }
        const vprof_slot& next = slots[i + 1];
        if (next.word1 != 0 && id_of(next) == VPROF_EV_CONT &&
            next.word0 <= static_cast<uint64_t>(until)) {
          clock.add_snapshot(head.word0, next.word0);
        }
      }
    }
  }
  return clock;
}

KnownSites::KnownSites(const Sites& sites)
    : known_(std::min<size_t>(sites.sites.size(), VPROF_EV_FIRST)), shared_(sites.shared_sync) {
  for (uint32_t i = 0; i < known_.size(); ++i) {
    known_[i] = sites.defines(i) ? 1 : 0;
  }
}

void decode(std::span<const vprof_slot> slots, const Process& process, const KnownSites& sites,
            const Clock& clock, Thread& thread) {
  Decoder(thread, process, sites, clock).decode(slots);
}

}  // namespace vprof::analyzer
