// Which pages are in memory, and which of them is to go next: the least recently used.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "workloads/workload.h"

namespace lab {

struct PoolSettings {
  int pages = 0;  // that fit into memory, 98 % of those that there are; 0: no pool
  bool lazy = false;
  int clean_us = 0;
  int read_us = 0;
};

// What a thread keeps for the pool.
struct PoolThread {
  Random random;
  std::vector<uint32_t> backlog;  // pages to be made young later
};

class BufferPool {
 public:
  explicit BufferPool(const PoolSettings& settings);

  // The page that holds the object, and one of an index.
  void access(ObjectId object, PoolThread& thread);

  // Writes the oldest pages to the disk, so that others can take their place, again and again.
  // Holds the LRU list meanwhile, as InnoDB's page cleaner does. For a thread of its own, until
  // stop().
  void clean(Random random);
  void stop() { stopped_ = true; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Page {
    std::atomic<bool> resident{false};
    std::atomic<uint64_t> moved{0};  // when it was made young, in moves of all pages
    // Its neighbours in the LRU list, from the youngest to the oldest.
    uint32_t younger = kNone;
    uint32_t older = kNone;
  };

  void touch(uint32_t page, PoolThread& thread);
  bool is_old(const Page& page) const;

  void make_young(uint32_t page);
  void make_young_lazily(uint32_t page, PoolThread& thread);
  bool try_lock_lru();
  void lock_lru();
  void load(uint32_t page, PoolThread& thread);

  // Under the LRU mutex.
  void move_to_front(uint32_t page);
  void unlink(uint32_t page);
  void link_first(uint32_t page);
  void evict_oldest();

  PoolSettings settings_;
  std::vector<Page> pages_;
  std::atomic<uint64_t> moves_{0};
  std::mutex lru_mutex_;
  uint32_t youngest_ = kNone;
  uint32_t oldest_ = kNone;
  int resident_ = 0;
  std::atomic<bool> stopped_{false};
};

}  // namespace lab
