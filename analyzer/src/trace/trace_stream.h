// A trace directory as a sequence of windows, from its end to its beginning.
//
//   thread 1  ▕███████▏▕██████▏▕██████▏▕█████▏        chunks, oldest left
//   thread 2     ▕██████████▏▕███████████▏▕██▏
//                            ◀── read ────────
//                       ▲ complete_after(): everything that ended later has been read
//
// Why backwards: frames are recorded when they are left, so a window of the past does not tell
// which frames lay around it; read backwards, outer frames come before what they hold. It is also
// the order in which critical paths are walked. Only what intervals still need is kept (`forget`).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "trace/decode.h"
#include "trace/frame_history.h"
#include "trace/trace_file.h"
#include "trace/worker_pool.h"

namespace vprof::analyzer {

/// What one thread needed in the last window, another may need in the next: fresh memory costs more
/// than reading what is put into it.
class ItemRoom {
 public:
  /// Sees to it that `items` has room for `count` in all. What is left over is kept for others,
  /// `most_spare` items at most. Any thread.
  void provide(Items& items, size_t count, size_t most_spare);

 private:
  static constexpr size_t kShared = 4096;  // less has been made as quickly as found

  std::mutex mutex_;
  std::vector<Items> spare_;
  size_t spare_items_ = 0;
};

class TraceStream {
 public:
  /// Opens all files and orders their chunks. Error: one line, as of open_traces().
  static Result<TraceStream> open(const std::string& directory, const Sites& sites);

  /// Drops what only matters at or after `time`, then reads about `records` more slots (at least as
  /// many as were still needed of the last time, so that the whole takes linear time). False: there
  /// was nothing more to read.
  bool next(int64_t time, uint64_t records, Crew& crew);

  /// Everything that ended after this instant has been read. INT64_MIN: all of the trace has.
  int64_t complete_after() const { return complete_after_; }

  Window& window() { return window_; }
  /// Items that intervals may still need, and those that are new.
  uint64_t size() const { return needed_ + added_; }
  /// Begin of the recording: the oldest file's.
  int64_t begin() const { return begin_; }
  /// The same in ns of CLOCK_REALTIME: tells recordings apart.
  int64_t run() const { return run_; }

  /// Whether what began at `time` falls into the first `skip_ns`, which are left out. The first
  /// interval may have begun just before the recording did: nothing is left out if skip_ns is 0.
  bool skips(int64_t time, int64_t skip_ns) const { return skip_ns > 0 && time - begin_ < skip_ns; }

  /// Sums over all that has been read so far.
  void add_losses(Losses& losses, Overhead& overhead) const;

 private:
  /// A chunk, or what has not been read of it.
  struct Piece {
    Slots slots;
    uint32_t thread;
    uint32_t index;     // of the chunk among those of its thread
    int64_t last_end;   // nothing here, nor in older chunks of the thread, ended later
    int64_t older_end;  // the same of older chunks only
    bool begun;         // a part has been taken

    static bool earlier(const Piece& a, const Piece& b);
  };

  /// Items of a thread: of the window before, and of this one.
  struct Amount {
    uint64_t needed = 0;
    uint64_t added = 0;
  };

  void add_file(TraceFile file);
  void order_pieces(const std::vector<Chunk>& chunks, uint32_t thread, const Clock& clock);
  Piece take_piece(size_t most);
  Amount read(uint32_t thread, const std::vector<Slots>& newest_first, int64_t before);
  void read_helpers(const std::vector<std::vector<Slots>>& newest_first);

  explicit TraceStream(const Sites& sites) : known_(sites) {}

  KnownSites known_;
  std::vector<TraceFile> files_;
  std::vector<Clock> clocks_;  // by thread: a clock remembers where it was asked last
  std::vector<std::shared_ptr<const File>> file_of_;  // by thread
  std::vector<Piece> pieces_;                         // a heap: the next one to read is the first
  Window window_;
  // By thread: read of its helper, not yet its own; in order of their end.
  std::vector<std::vector<Preemption>> preempted_;
  int64_t complete_after_ = INT64_MAX;
  uint64_t needed_ = 0;  // items of the window before that the present one had to keep
  uint64_t added_ = 0;   // items
  uint64_t wanted_ = 0;  // slots of the window
  std::unique_ptr<ItemRoom> room_ = std::make_unique<ItemRoom>();
  int64_t begin_ = INT64_MAX;
  int64_t run_ = INT64_MAX;
  Losses losses_;
  Overhead overhead_;
};

}  // namespace vprof::analyzer
