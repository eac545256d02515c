#include "engine/buffer_pool.h"

#include <chrono>

#include "engine/work.h"

namespace lab {

namespace {

// The cleaner rests this many times as long as it works.
constexpr int kCleanEvery = 4;

// Spreads objects over pages.
uint64_t hash(uint64_t key) {
  key = (key ^ (key >> 31)) * 0x7fb5d329728ea185;
  key = (key ^ (key >> 27)) * 0x81dadef4bc2dd44d;
  return key ^ (key >> 33);
}

}  // namespace

BufferPool::BufferPool(const PoolSettings& settings)
    : settings_(settings), pages_(static_cast<size_t>(settings.pages) * 50 / 49) {
  for (; resident_ < settings.pages; ++resident_) {  // it has been running for long
    const auto page = static_cast<uint32_t>(resident_);
    pages_[page].resident = true;
    link_first(page);
  }
}

void BufferPool::access(ObjectId object, PoolThread& thread) {
  if (pages_.empty()) {
    return;
  }
  touch(static_cast<uint32_t>(hash(object) % pages_.size()), thread);
  touch(static_cast<uint32_t>(hash(object) % (pages_.size() / 8 + 1)), thread);
}

void BufferPool::touch(uint32_t page, PoolThread& thread) {
  if (!pages_[page].resident) {
    load(page, thread);
  } else if (is_old(pages_[page])) {
    if (settings_.lazy) {
      make_young_lazily(page, thread);
    } else {
      make_young(page);
    }
  }
}

// In the old 3/8 of the list. Within the young part, the order is not kept (section 3.4.1).
bool BufferPool::is_old(const Page& page) const {
  return moves_ - page.moved > static_cast<uint64_t>(settings_.pages) * 5 / 8;
}

// Algorithm 4.
void BufferPool::make_young(uint32_t page) {
  lock_lru();
  move_to_front(page);
  lru_mutex_.unlock();
}

// Lazy LRU update: gives up after 10 us, and makes up for it when it next gets the lock.
void BufferPool::make_young_lazily(uint32_t page, PoolThread& thread) {
  if (!try_lock_lru()) {
    thread.backlog.push_back(page);
    return;
  }
  for (const uint32_t deferred : thread.backlog) {
    move_to_front(deferred);
  }
  thread.backlog.clear();
  move_to_front(page);
  lru_mutex_.unlock();
}

bool BufferPool::try_lock_lru() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(10);
  do {
    if (lru_mutex_.try_lock()) {
      return true;
    }
  } while (std::chrono::steady_clock::now() < until);
  return false;
}

void BufferPool::lock_lru() { lru_mutex_.lock(); }

void BufferPool::load(uint32_t page, PoolThread& thread) {
  lock_lru();
  if (pages_[page].resident) {  // another thread was faster
    move_to_front(page);
    lru_mutex_.unlock();
    return;
  }
  if (resident_ == settings_.pages) {
    evict_oldest();
  }
  pages_[page].resident = true;
  ++resident_;
  link_first(page);
  lru_mutex_.unlock();
  work(about(thread.random, settings_.read_us));
}

void BufferPool::evict_oldest() {
  const uint32_t page = oldest_;
  unlink(page);
  pages_[page].resident = false;
  --resident_;
}

void BufferPool::clean(Random random) {
  while (!pages_.empty() && !stopped_) {
    work(about(random, kCleanEvery * settings_.clean_us));
    lock_lru();
    work(about(random, settings_.clean_us));
    lru_mutex_.unlock();
  }
}

void BufferPool::move_to_front(uint32_t page) {
  if (pages_[page].resident) {  // it may have been evicted since
    unlink(page);
    link_first(page);
  }
}

void BufferPool::unlink(uint32_t page) {
  Page& gone = pages_[page];
  (gone.younger == kNone ? youngest_ : pages_[gone.younger].older) = gone.older;
  (gone.older == kNone ? oldest_ : pages_[gone.older].younger) = gone.younger;
}

void BufferPool::link_first(uint32_t page) {
  pages_[page].younger = kNone;
  pages_[page].older = youngest_;
  (youngest_ == kNone ? oldest_ : pages_[youngest_].younger) = page;
  youngest_ = page;
  pages_[page].moved = ++moves_;
}

}  // namespace lab
