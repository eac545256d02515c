// The locks of the simulator: what glibc does, and what the runtime records of it
// (runtime/src/interpose/).
#include <algorithm>
#include <stdexcept>

#include "simulator.h"

namespace vprof::test {
namespace {

void require(bool holds, const char* what) {
  if (!holds) {
    throw std::logic_error(what);
  }
}

}  // namespace

size_t Simulator::new_lock(Kind kind, uint64_t value) {
  Lock& made = locks_.emplace_back();
  made.kind = kind;
  made.address = 0x1000 + 0x40 * locks_.size();
  made.value = made.initially = value;
  return locks_.size() - 1;
}

void Simulator::skip(Thread& thread, uint64_t label) {
  while (thread.ops.back().what != Do::kLabel || thread.ops.back().value != label) {
    thread.ops.pop_back();
  }
}

/// Whether an operation has to wait for the next nanosecond, since another one on the same object
/// was in this one.
bool Simulator::must_come_later(size_t index, const Op& op) {
  const int64_t now = threads_[index].now;
  std::vector<size_t> touched;
  switch (op.what) {
    case Do::kLock:
    case Do::kUnlock:
    case Do::kPost:
    case Do::kTryAgain:
      touched = {op.value};
      break;
    case Do::kCheck:
    case Do::kGive:
    case Do::kSignal:
      touched = {resources_[op.value].mutex, resources_[op.value].condition};
      break;
    default:
      return false;
  }
  for (const size_t lock : touched) {
    if ((apart_ || locks_[lock].kind == Kind::kCondition) && locks_[lock].last == now) {
      return true;
    }
  }
  for (const size_t lock : touched) {
    locks_[lock].last = now;
  }
  return false;
}

// ---- getting

/// Takes the lock if it is free.
bool Simulator::get(size_t index, size_t number, How how) {
  Lock& lock = locks_[number];
  const int64_t now = threads_[index].now;
  if (lock.kind == Kind::kSem) {
    if (lock.value == 0) {
      return false;
    }
    --lock.value;
    lock.changes.push_back({now, index, -1});
    return true;
  }
  if (lock.kind == Kind::kRwlock) {
    if (lock.written || (how == How::kWrite && !lock.readers.empty())) {
      return false;
    }
    if (how == How::kWrite) {
      lock.written = true;
    } else {
      lock.readers.push_back(index);
      if (std::count(lock.readers.begin(), lock.readers.end(), index) > 1) {
        return true;  // it holds the lock already
      }
    }
  } else if (lock.word != Lock::Word::kFree) {
    return false;
  } else {
    lock.word = Lock::Word::kLocked;
  }
  lock.holds.push_back({index, how, now, kNever});
  return true;
}

void Simulator::got_at_once(size_t index, size_t number, How how) {
  Lock& lock = locks_[number];
  Thread& thread = threads_[index];
  const bool plain = lock.kind == Kind::kPlainMutex;
  if (plain && lock.mark == Mark::kNone) {
    require(lock.woken.empty() && lock.asleep.empty(), "an acquisition is not seen");
    return;
  }
  lock.mark = Mark::kNone;
  if (lock.count == 0 && (!plain || lock.returning == 0)) {
    return;
  }
  uint32_t event = VPROF_EV_ACQUIRE_MUTEX;
  switch (lock.kind) {
    case Kind::kSpin:
      event = VPROF_EV_ACQUIRE_SPIN;
      break;
    case Kind::kRwlock:
      event = VPROF_EV_ACQUIRE_RWLOCK;
      break;
    case Kind::kSem:
      event = VPROF_EV_ACQUIRE_SEM;
      break;
    default:
      lock.mark = plain ? Mark::kGotAhead : Mark::kNone;
      break;
  }
  const bool reads = lock.kind == Kind::kRwlock && how == How::kRead;
  thread.writer.acquire(event, {lock.address}, thread.now, reads ? 1 : 0);
}

void Simulator::lock(size_t index, const Op& op) {
  Thread& thread = threads_[index];
  Lock& lock = locks_[op.value];
  if (get(index, op.value, op.how)) {
    got_at_once(index, op.value, op.how);
    return;
  }
  if (op.label != 0) {
    skip(thread, op.label);
    return;
  }
  uint32_t event = VPROF_EV_WAIT_MUTEX;
  switch (lock.kind) {
    case Kind::kSpin:
      event = VPROF_EV_WAIT_SPIN;
      break;
    case Kind::kRwlock:
      event = op.how == How::kRead ? VPROF_EV_WAIT_RDLOCK : VPROF_EV_WAIT_WRLOCK;
      break;
    case Kind::kSem:
      event = VPROF_EV_WAIT_SEM;
      break;
    default:
      lock.word = Lock::Word::kContended;
      break;
  }
  ++lock.count;
  lock.asleep.push_back(index);
  thread.waiting = {.object = op.value, .how = op.how, .since = thread.now, .event = event};
  thread.blocked = true;
}

/// A woken thread tries again.
void Simulator::try_again(size_t index, size_t number) {
  Lock& lock = locks_[number];
  Thread& thread = threads_[index];
  lock.woken.erase(std::find(lock.woken.begin(), lock.woken.end(), index));
  const bool mutex = lock.kind == Kind::kPlainMutex || lock.kind == Kind::kOtherMutex;
  const bool got = get(index, number, thread.waiting.how);
  if (mutex) {
    lock.word = Lock::Word::kContended;  // others may sleep
  }
  thread.blocked = !got;
  if (!got) {
    lock.asleep.push_back(index);
    return;
  }
  if (mutex) {
    lock.mark = Mark::kNone;
  }
  end_wait(index);
}

void Simulator::end_wait(size_t index) {
  Thread& thread = threads_[index];
  const auto& waiting = thread.waiting;
  Lock& lock = locks_[waiting.object];
  if (waiting.event == VPROF_EV_WAIT_COND) {
    Lock& condition = locks_[waiting.condition];
    --condition.count;
    --lock.returning;
    thread.writer.condition_wait({condition.address, false, 0, waiting.again ? VPROF_AUX_AGAIN : 0},
                                 {lock.address}, waiting.since, thread.now, condition.sequence);
    lock.mark = lock.kind == Kind::kPlainMutex ? Mark::kReturned : Mark::kNone;
    thread.returned_with = waiting.object;
    thread.returned_from = waiting.condition;
    thread.turns.push_back(thread.waits.size());
  } else {
    --lock.count;
    thread.writer.wait(waiting.event, {lock.address}, waiting.since, thread.now, lock.sequence);
  }
  thread.waits.push_back({waiting.since,
                          thread.now,
                          waiting.event,
                          waiting.object,
                          {},
                          waiting.signaller,
                          waiting.signalled,
                          {}});
}

// ---- releasing

/// Takes the number of a release and records it.
void Simulator::record_release(size_t index, Lock& lock, uint32_t event, uint64_t payload) {
  threads_[index].writer.release(event, {lock.address}, threads_[index].now, ++lock.sequence,
                                 payload);
}

/// Wakes asleep[at]: it tries again later.
void Simulator::wake(size_t number, size_t at, int64_t now) {
  Lock& lock = locks_[number];
  const size_t woken = lock.asleep[at];
  lock.asleep.erase(lock.asleep.begin() + static_cast<std::ptrdiff_t>(at));
  lock.woken.push_back(woken);
  Thread& thread = threads_[woken];
  thread.now = now + 1 + static_cast<int64_t>(pick(pick(4) == 0 ? 40 : 6));
  thread.ops.push_back({Do::kTryAgain, number});
  thread.blocked = false;
}

/// The thread gives up a mutex: the release is recorded, and a sleeper is woken.
void Simulator::free_mutex(size_t index, size_t number) {
  Lock& lock = locks_[number];
  Thread& thread = threads_[index];
  const bool contended = lock.word == Lock::Word::kContended;
  const bool plain = lock.kind == Kind::kPlainMutex;
  const bool fast = plain && !contended && lock.mark == Mark::kNone;
  const bool got_ahead = lock.mark == Mark::kGotAhead;
  lock.mark = Mark::kNone;
  if (thread.returned_with == number) {
    thread.returned_with = thread.returned_from = kNobody;
  }
  if (!fast && (lock.count != 0 || ((contended || got_ahead) && lock.returning != 0))) {
    lock.mark = plain ? Mark::kWaitedFor : Mark::kNone;
    record_release(index, lock, VPROF_EV_RELEASE_MUTEX, 0);
  } else {
    require(lock.woken.empty() && lock.asleep.empty(), "a release is not seen");
  }
  lock.word = Lock::Word::kFree;
  lock.holds.back().to = thread.now;
  if (contended && !lock.asleep.empty()) {
    wake(number, 0, thread.now);
  }
}

void Simulator::unlock(size_t index, size_t number) {
  Lock& lock = locks_[number];
  const int64_t now = threads_[index].now;
  if (lock.kind == Kind::kPlainMutex || lock.kind == Kind::kOtherMutex) {
    free_mutex(index, number);
    return;
  }
  const bool rwlock = lock.kind == Kind::kRwlock;
  if (lock.count != 0) {
    record_release(index, lock, rwlock ? VPROF_EV_RELEASE_RWLOCK : VPROF_EV_RELEASE_SPIN, 0);
  }
  if (!lock.readers.empty()) {
    lock.readers.erase(std::find(lock.readers.begin(), lock.readers.end(), index));
  }
  lock.written = false;
  lock.word = Lock::Word::kFree;
  if (std::find(lock.readers.begin(), lock.readers.end(), index) == lock.readers.end()) {
    for (Hold& hold : lock.holds) {
      if (hold.thread == index && hold.to == kNever) {
        hold.to = now;
      }
    }
  }
  while (lock.readers.empty() && !lock.asleep.empty()) {
    wake(number, 0, now);
  }
}

void Simulator::post(size_t index, size_t number) {
  Lock& lock = locks_[number];
  const int64_t now = threads_[index].now;
  if (lock.count != 0) {
    record_release(index, lock, VPROF_EV_RELEASE_SEM, 0);
  }
  ++lock.value;
  lock.changes.push_back({now, index, 1});
  if (!lock.asleep.empty()) {
    wake(number, 0, now);
  }
}

// ---- conditions

/// One turn of `while (!predicate) wait`, with the mutex held.
void Simulator::check(size_t index, const Op& op) {
  Thread& thread = threads_[index];
  Resource& resource = resources_[op.value];
  if (!resource.free) {
    if (op.label == 0) {
      thread.ops.push_back(op);
      thread.ops.push_back({Do::kWork, pick(4)});
      wait_for_condition(index, resource);
    } else {
      skip(thread, op.label);
      thread.ops.push_back({Do::kUnlock, resource.mutex});
    }
    return;
  }
  resource.free = false;
  for (const size_t turn : thread.turns) {
    thread.waits[turn].turns = thread.turns;
  }
  thread.turns.clear();
}

void Simulator::wait_for_condition(size_t index, const Resource& resource) {
  Thread& thread = threads_[index];
  Lock& condition = locks_[resource.condition];
  const bool again =
      thread.returned_with == resource.mutex && thread.returned_from == resource.condition;
  require(again == !thread.turns.empty(), "the watch is wrong");
  free_mutex(index, resource.mutex);
  ++condition.count;
  ++locks_[resource.mutex].returning;
  condition.asleep.push_back(index);
  thread.waiting = {.object = resource.mutex,
                    .since = thread.now,
                    .event = VPROF_EV_WAIT_COND,
                    .condition = resource.condition,
                    .again = again};
  thread.blocked = true;
}

void Simulator::note_crossing(size_t index, const Resource& resource) {
  const Lock& mutex = locks_[resource.mutex];
  const auto woken_by_another = [&](size_t t) {
    const auto& waiting = threads_[t].waiting;
    return waiting.event == VPROF_EV_WAIT_COND && waiting.condition == resource.condition &&
           waiting.signaller != index;
  };
  crossed_broadcasts_ = crossed_broadcasts_ ||
                        std::ranges::any_of(mutex.asleep, woken_by_another) ||
                        std::ranges::any_of(mutex.woken, woken_by_another);
}

/// Wakes all who wait for the condition; of a resource with a guard there is only one. They try for
/// the mutex at once, which the signaller holds.
void Simulator::signal(size_t index, const Resource& resource) {
  Lock& condition = locks_[resource.condition];
  Lock& mutex = locks_[resource.mutex];
  if (condition.count != 0) {
    record_release(index, condition, VPROF_EV_RELEASE_COND, resource.guard == kNobody ? 1 : 0);
  }
  require(resource.guard == kNobody || condition.asleep.size() <= 1, "several wait for one signal");
  if (resource.guard == kNobody) {
    note_crossing(index, resource);
  }
  for (const size_t woken : condition.asleep) {
    threads_[woken].waiting.signaller = index;
    threads_[woken].waiting.signalled = threads_[index].now;
    mutex.asleep.push_back(woken);
    mutex.word = Lock::Word::kContended;
  }
  condition.asleep.clear();
}

}  // namespace vprof::test
