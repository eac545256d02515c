#include "store/timestamp_order.h"

#include <algorithm>

namespace smf {

namespace {

// Not by address, so that a simulation is the same each time.
struct ById {
  bool operator()(const Attempt* a, const Attempt* b) const { return a->id < b->id; }
};

}  // namespace

struct TimestampOrder::State : AttemptState {
  Timestamp timestamp = 0;
  bool read_only = false;
  bool doomed = false;
  std::set<Attempt*, ById> waits_for;  // uncommitted transactions whose writes it has read
  std::set<Attempt*, ById> read_by;    // transactions that have read its writes
  std::set<std::string> written;
  std::set<std::string> touched;
  rocksdb::WriteBatch batch;
};

struct TimestampOrder::Version {
  Timestamp timestamp = 0;
  std::optional<Value> value;
  Attempt* writer = nullptr;  // null: committed
  Timestamp newest_reader = 0;
};

// In memory as long as a transaction in flight may be older than its newest reader or writer.
struct TimestampOrder::Row {
  std::vector<Version> versions;
  Timestamp newest = 0;  // reader or writer
  uint32_t users = 0;    // attempts that have touched it and have not ended
  bool to_be_forgotten = false;
};

TimestampOrder::TimestampOrder(const StoreOptions& options)
    : versions_(options), clock_(versions_.recovered_clock()) {}

TimestampOrder::~TimestampOrder() = default;

TimestampOrder::State& TimestampOrder::state_of(const Attempt& attempt) {
  return static_cast<State&>(*attempt.state);
}

Timestamp TimestampOrder::timestamp_of(const Attempt& attempt) {
  return state_of(attempt).timestamp;
}

bool TimestampOrder::is_doomed(const Attempt& attempt) { return state_of(attempt).doomed; }

void TimestampOrder::begin(Attempt& attempt) {
  auto state = std::make_unique<State>();
  state->read_only = attempt.read_only;
  if (attempt.read_only) {
    state->timestamp = writers_.empty() ? clock_ : *writers_.begin() - 1;
    readers_.insert(state->timestamp);
  } else {
    state->timestamp = ++clock_;
    writers_.insert(state->timestamp);
  }
  attempt.state = std::move(state);
}

// The oldest timestamp at which a transaction in flight, or one that begins later, may read.
Timestamp TimestampOrder::horizon() const {
  const Timestamp of_writers = writers_.empty() ? clock_ : *writers_.begin() - 1;
  return readers_.empty() ? of_writers : std::min(of_writers, *readers_.begin());
}

// A row that is not in memory has no uncommitted version, and no version newer than the horizon:
// the newest one is all that anybody can see.
TimestampOrder::Row& TimestampOrder::row_of(State& state, const std::string& key) {
  Row& row = rows_[key];
  if (row.versions.empty()) {
    const StoredVersion stored = versions_.newest(key);
    row.versions.push_back({stored.timestamp, stored.value, nullptr, 0});
    row.newest = stored.timestamp;
  }
  row.newest = std::max(row.newest, state.timestamp);
  if (state.touched.insert(key).second) {
    ++row.users;
  }
  return row;
}

size_t TimestampOrder::visible_to(const Row& row, Timestamp timestamp) {
  const auto after = std::ranges::upper_bound(row.versions, timestamp, {}, &Version::timestamp);
  return static_cast<size_t>(after - row.versions.begin()) - 1;
}

Outcome TimestampOrder::read(Attempt& attempt, const std::string& key, bool,
                             std::optional<Value>& value) {
  State& state = state_of(attempt);
  if (state.doomed) {
    return Outcome::kAbort;
  }
  Row& row = row_of(state, key);
  Version& version = row.versions[visible_to(row, state.timestamp)];
  if (version.writer != &attempt) {
    version.newest_reader = std::max(version.newest_reader, state.timestamp);
  }
  if (version.writer != nullptr && version.writer != &attempt) {
    state.waits_for.insert(version.writer);
    state_of(*version.writer).read_by.insert(&attempt);
  }
  value = version.value;
  return Outcome::kDone;
}

Outcome TimestampOrder::write(Attempt& attempt, const std::string& key, const Value& value) {
  State& state = state_of(attempt);
  if (state.doomed) {
    return Outcome::kAbort;
  }
  Row& row = row_of(state, key);
  const size_t before = visible_to(row, state.timestamp);
  Version& version = row.versions[before];
  if (version.newest_reader > state.timestamp) {
    return Outcome::kAbort;
  }
  if (version.writer == &attempt) {
    version.value = value;
    return Outcome::kDone;
  }
  state.written.insert(key);
  row.versions.insert(row.versions.begin() + static_cast<std::ptrdiff_t>(before) + 1,
                      {state.timestamp, value, &attempt, 0});
  return Outcome::kDone;
}

// Once it has nobody to wait for, nothing can abort it any more. Versions of its rows that a newer
// one hides, as it is not newer than the horizon, go with the same batch.
Outcome TimestampOrder::prepare(Attempt& attempt) {
  State& state = state_of(attempt);
  if (state.doomed) {
    return Outcome::kAbort;
  }
  if (!state.waits_for.empty()) {
    return Outcome::kWait;
  }
  const Timestamp oldest = horizon();
  for (const std::string& key : state.written) {
    Row& row = rows_.at(key);
    size_t hidden = 0;
    while (hidden + 1 < row.versions.size() && row.versions[hidden].writer == nullptr &&
           row.versions[hidden + 1].writer == nullptr &&
           row.versions[hidden + 1].timestamp <= oldest) {
      if (row.versions[hidden].value) {
        Versions::remove(state.batch, key, row.versions[hidden].timestamp);
      }
      ++hidden;
    }
    row.versions.erase(row.versions.begin(),
                       row.versions.begin() + static_cast<std::ptrdiff_t>(hidden));
    const Version& own = row.versions[visible_to(row, state.timestamp)];
    Versions::put(state.batch, key, state.timestamp, *own.value);
  }
  return Outcome::kDone;
}

Outcome TimestampOrder::persist(Attempt& attempt) {
  versions_.write(state_of(attempt).batch);
  return Outcome::kDone;
}

void TimestampOrder::finish(Attempt& attempt) {
  State& state = state_of(attempt);
  for (const std::string& key : state.written) {
    Row& row = rows_.at(key);
    row.versions[visible_to(row, state.timestamp)].writer = nullptr;
  }
  for (Attempt* reader : state.read_by) {
    State& of_reader = state_of(*reader);
    of_reader.waits_for.erase(&attempt);
    if (of_reader.waits_for.empty()) {
      wake(reader);
    }
  }
  leave(state);
  attempt.state.reset();
}

void TimestampOrder::rollback(Attempt& attempt) {
  State& state = state_of(attempt);
  for (const std::string& key : state.written) {
    Row& row = rows_.at(key);
    row.versions.erase(row.versions.begin() +
                       static_cast<std::ptrdiff_t>(visible_to(row, state.timestamp)));
  }
  for (Attempt* writer : state.waits_for) {
    state_of(*writer).read_by.erase(&attempt);
  }
  for (Attempt* reader : state.read_by) {
    State& of_reader = state_of(*reader);
    of_reader.waits_for.erase(&attempt);
    of_reader.doomed = true;
    wake(reader);
  }
  leave(state);
  attempt.state.reset();
}

void TimestampOrder::leave(State& state) {
  if (state.read_only) {
    readers_.erase(readers_.find(state.timestamp));
  } else {
    writers_.erase(state.timestamp);
  }
  for (const std::string& key : state.touched) {
    Row& row = rows_.at(key);
    if (--row.users == 0 && !row.to_be_forgotten) {
      row.to_be_forgotten = true;
      to_forget_.push_back(key);
    }
  }
  forget_rows();
}

// A row may go once nobody is left who has to know its readers or its older versions. The first row
// that has to stay keeps those behind it: they are looked at when it goes.
void TimestampOrder::forget_rows() {
  const Timestamp oldest = horizon();
  for (; !to_forget_.empty(); to_forget_.pop_front()) {
    const auto found = rows_.find(to_forget_.front());
    Row& row = found->second;
    if (row.users > 0) {
      row.to_be_forgotten = false;
    } else if (row.newest <= oldest) {
      rows_.erase(found);
    } else {
      return;
    }
  }
}

}  // namespace smf
