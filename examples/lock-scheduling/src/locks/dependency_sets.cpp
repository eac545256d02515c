#include "locks/dependency_sets.h"

namespace lab {

size_t DependencySets::union_size(std::span<Transaction* const> transactions) {
  const uint64_t walk = ++walk_;
  known_since_ = walk_;  // the marks of effective_size() are overwritten
  size_t size = 0;
  const auto visit = [&](Transaction* transaction) {
    if (transaction->visited != walk) {
      transaction->visited = walk;
      ++size;
      stack_.push_back(transaction);
    }
  };
  for (Transaction* transaction : transactions) {
    visit(transaction);
  }
  while (!stack_.empty()) {
    const Transaction* transaction = stack_.back();
    stack_.pop_back();
    for_each_waiter(*transaction, visit);
  }
  return size;
}

// After the order of a depth-first search: a transaction is added up when all that wait for it have
// been. It ends because the graph has no cycle: the lock manager resolves each at once.
double DependencySets::effective_size(Transaction* transaction) {
  const auto known = [this](const Transaction* t) { return t->visited > known_since_; };
  const uint64_t mark = ++walk_;
  stack_.push_back(transaction);
  while (!stack_.empty()) {
    Transaction* top = stack_.back();
    if (known(top)) {  // it waits for two holders and was pushed by both
      stack_.pop_back();
      continue;
    }
    const size_t height = stack_.size();
    double size = 1;
    for_each_waiter(*top, [&](Transaction* waiter) {
      if (known(waiter)) {
        size += waiter->size;
      } else {
        stack_.push_back(waiter);
      }
    });
    if (stack_.size() == height) {
      top->size = size;
      top->visited = mark;
      stack_.pop_back();
    }
  }
  return transaction->size;
}

namespace {

struct Step {
  Transaction* transaction;
  size_t next;  // the next holder to look at
};

}  // namespace

std::vector<Transaction*> DependencySets::cycle_through(Transaction& transaction) {
  const uint64_t walk = ++walk_;
  known_since_ = walk_;
  std::vector<Step> path{{&transaction, 0}};
  while (!path.empty()) {
    Step& step = path.back();
    const Object* object = step.transaction->waits_for;
    if (object == nullptr || step.next == object->holders.size()) {
      path.pop_back();
      continue;
    }
    Transaction* holder = object->holders[step.next++].transaction;
    if (holder == step.transaction) {
      continue;  // an upgrade does not wait for itself
    }
    if (holder == &transaction) {
      std::vector<Transaction*> cycle;
      for (const Step& passed : path) {
        cycle.push_back(passed.transaction);
      }
      return cycle;
    }
    if (holder->visited != walk) {
      holder->visited = walk;
      path.push_back({holder, 0});
    }
  }
  return {};
}

}  // namespace lab
