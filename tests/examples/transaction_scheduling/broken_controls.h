// Concurrency controls that are not serializable, each in its own way, to test that the tests see
// it.
#pragma once

#include "store/concurrency_control.h"

namespace smf_test {

// Everything at once and in place, and a rollback that undoes nothing.
class NoControl : public smf::ConcurrencyControl {
 public:
  void begin(smf::Attempt&) override {}
  smf::Outcome read(smf::Attempt&, const std::string& key, bool,
                    std::optional<smf::Value>& value) override {
    const auto found = rows_.find(key);
    value = found == rows_.end() ? std::nullopt : std::optional(found->second);
    return smf::Outcome::kDone;
  }
  smf::Outcome write(smf::Attempt& attempt, const std::string& key,
                     const smf::Value& value) override {
    rows_[key] = value;
    std::vector<uint64_t>& writers = order_[key];
    std::erase(writers, attempt.id);
    writers.push_back(attempt.id);
    return smf::Outcome::kDone;
  }
  smf::Outcome prepare(smf::Attempt&) override { return smf::Outcome::kDone; }
  smf::Outcome persist(smf::Attempt& attempt) override {
    committed_.insert({attempt.id, true});
    return smf::Outcome::kDone;
  }
  void finish(smf::Attempt&) override {}
  void rollback(smf::Attempt&) override {}
  bool has_own_locks() const override { return false; }
  smf::VersionOrder version_order() override {
    smf::VersionOrder order = order_;
    for (auto& [key, writers] : order) {
      std::erase_if(writers, [this](uint64_t id) { return !committed_.contains(id); });
    }
    return order;
  }
  std::optional<smf::Value> committed(const std::string& key) override {
    const auto found = rows_.find(key);
    return found == rows_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<std::string, smf::Value> rows_;
  std::map<uint64_t, bool> committed_;
  smf::VersionOrder order_;
};

// Snapshot isolation: reads from the state at the begin, and the first of two writers of a row
// wins. Allows write skew and nothing worse.
class SnapshotIsolation : public smf::ConcurrencyControl {
 public:
  void begin(smf::Attempt& attempt) override {
    auto state = std::make_unique<State>();
    state->snapshot = committed_;
    attempt.state = std::move(state);
  }
  smf::Outcome read(smf::Attempt& attempt, const std::string& key, bool,
                    std::optional<smf::Value>& value) override {
    const State& state = state_of(attempt);
    const auto own = state.written.find(key);
    const auto found = state.snapshot.find(key);
    value = own != state.written.end()      ? std::optional(own->second)
            : found != state.snapshot.end() ? std::optional(found->second)
                                            : std::nullopt;
    return smf::Outcome::kDone;
  }
  smf::Outcome write(smf::Attempt& attempt, const std::string& key,
                     const smf::Value& value) override {
    state_of(attempt).written[key] = value;
    return smf::Outcome::kDone;
  }
  smf::Outcome prepare(smf::Attempt&) override { return smf::Outcome::kDone; }
  smf::Outcome persist(smf::Attempt& attempt) override {
    const State& state = state_of(attempt);
    for (const auto& [key, value] : state.written) {
      const auto then = state.snapshot.find(key);
      const auto now = committed_.find(key);
      if (now != committed_.end() &&
          (then == state.snapshot.end() || !(then->second.version == now->second.version))) {
        return smf::Outcome::kAbort;
      }
    }
    for (const auto& [key, value] : state.written) {
      committed_[key] = value;
      order_[key].push_back(attempt.id);
    }
    return smf::Outcome::kDone;
  }
  void finish(smf::Attempt&) override {}
  void rollback(smf::Attempt&) override {}
  bool has_own_locks() const override { return false; }
  smf::VersionOrder version_order() override { return order_; }
  std::optional<smf::Value> committed(const std::string& key) override {
    const auto found = committed_.find(key);
    return found == committed_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  struct State : smf::AttemptState {
    std::map<std::string, smf::Value> snapshot;
    std::map<std::string, smf::Value> written;
  };
  static State& state_of(smf::Attempt& attempt) { return static_cast<State&>(*attempt.state); }

  std::map<std::string, smf::Value> committed_;
  smf::VersionOrder order_;
};

}  // namespace smf_test
