// What hLDSF knows of the future: how long transactions of a type run on average once they have
// been granted a lock (section 4.7.3).
#pragma once

#include <algorithm>
#include <vector>

#include "locks/lock.h"

namespace lab {

class RemainingTimes {
 public:
  // For each lock that it had waited for, the transaction took from then until now.
  void finished(const Transaction& transaction, Nanoseconds now) {
    if (transaction.grants_after_waiting == 0) {
      return;
    }
    const auto type = static_cast<size_t>(transaction.type);
    if (type >= sums_.size()) {
      sums_.resize(type + 1);
    }
    for (Sum* sum : {&sums_[type], &all_}) {
      sum->time +=
          static_cast<double>(transaction.grants_after_waiting * now - transaction.sum_of_grants);
      sum->count += static_cast<double>(transaction.grants_after_waiting);
    }
  }

  // E[R] of the type in ns; of all types while nothing is known of this one; 1 before the first.
  double expected(int type) const {
    const auto index = static_cast<size_t>(type);
    const Sum& sum = index < sums_.size() && sums_[index].count > 0 ? sums_[index] : all_;
    return sum.count > 0 ? std::max(sum.time / sum.count, 1.0) : 1.0;
  }

 private:
  struct Sum {
    double time = 0;
    double count = 0;
  };
  std::vector<Sum> sums_;
  Sum all_;
};

}  // namespace lab
