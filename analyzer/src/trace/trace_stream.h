// A trace directory as a sequence of windows, from its end to its beginning.
//
//   thread 1   [ chunk ][ chunk ][ chunk ][ chunk ]
//   thread 2        [  chunk  ][  chunk  ][ chunk ]
//                                <--------- read --
//                                ^ complete_after(): every record that ended later has been read
//
// Why backwards: a frame is recorded when it is left, so the records of a window in the middle do
// not show the frames around them. Backwards, outer frames come before the frames inside them.
// Critical paths are walked backwards too. Records that no interval needs any more are dropped
// (Thread::forget).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trace/decode.h"
#include "trace/frame_history.h"
#include "trace/item_array.h"
#include "trace/loss_notes.h"
#include "trace/trace_file.h"
#include "trace/worker_pool.h"

namespace vprof::analyzer {

class TraceStream {
 public:
  /// Opens all files and orders their chunks. Errors are those of open_traces().
  /// Of an epoch, only what its intervals need is read.
  static Result<TraceStream> open(const std::string& directory, const Sites& sites,
                                  const Epoch& epoch = {});

  /// Drops what matters only at or after `time`, then reads about `records` more slots. It reads at
  /// least as many as were kept, so that reading everything takes linear time. False: there was
  /// nothing left to read.
  bool next(int64_t time, uint64_t records, WorkerPool& pool);

  /// Whether `next()` could read anything that the epoch needs.
  bool needs_more() const { return !unread_.empty() && complete_after_ >= epoch_.from; }

  /// Every record that ended after this instant has been read. INT64_MIN: the whole trace has.
  int64_t complete_after() const { return complete_after_; }

  Window& window() { return window_; }
  /// Number of items: those that intervals may still need, and the new ones.
  uint64_t size() const { return needed_ + added_; }
  /// Begin of the recording, which is that of its oldest file.
  int64_t begin() const { return begin_; }
  /// The same in ns of CLOCK_REALTIME, which identifies the recording.
  int64_t run() const { return run_; }

  /// Whether an interval that began at `time` falls into the first `skip_ns`. With skip_ns 0 none
  /// does, not even one that began shortly before the recording.
  bool skips(int64_t time, int64_t skip_ns) const { return skip_ns > 0 && time - begin_ < skip_ns; }

  /// Sums over everything read so far.
  void add_losses(Losses& losses, Overhead& overhead) const;

 private:
  /// The unread part of a chunk.
  struct Unread {
    Slots slots;
    uint32_t thread;
    uint32_t index;     // of the chunk in its thread
    int64_t last_end;   // no record here, or in older chunks of the thread, ended later
    int64_t older_end;  // the same for older chunks only
    bool partly_read;

    static bool ends_earlier(const Unread& a, const Unread& b);
  };

  /// Numbers of items of a thread: kept from the previous window, and new.
  struct Amount {
    uint64_t needed = 0;
    uint64_t added = 0;
  };

  void add_file(TraceFile file);
  void add_chunks(const std::vector<Chunk>& chunks, uint32_t thread, const Clock& clock);
  Unread take_newest(size_t most);
  Amount read(uint32_t thread, const std::vector<Slots>& newest_first, int64_t before);
  void deliver_preemptions(Thread& helper);
  void read_helpers(const std::vector<std::vector<Slots>>& newest_first);

  TraceStream(const Sites& sites, const Epoch& epoch) : known_(sites), epoch_(epoch) {}

  KnownSites known_;
  Epoch epoch_;
  std::vector<TraceFile> files_;
  std::vector<Clock> clocks_;                         // by thread, as a clock caches its last range
  std::vector<std::shared_ptr<const File>> file_of_;  // by thread
  std::vector<Unread> unread_;                        // a heap: the newest one is on top
  Window window_;
  // By thread: preemptions read from the helper thread but not merged yet, in order of their end.
  std::vector<std::vector<Preemption>> preempted_;
  int64_t complete_after_ = INT64_MAX;
  uint64_t needed_ = 0;  // items kept from the previous window
  uint64_t added_ = 0;   // new items
  uint64_t wanted_ = 0;  // slots to read for the window
  std::unique_ptr<ItemPool> item_pool_ = std::make_unique<ItemPool>();
  int64_t begin_ = INT64_MAX;
  int64_t run_ = INT64_MAX;
  Losses losses_;
  LossNotes loss_notes_;
  Overhead overhead_;
};

}  // namespace vprof::analyzer
