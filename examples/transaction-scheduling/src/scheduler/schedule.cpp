#include "scheduler/schedule.h"

#include <algorithm>
#include <utility>

namespace smf {

void Schedule::Keys::add(const Prediction& prediction) {
  for (const Operation& operation : prediction.operations) {
    Count& count = counts_[operation.key];
    ++(operation.access == Access::kRead ? count.reads : count.writes);
  }
}

void Schedule::Keys::remove(const Prediction& prediction) {
  for (const Operation& operation : prediction.operations) {
    const auto found = counts_.find(operation.key);
    Count& count = found->second;
    --(operation.access == Access::kRead ? count.reads : count.writes);
    if (count.reads + count.writes == 0) {
      counts_.erase(found);
    }
  }
}

bool Schedule::Keys::conflicts_with(const Prediction& prediction) const {
  return std::ranges::any_of(prediction.operations, [this](const Operation& operation) {
    const auto found = counts_.find(operation.key);
    return found != counts_.end() &&
           (operation.access == Access::kWrite || found->second.writes > 0);
  });
}

void Schedule::enqueue(TicketId id, Prediction prediction, std::vector<TicketId>& begun) {
  if (rules_.snapshot_readers && !prediction.writes()) {
    prediction.operations.clear();
  }
  queue_.push_back({id, std::move(prediction)});
  fill(begun);
}

void Schedule::end(TicketId id, std::vector<TicketId>& begun) {
  const auto ended = std::ranges::find(in_flight_, id, &Transaction::id);
  keys_in_flight_.remove(ended->prediction);
  in_flight_.erase(ended);
  fill(begun);
}

void Schedule::fill(std::vector<TicketId>& begun) {
  while (!queue_.empty() && in_flight_.size() < std::max(rules_.room, 1u)) {
    const std::optional<size_t> chosen = choose();
    if (!chosen) {
      return;
    }
    const auto next = queue_.begin() + static_cast<std::ptrdiff_t>(*chosen);
    std::for_each(queue_.begin(), next, [next](Transaction& earlier) {
      ++earlier.overtaken;
      earlier.in_conflict += conflict(earlier.prediction, next->prediction) ? 1 : 0;
    });
    begun.push_back(next->id);
    keys_in_flight_.add(next->prediction);
    in_flight_.push_back(std::move(*next));
    queue_.erase(next);
  }
}

std::optional<size_t> Schedule::choose() {
  if (rules_.sample <= 1 && !rules_.hold) {
    return 0;
  }
  const auto may_begin = [&](const Transaction& transaction, const Keys& before_barrier) {
    return !before_barrier.conflicts_with(transaction.prediction) &&
           !(rules_.hold && keys_in_flight_.conflicts_with(transaction.prediction));
  };
  Keys before_barrier;
  for (size_t i = 0; i < queue_.size(); ++i) {
    if (queue_[i].overtaken >= rules_.barrier) {
      if (may_begin(queue_[i], before_barrier)) {
        return i;
      }
    }
    if (queue_[i].in_conflict >= rules_.barrier) {
      before_barrier.add(queue_[i].prediction);
    }
  }
  std::vector<size_t> candidates;
  for (size_t i = 0; i < queue_.size(); ++i) {
    if (!queue_[i].prediction.has_hot_keys()) {
      return i;
    }
    if (may_begin(queue_[i], before_barrier)) {
      candidates.push_back(i);
    }
  }
  return candidates.empty() ? std::nullopt : std::optional(best_of_sample(candidates));
}

// The paper takes any of the candidates whose makespan is least. But the makespan of the
// transactions in flight is that of the longest one, which makes many candidates equal, even
// those that would have to wait: of these, the one that conflicts delay least, and then any.
size_t Schedule::best_of_sample(std::vector<size_t>& candidates) {
  if (rules_.sample <= 1 || candidates.size() == 1) {
    return candidates.front();
  }
  Makespan makespan(rules_.span);
  for (const Transaction& transaction : in_flight_) {
    makespan.append(transaction.prediction);
  }
  size_t best = 0;
  std::pair<uint64_t, uint64_t> least{};
  for (size_t i = 0; i < std::min<size_t>(rules_.sample, candidates.size()); ++i) {
    // The sample is in random order, so the first of equal ones is any of them.
    std::swap(candidates[i], candidates[i + random_() % (candidates.size() - i)]);
    const Placement placement = makespan.place(queue_[candidates[i]].prediction);
    const std::pair cost{std::max(placement.end, makespan.units()), placement.delay};
    if (i == 0 || cost < least) {
      best = candidates[i];
      least = cost;
    }
  }
  return best;
}

}  // namespace smf
