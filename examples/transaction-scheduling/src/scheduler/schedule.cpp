#include "scheduler/schedule.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace smf {

void Schedule::enqueue(TicketId id, Prediction prediction, std::vector<TicketId>& begun) {
  if (!prediction.has_hot_keys()) {
    begun.push_back(id);
    return;
  }
  const uint64_t group = arrivals_++ / std::max(rules_.barrier, 1u);
  queue_.push_back({id, std::move(prediction), group, {}});
  fill(begun);
}

void Schedule::end(TicketId id, std::vector<TicketId>& begun) {
  if (std::erase_if(in_flight_, [id](const Transaction& t) { return t.id == id; }) == 0) {
    return;  // it had no hot keys
  }
  for (Transaction& transaction : in_flight_) {
    if (std::erase(transaction.after, id) > 0 && transaction.after.empty()) {
      begun.push_back(transaction.id);
    }
  }
  fill(begun);
}

void Schedule::fill(std::vector<TicketId>& begun) {
  while (!queue_.empty() && in_flight_.size() < std::max(rules_.room, 1u)) {
    const auto chosen = queue_.begin() + static_cast<std::ptrdiff_t>(choose());
    Transaction transaction = std::move(*chosen);
    queue_.erase(chosen);
    append(std::move(transaction), begun);
  }
}

// Of a sample of those before the first barrier, the one with the least makespan. The paper takes
// any of several that are equal. But the makespan of the transactions in flight is that of the
// longest one, so most candidates are equal, also such as would wait: of these, the one that
// conflicts delay least, and then any.
size_t Schedule::choose() {
  const uint64_t group = queue_.front().group;
  const auto barrier = std::ranges::find_if(queue_, [&](auto& t) { return t.group != group; });
  const auto before_barrier = static_cast<size_t>(barrier - queue_.begin());
  if (rules_.sample <= 1 || before_barrier == 1) {
    return 0;
  }
  Makespan makespan(rules_.span);
  for (const Transaction& transaction : in_flight_) {
    makespan.append(transaction.prediction);
  }
  std::vector<size_t> candidates(before_barrier);
  for (size_t i = 0; i < before_barrier; ++i) {
    candidates[i] = i;
  }
  const size_t drawn = std::min<size_t>(rules_.sample, before_barrier);
  size_t best = 0;
  std::pair<uint64_t, uint64_t> least{};
  for (size_t i = 0; i < drawn; ++i) {
    // The sample is in random order, so the first of equal ones is any of them.
    std::swap(candidates[i], candidates[i + random_() % (before_barrier - i)]);
    const Placement placement = makespan.place(queue_[candidates[i]].prediction);
    const std::pair cost{std::max(placement.end, makespan.units()), placement.delay};
    if (i == 0 || cost < least) {
      std::tie(best, least) = std::pair{candidates[i], cost};
    }
  }
  return best;
}

void Schedule::append(Transaction transaction, std::vector<TicketId>& begun) {
  if (rules_.hold) {
    for (const Transaction& earlier : in_flight_) {
      if (conflict(earlier.prediction, transaction.prediction)) {
        transaction.after.push_back(earlier.id);
      }
    }
  }
  if (transaction.after.empty()) {
    begun.push_back(transaction.id);
  }
  in_flight_.push_back(std::move(transaction));
}

}  // namespace smf
