// The nesting of items, rebuilt as they are appended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/sites.h"

namespace vprof::analyzer {

/// The open items that the next one may lie in.
struct Nesting {
  struct Open {
    int64_t start = INT64_MIN;
    uint32_t index = kNone;
  };
  /// From the outermost to the innermost, after an entry that contains everything. Longer than
  /// needed.
  std::vector<Open> open = std::vector<Open>(16);
  size_t depth = 0;                ///< of the innermost one; 0: none is open
  size_t done = 0;                 ///< number of items that are nested
  int64_t oldest_end = INT64_MAX;  ///< of these items

  /// `oldest_end` once an item ended later than one before it.
  static constexpr int64_t kOutOfOrder = INT64_MIN;
};

/// Nests one item after the other in a loop. It keeps the state of a Nesting in members, which the
/// compiler can hold in registers, until store().
class Nester {
 public:
  explicit Nester(Nesting& nesting)
      : nesting_(nesting),
        top_(nesting.open.data() + nesting.depth),
        last_(nesting.open.data() + nesting.open.size() - 1),
        oldest_end_(nesting.oldest_end) {}

  /// The parent of item `index`; kNone from the first item out of order on. Calls cut(i) for each
  /// item i, which ended later, that must begin at `end` to lie beside this one.
  template <class Cut>
  [[gnu::always_inline]] uint32_t parent_of(uint32_t index, int64_t start, int64_t end,
                                            const Cut& cut) {
    if (end > oldest_end_) [[unlikely]] {
      oldest_end_ = Nesting::kOutOfOrder;
      return kNone;
    }
    oldest_end_ = end;
    const Nesting::Open* const inner = top_;
    while (top_->start > start) {
      --top_;
    }
    // Among the open items that do not contain it, the outermost begins first.
    if (top_ != inner && top_[1].start < end) [[unlikely]] {
      for (const Nesting::Open* open = top_ + 1; open <= inner && open->start < end; ++open) {
        cut(open->index);
      }
    }
    const uint32_t parent = top_->index;
    if (top_ == last_) [[unlikely]] {
      std::vector<Nesting::Open>& open = nesting_.open;
      const size_t depth = open.size() - 1;
      open.resize(2 * open.size());
      top_ = open.data() + depth;
      last_ = open.data() + open.size() - 1;
    }
    ++top_;
    top_->start = start;
    top_->index = index;
    return parent;
  }

  /// `done` is the number of items in all.
  void store(size_t done) const {
    nesting_.depth = static_cast<size_t>(top_ - nesting_.open.data());
    nesting_.oldest_end = oldest_end_;
    nesting_.done = done;
  }

 private:
  Nesting& nesting_;
  Nesting::Open* top_;
  Nesting::Open* last_;
  int64_t oldest_end_;
};

}  // namespace vprof::analyzer
