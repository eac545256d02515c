#include "critical_path/condition_waits.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {
namespace {

bool waits_for_conditions(const Thread& thread) {
  return std::any_of(thread.waits.begin(), thread.waits.end(),
                     [](const Wait& wait) { return wait.event == VPROF_EV_WAIT_COND; });
}

/// How often the broadcasts of one thread were followed by the end of a loop.
struct Success {
  int64_t ended = 0;
  int64_t all = 0;
};

/// Whether `a` ended loops more often than `b`.
bool is_better(const Success& a, const Success& b) { return a.ended * b.all > b.ended * a.all; }

/// More signals than this between a wake-up and the return of the sleeper are not looked at.
constexpr ptrdiff_t kMostAlternatives = 64;

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
//              signal was a broadcast and the only one until the sleeper returned;
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

/// Finds the other turns for each condition wait of a thread. The thread has held the mutex since
/// the wait before it if a wait says so. A loop may also give the mutex up between a time limit and
/// its next turn.
void ConditionWaits::find_turns(uint32_t index) {
  const Thread& thread = window_->threads[index];
  if (!waits_for_conditions(thread)) {
    return;
  }
  const Item* later = nullptr;
  uint32_t next = kNone;
  for (const Item& item : thread.items) {
    if (!item.is_wait()) {
      continue;
    }
    const uint32_t number = item.what & ~kWaitBit;
    const Wait& wait = thread.waits[number];
    if (wait.event != VPROF_EV_WAIT_COND) {
      continue;
    }
    Known& known = waits_[index][number];
    known.start = item.start;
    known.last_turn = number;
    if (later != nullptr && thread.waits[next].object == wait.object &&
        (thread.waits[next].again || thread.is_made_again(item, *later))) {
      known.last_turn = waits_[index][next].last_turn;
      known.next_turn = next;
      waits_[index][next].turn_before = number;
    }
    later = &item;
    next = number;
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
  std::vector<Woken> woken_together;
  const auto followers = [&](auto signal, int64_t end) {
    auto last = signal + 1;
    while (last != signals.end() && last->time <= end && last - signal <= kMostAlternatives) {
      ++last;
    }
    return std::span(signal, last);
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
        woken_together.push_back({asleep.front(), followers(signal, asleep.front()->end)});
        wake(true);
      }
    } else if (!asleep.empty()) {
      const bool alone = asleep.size() == 1;
      const bool last_chance =
          signal + 1 == signals.end() || (signal + 1)->time > asleep.front()->end;
      wake(alone || last_chance);
    }
  }
  choose_among(woken_together);
}

/// One condition may stand for many resources. Then a broadcast wakes waiters for whom nothing has
/// changed, and while such a waiter is on its way, another thread may give it what it waits for.
/// That thread's broadcast wakes nobody, and yet it is why the loop is left.
///
///   waiter       [ waits ........ | woken, on its way ....... ] leaves its loop
///   signals                       A               B
///
/// The trace does not say whether A or B did it, so the edge is inferred. The one whose broadcasts
/// are more often followed by the end of a loop did, as far as that is known; else the first.
void ConditionWaits::choose_among(std::span<const Woken> woken) {
  const auto is_known = [](const Woken& one) {
    return std::ranges::all_of(one.signals, [&](const SyncEvent& signal) {
      return signal.thread == one.signals.front().thread || signal.thread == one.sleeper->thread;
    });
  };
  std::unordered_map<uint32_t, Success> successes;
  for (const Woken& one : woken) {
    if (is_known(one)) {
      Success& success = successes[one.signals.front().thread];
      ++success.all;
      success.ended += waits_[one.sleeper->thread][one.sleeper->wait].next_turn == kNone ? 1 : 0;
    }
  }
  for (const Woken& one : woken) {
    if (is_known(one)) {
      continue;
    }
    const SyncEvent* best = &one.signals.front();
    for (const SyncEvent& signal : one.signals) {
      if (signal.thread != one.sleeper->thread &&
          is_better(successes[signal.thread], successes[best->thread])) {
        best = &signal;
      }
    }
    waits_[one.sleeper->thread][one.sleeper->wait].signal = {best->thread, false, best->time};
  }
}

/// A thread may do under the mutex what others wait for, and wait for its next turn without giving
/// it up. Turns from then on did not keep them waiting.
uint32_t ConditionWaits::last_turn(uint32_t thread, uint32_t wait, int64_t before) const {
  const std::vector<Known>& known = waits_[thread];
  uint32_t turn = known[wait].last_turn;
  if (known[turn].start < before) {
    return turn;
  }
  turn = wait;
  for (uint32_t next = known[turn].next_turn; next != kNone && known[next].start < before;) {
    turn = next;
    next = known[turn].next_turn;
  }
  return turn;
}

bool ConditionWaits::left_without_signal(uint32_t thread, uint32_t wait, int64_t after,
                                         int64_t before) const {
  const uint32_t last = last_turn(thread, wait, before);
  const uint32_t earlier = waits_[thread][wait].turn_before;
  const bool several = last != wait || (earlier != kNone && waits_[thread][earlier].start >= after);
  return several && window_->threads[thread].waits[last].timed_out;
}

}  // namespace vprof::analyzer
