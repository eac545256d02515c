#include "critical_path/condition_waits.h"

#include <algorithm>
#include <tuple>

#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {
namespace {

bool waits_for_conditions(const Thread& thread) {
  return std::any_of(thread.waits.begin(), thread.waits.end(),
                     [](const Wait& wait) { return wait.event == VPROF_EV_WAIT_COND; });
}

}  // namespace

std::vector<ConditionWaits::Sleeper> ConditionWaits::sleepers_of(const Window& window) {
  std::vector<Sleeper> all;
  for (uint32_t t = 0; t < window.threads.size(); ++t) {
    const Thread& thread = window.threads[t];
    if (!waits_for_conditions(thread)) {
      continue;
    }
    for (const Item& item : thread.items) {
      if (!item.is_wait()) {
        continue;
      }
      const uint32_t index = item.what & ~kWaitBit;
      const Wait& wait = thread.waits[index];
      if (wait.event != VPROF_EV_WAIT_COND || wait.timed_out) {
        continue;
      }
      all.push_back({wait.object, item.start, item.end, wait.sequence, t, index});
    }
  }
  std::sort(all.begin(), all.end(), [](const Sleeper& a, const Sleeper& b) {
    return std::tie(a.object, a.start, a.end, a.thread) <
           std::tie(b.object, b.start, b.end, b.thread);
  });
  return all;
}

// Which signal ended which condition wait? A signal wakes one sleeper, and each sleeper that
// returns was woken by one signal. Signals are processed in order of time. Each goes to the sleeper
// that returns first. If any assignment explains all returns, this one does.
//
//   time     ------------------------------------------------>
//   A         [ waits ............................ ] returns         signal 2, exact
//   B             [ waits ........... ] returns                      signal 1, exact: B was back
//   signals                     1           2                        before signal 2
//
// An edge is
//   exact      if nobody else was asleep, or the sleeper returned before the next signal, or the
//              signal was a broadcast;
//   inferred   otherwise: two wake-ups crossed, and either signal may have ended either wait.
//
// A wait that timed out has no waker. A signal ends nothing if all waiters are awake already and
// only wait for the mutex. (Taking the newest signal within the wait would blame whoever signalled
// last.)
void ConditionWaits::build(const Window& window, std::span<const SyncEvent> releases) {
  window_ = &window;
  waits_.resize(window.threads.size());
  for (uint32_t t = 0; t < waits_.size(); ++t) {
    waits_[t].assign(window.threads[t].waits.size(), {});
    find_turns(t);
  }
  const std::vector<Sleeper> sleepers = sleepers_of(window);
  for (auto first = sleepers.begin(); first != sleepers.end();) {
    const auto last = std::find_if(first, sleepers.end(), [&](const Sleeper& sleeper) {
      return sleeper.object != first->object;
    });
    const auto [begin, end] = std::equal_range(
        releases.begin(), releases.end(), SyncEvent{.object = first->object},
        [](const SyncEvent& a, const SyncEvent& b) { return a.object < b.object; });
    match({first, last}, {begin, end});
    first = last;
  }
}

/// Finds the last turn for each condition wait of a thread. The thread has held the mutex since the
/// wait before it if a wait says so.
void ConditionWaits::find_turns(uint32_t index) {
  const Thread& thread = window_->threads[index];
  if (!waits_for_conditions(thread)) {
    return;
  }
  const Wait* later = nullptr;
  uint32_t last = kNone;
  for (const Item& item : thread.items) {
    if (!item.is_wait()) {
      continue;
    }
    const uint32_t number = item.what & ~kWaitBit;
    const Wait& wait = thread.waits[number];
    if (wait.event != VPROF_EV_WAIT_COND) {
      continue;
    }
    if (later == nullptr || !later->again || later->object != wait.object) {
      last = number;
    }
    waits_[index][number].last_turn = last;
    later = &wait;
  }
}

/// Matches the signals of one condition variable to its waits, which come in order of their start.
void ConditionWaits::match(std::span<const Sleeper> sleepers, std::span<const SyncEvent> signals) {
  const auto returns_later = [](const Sleeper* a, const Sleeper* b) {
    return std::tie(a->end, a->thread, a->wait) > std::tie(b->end, b->thread, b->wait);
  };
  std::vector<const Sleeper*> asleep;  // a heap: the one that returns first is on top
  const auto pop = [&]() -> const Sleeper& {
    std::pop_heap(asleep.begin(), asleep.end(), returns_later);
    const Sleeper& first = *asleep.back();
    asleep.pop_back();
    return first;
  };
  size_t next = 0;
  for (auto signal = signals.begin(); signal != signals.end(); ++signal) {
    for (; next < sleepers.size() && sleepers[next].start < signal->time; ++next) {
      asleep.push_back(&sleepers[next]);
      std::push_heap(asleep.begin(), asleep.end(), returns_later);
    }
    while (!asleep.empty() && asleep.front()->end < signal->time) {
      pop();  // returned earlier, without a known signal
    }
    const auto wake = [&](bool exact) {
      const Sleeper& woken = pop();
      waits_[woken.thread][woken.wait].signal = {signal->thread, exact, signal->time};
    };
    if (signal->broadcast) {
      while (!asleep.empty()) {
        wake(true);
      }
    } else if (!asleep.empty()) {
      const bool alone = asleep.size() == 1;
      const bool last_chance =
          signal + 1 == signals.end() || (signal + 1)->time > asleep.front()->end;
      wake(alone || last_chance);
    }
  }
}

bool ConditionWaits::left_without_signal(uint32_t thread, uint32_t index) const {
  const std::vector<Wait>& waits = window_->threads[thread].waits;
  const uint32_t last = waits_[thread][index].last_turn;
  return waits[last].timed_out && (last != index || waits[index].again);
}

}  // namespace vprof::analyzer
