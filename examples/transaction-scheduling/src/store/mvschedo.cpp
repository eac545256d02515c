// MVSchedO, section 4.2: timestamp ordering whose timestamps are the places in the schedule, and
// which enforces that order on hot keys.
//
// What aborts a transaction under MVTSO is that a newer one has read what it is about to write. So
// a read waits until all writes of older transactions that are expected on the key have run, or
// their transactions have ended. Nothing else waits: a write disturbs neither older reads, which
// see the version before it, nor older writes. (The paper has operations wait for all conflicting
// ones; that delays these for nothing.)
#include "store/controls.h"
#include "store/hot_key_queues.h"
#include "store/timestamp_order.h"

namespace smf {

namespace {

class MvSchedO : public TimestampOrder {
 public:
  using TimestampOrder::TimestampOrder;

  void begin(Attempt& attempt) override {
    TimestampOrder::begin(attempt);
    if (!attempt.read_only) {
      queues_.expect(timestamp_of(attempt), attempt.expected);
    }
  }

  Outcome read(Attempt& attempt, const std::string& key, bool for_update,
               std::optional<Value>& value) override {
    if (!attempt.read_only && !is_doomed(attempt) &&
        queues_.must_wait(&attempt, timestamp_of(attempt), hot_key_id(key))) {
      return Outcome::kWait;
    }
    return TimestampOrder::read(attempt, key, for_update, value);
  }

  Outcome write(Attempt& attempt, const std::string& key, const Value& value) override {
    const Outcome outcome = TimestampOrder::write(attempt, key, value);
    if (outcome == Outcome::kDone) {
      std::vector<Attempt*> woken;
      queues_.write_has_run(timestamp_of(attempt), hot_key_id(key), woken);
      wake_all(woken);
    }
    return outcome;
  }

  void finish(Attempt& attempt) override {
    leave(attempt);
    TimestampOrder::finish(attempt);
  }

  void rollback(Attempt& attempt) override {
    leave(attempt);
    TimestampOrder::rollback(attempt);
  }

 private:
  void leave(Attempt& attempt) {
    if (attempt.read_only) {
      return;
    }
    std::vector<Attempt*> woken;
    queues_.leave(timestamp_of(attempt), attempt.expected, woken);
    wake_all(woken);
  }

  void wake_all(const std::vector<Attempt*>& woken) {
    for (Attempt* attempt : woken) {
      wake(attempt);
    }
  }

  HotKeyQueues queues_;
};

}  // namespace

std::unique_ptr<ConcurrencyControl> make_mvschedo(const StoreOptions& options) {
  return std::make_unique<MvSchedO>(options);
}

}  // namespace smf
