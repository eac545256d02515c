#include "simulator.h"

#include <fmt/format.h>

#include <algorithm>

namespace vprof::test {
namespace {

constexpr uint32_t kStep = 1;  // kind of the intervals within a request

}  // namespace

Simulator::Simulator(uint64_t seed) : random_(seed) {
  define_sites();
  plan();
  run();
  explain_waits();
}

void Simulator::define_sites() {
  sites_.intervals.emplace_back("step");
  sites_.sync("enqueue", "push");
  sites_.sync("dequeue", "pop");
  functions_ = 3 + pick(5);
  for (uint32_t f = 1; f <= functions_; ++f) {
    const std::string name = fmt::format("f{}", f);
    is_library(name) ? sites_.library(name, static_cast<int>(f))
                     : sites_.function(name, static_cast<int>(f));
    entry_.push_back(sites_.function_site(f));
    site_truth_.push_back({f, 0});
  }
  for (uint32_t i = 0; i < 3 * functions_; ++i) {
    const auto caller = static_cast<uint32_t>(1 + pick(functions_));
    const auto callee = static_cast<uint32_t>(1 + pick(functions_));
    sites_.call_site(caller, callee);
    site_truth_.push_back({callee, caller});
  }
}

/// Calls random functions, measured at the call, at the entry, at both, or not at all. Locks are
/// taken in the order of lockables_, so there is no deadlock.
void Simulator::calls(std::vector<Op>& ops, uint32_t caller, int depth, size_t lock) {
  const uint64_t count = pick(depth > 3 ? 2 : 4);
  for (uint64_t i = 0; i < count; ++i) {
    ops.push_back({Do::kWork, 1 + pick(20)});
    if (pick(3) == 0 && lock < lockables_.size()) {
      take_and_give(ops, caller, depth, lock);
      continue;
    }
    auto callee = static_cast<uint32_t>(1 + pick(functions_));
    uint32_t call = 0;
    for (uint32_t site = 1; site < site_truth_.size(); ++site) {
      if (site_truth_[site].caller == caller && pick(2) == 0) {
        call = site;
      }
    }
    if (call != 0) {
      callee = site_truth_[call].function;
    }
    const bool entry = pick(2) == 0;
    if (call != 0) {
      ops.push_back({Do::kEnter, call});
    }
    if (entry) {
      ops.push_back({Do::kEnter, entry_[callee - 1]});
    }
    // Calls inside a call without a frame of the callee are arguments, which the caller evaluates,
    // or calls made by the callee.
    calls(ops, call != 0 && !entry && pick(3) == 0 ? caller : callee, depth + 1, lock);
    ops.push_back({Do::kWork, pick(10)});
    if (entry) {
      ops.push_back({Do::kExit, 0});
    }
    if (call != 0) {
      ops.push_back({Do::kExit, 0});
    }
  }
}

/// Takes what lockables_[lock] or a later one is about, works, and gives it back.
void Simulator::take_and_give(std::vector<Op>& ops, uint32_t caller, int depth, size_t lock) {
  const size_t number = lock + pick(lockables_.size() - lock);
  const auto [type, index] = lockables_[number];
  const uint64_t label = pick(4) == 0 ? ++labels_ : 0;
  const auto body = [&] {
    ops.push_back({Do::kWork, pick(30)});
    calls(ops, caller, depth + 1, number + 1);
  };
  const size_t mutex = type == Lockable::Type::kResource ? resources_[index].mutex : 0;
  const size_t guard = type == Lockable::Type::kResource ? resources_[index].guard : kNobody;
  switch (type) {
    case Lockable::Type::kLock:
      for (uint64_t times = pick(4) == 0 ? 1 + pick(5) : 1; times-- > 0;) {
        ops.push_back({Do::kLock, index, How::kWrite, label});
        if (times > 0) {
          ops.push_back({Do::kWork, pick(12)});
        } else {
          body();
        }
        ops.push_back({Do::kUnlock, index});
        ops.push_back({Do::kWork, 1 + pick(4)});
      }
      break;
    case Lockable::Type::kRwlock: {
      const How how = pick(3) == 0 ? How::kWrite : How::kRead;
      ops.push_back({Do::kLock, index, how, label});
      ops.push_back({Do::kWork, pick(30)});
      if (how == How::kRead && pick(4) == 0) {  // once more
        ops.push_back({Do::kLock, index, how});
        body();
        ops.push_back({Do::kUnlock, index});
        ops.push_back({Do::kWork, pick(10)});
      } else {
        body();
      }
      ops.push_back({Do::kUnlock, index});
      break;
    }
    case Lockable::Type::kSem:
      ops.push_back({Do::kLock, index, How::kWrite, label});
      body();
      ops.push_back({Do::kPost, index});
      break;
    case Lockable::Type::kSignal:
      ops.push_back({Do::kLock, index, How::kWrite, label});
      body();
      break;
    case Lockable::Type::kResource:
      if (guard != kNobody && label == 0) {
        ops.push_back({Do::kLock, guard});
        ops.push_back({Do::kWork, pick(5)});
      }
      ops.push_back({Do::kLock, mutex});
      ops.push_back({Do::kWork, pick(8)});
      ops.push_back({Do::kCheck, index, How::kWrite, label});
      ops.push_back({Do::kWork, pick(8)});
      ops.push_back({Do::kUnlock, mutex});
      if (guard != kNobody && label == 0) {
        ops.push_back({Do::kWork, pick(5)});
        ops.push_back({Do::kUnlock, guard});
      }
      body();
      for (uint64_t times = pick(4) == 0 ? 1 + pick(3) : 0; times-- > 0;) {
        ops.push_back({Do::kLock, mutex});
        ops.push_back({Do::kWork, pick(12)});
        if (pick(2) == 0) {
          ops.push_back({Do::kSignal, index});
          ops.push_back({Do::kWork, pick(12)});
        }
        ops.push_back({Do::kUnlock, mutex});
        ops.push_back({Do::kWork, 1 + pick(4)});
      }
      ops.push_back({Do::kLock, mutex});
      ops.push_back({Do::kWork, pick(8)});
      ops.push_back({Do::kGive, index});
      ops.push_back({Do::kWork, pick(20)});
      ops.push_back({Do::kUnlock, mutex});
      break;
  }
  if (label != 0) {
    ops.push_back({Do::kLabel, label});
  }
}

/// One stage of an interval on one thread: works, then hands over through the queue, or ends.
void Simulator::stage_ops(std::vector<Op>& ops, uint64_t interval) {
  const bool step = pick(3) == 0;
  if (step) {
    ops.push_back({Do::kWork, pick(3)});
    ops.push_back({Do::kBeginStep, 0});
  }
  calls(ops, static_cast<uint32_t>(1 + pick(functions_)), 0, 0);
  ops.push_back({Do::kWork, 1 + pick(5)});
  if (step) {
    ops.push_back({Do::kEndStep, 0});
    calls(ops, static_cast<uint32_t>(1 + pick(functions_)), 3, 0);
    ops.push_back({Do::kWork, pick(5)});
  }
  ops.push_back({Do::kPush, interval});
  ops.push_back({Do::kWork, 1 + pick(5)});
  if (pick(2) == 0) {
    ops.push_back({Do::kWorkFor, 0});
  }
  ops.push_back({Do::kWork, 1 + pick(5)});
}

void Simulator::plan() {
  plan_locks();
  const size_t producers = 1 + pick(2);
  const size_t workers = 1 + pick(3);
  const size_t others = pick(3);
  threads_.resize(producers + workers + others);
  for (size_t p = 0; p < producers; ++p) {
    std::vector<Op> ops;
    const uint64_t count = 3 + pick(8);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t id = intervals_.size() + 1;
      Interval& interval = intervals_.emplace_back();
      interval.total_stages = 1 + pick(3);
      ops.push_back({Do::kWork, 1 + pick(40)});
      ops.push_back({Do::kBegin, id});
      stage_ops(ops, id);
    }
    std::reverse(ops.begin(), ops.end());
    threads_[p].ops = std::move(ops);
  }
  for (size_t w = producers; w < producers + workers; ++w) {
    threads_[w].ops.push_back({Do::kPop, 0});
  }
  for (size_t o = producers + workers; o < threads_.size(); ++o) {  // work for no interval
    std::vector<Op> ops;
    for (uint64_t i = 10 + pick(20); i-- > 0;) {
      calls(ops, static_cast<uint32_t>(1 + pick(functions_)), 1, 0);
      ops.push_back({Do::kWork, 1 + pick(20)});
    }
    std::reverse(ops.begin(), ops.end());
    threads_[o].ops = std::move(ops);
  }
  for (size_t i = 0; i < lockables_.size(); ++i) {
    if (lockables_[i].type == Lockable::Type::kSignal) {
      threads_.emplace_back().ops.push_back({Do::kTick, i});
    }
  }
}

void Simulator::plan_locks() {
  apart_ = pick(2) == 0;
  const auto mutex = [&] { return new_lock(pick(3) == 0 ? Kind::kOtherMutex : Kind::kPlainMutex); };
  bool has_signal = false;
  for (uint64_t i = 1 + pick(4); i-- > 0;) {
    switch (pick(8)) {
      case 0:
        lockables_.push_back({Lockable::Type::kLock, new_lock(Kind::kSpin)});
        break;
      case 1:
      case 2:
        lockables_.push_back({Lockable::Type::kRwlock, new_lock(Kind::kRwlock)});
        break;
      case 3:
        lockables_.push_back({Lockable::Type::kSem, new_lock(Kind::kSem, 1 + pick(2))});
        break;
      case 4:
        if (!has_signal) {
          lockables_.push_back({Lockable::Type::kSignal, new_lock(Kind::kSem)});
          has_signal = true;
        }
        break;
      case 5: {
        const size_t under = new_lock(Kind::kPlainMutex);
        const size_t condition = new_lock(Kind::kCondition);
        const bool guarded = pick(2) == 0;
        for (uint64_t n = guarded ? 1 : 1 + pick(3); n-- > 0;) {
          lockables_.push_back({Lockable::Type::kResource, resources_.size()});
          resources_.push_back({under, condition, guarded ? mutex() : kNobody});
        }
        break;
      }
      default:
        lockables_.push_back({Lockable::Type::kLock, mutex()});
        break;
    }
  }
}

/// Posts a semaphore a few times, unless its count is high or nobody is left to wait for it.
void Simulator::tick(size_t index, const Op& op) {
  const bool needed = std::any_of(threads_.begin(), threads_.end(), [](const Thread& thread) {
    const bool ticks = !thread.ops.empty() && thread.ops.front().what == Do::kTick;
    return !ticks && (!thread.ops.empty() || (thread.blocked && !thread.idle));
  });
  if (!needed && threads_[index].ops.empty()) {
    return;
  }
  const size_t semaphore = lockables_[op.value].index;
  std::vector<Op> ops = {{Do::kWork, 1 + pick(10)}};
  calls(ops, static_cast<uint32_t>(1 + pick(functions_)), 2, op.value + 1);
  for (uint64_t n = locks_[semaphore].value < 3 ? 1 + pick(3) : 0; n-- > 0;) {
    ops.push_back({Do::kPost, semaphore});
    ops.push_back({Do::kWork, 1 + pick(10)});
  }
  ops.push_back(op);
  std::reverse(ops.begin(), ops.end());
  threads_[index].ops = std::move(ops);
}

void Simulator::run() {
  for (;;) {
    size_t next = threads_.size();
    for (size_t t = 0; t < threads_.size(); ++t) {
      if (threads_[t].blocked || threads_[t].ops.empty()) {
        continue;
      }
      if (next == threads_.size() || threads_[t].now < threads_[next].now) {
        next = t;
      }
    }
    if (next == threads_.size()) {
      break;
    }
    step(next);
  }
}

void Simulator::enter(Thread& thread, uint32_t site) {
  thread.open_index.push_back(thread.scopes.size());
  thread.scopes.push_back({site, thread.now, INT64_MAX});
}

void Simulator::leave(Thread& thread) {
  Scope& scope = thread.scopes[thread.open_index.back()];
  thread.open_index.pop_back();
  scope.end = thread.now;
  thread.writer.frame(scope.site, scope.start, scope.end);
}

/// Ends a stage: continues with the next one, or ends the interval.
void Simulator::push(size_t index, uint64_t id) {
  Interval& interval = intervals_[id - 1];
  Thread& thread = threads_[index];
  if (interval.stages.size() == interval.total_stages) {
    thread.writer.end(id, thread.now);
    interval.end = thread.now;
    done_.push_back(id);
    return;
  }
  tasks_.push_back({id, interval.stages.size()});
  const uint64_t task = tasks_.size();
  thread.writer.enqueue(task, thread.now, 0);
  interval.stages.push_back({0, 0, thread.now});
  if (queue_.idle.empty()) {
    queue_.tasks.emplace_back(task, thread.now);
    return;
  }
  const size_t worker = queue_.idle.front();
  queue_.idle.erase(queue_.idle.begin());
  threads_[worker].now =
      std::max(threads_[worker].now, thread.now) + 1 + static_cast<int64_t>(pick(9));
  threads_[worker].blocked = threads_[worker].idle = false;
  take(worker, task);
}

void Simulator::take(size_t index, uint64_t task) {
  Thread& thread = threads_[index];
  const uint64_t id = tasks_[task - 1].interval;
  thread.writer.dequeue(task, thread.now, 1);
  Stage& stage = intervals_[id - 1].stages[tasks_[task - 1].stage];
  stage.thread = index;
  stage.from = thread.now;
  std::vector<Op> ops = {{Do::kWork, 1 + pick(4)}, {Do::kWorkFor, id}};
  stage_ops(ops, id);
  ops.push_back({Do::kPop, 0});
  std::reverse(ops.begin(), ops.end());
  thread.ops = std::move(ops);
}

void Simulator::work_for(size_t index, uint64_t id) {
  Thread& thread = threads_[index];
  // The thread leaves the last stage of its interval that it has begun.
  if (thread.works_for != 0 && thread.works_for != id) {
    std::vector<Stage>& stages = intervals_[thread.works_for - 1].stages;
    for (size_t s = stages.size(); s-- > 0;) {
      if (stages[s].thread != index || stages[s].from == 0) {
        continue;
      }
      stages[s].left = thread.now;
      break;
    }
  }
  thread.works_for = id;
  thread.writer.work_for(id, thread.now);
}

/// Works for `time`, and now and then is preempted meanwhile.
void Simulator::work(Thread& thread, int64_t time) {
  if (pick(6) == 0) {
    const auto before = static_cast<int64_t>(pick(static_cast<uint64_t>(time) + 1));
    const auto away = 1 + static_cast<int64_t>(pick(25));
    thread.preempted.emplace_back(thread.now + before, thread.now + before + away);
    thread.now += away;
  }
  thread.now += time;
}

void Simulator::step(size_t index) {
  Thread& thread = threads_[index];
  const Op op = thread.ops.back();
  if (must_come_later(index, op)) {
    ++thread.now;
    return;
  }
  thread.ops.pop_back();
  switch (op.what) {
    case Do::kWork:
      work(thread, static_cast<int64_t>(op.value));
      break;
    case Do::kEnter:
      enter(thread, static_cast<uint32_t>(op.value));
      break;
    case Do::kExit:
      leave(thread);
      break;
    case Do::kLabel:
      break;
    case Do::kTick:
      tick(index, op);
      break;
    case Do::kLock:
      lock(index, op);
      break;
    case Do::kUnlock:
      unlock(index, op.value);
      break;
    case Do::kPost:
      post(index, op.value);
      break;
    case Do::kTryAgain:
      try_again(index, op.value);
      break;
    case Do::kCheck:
      check(index, op);
      break;
    case Do::kGive:
      resources_[op.value].free = true;
      signal(index, resources_[op.value]);
      break;
    case Do::kSignal:
      signal(index, resources_[op.value]);
      break;
    case Do::kBegin:
      work_for(index, op.value);
      thread.writer.begin(op.value, thread.now);
      intervals_[op.value - 1].begin = thread.now;
      intervals_[op.value - 1].stages.push_back({index, thread.now, thread.now});
      thread.now += 1;
      break;
    case Do::kWorkFor:
      work_for(index, op.value);
      break;
    case Do::kBeginStep:
      thread.step = steps_.size();
      steps_.push_back({index, thread.now, thread.now});
      // Requests have the same ids.
      thread.writer.begin(thread.step + 1, thread.now, kStep);
      break;
    case Do::kEndStep:
      steps_[thread.step].end = thread.now;
      thread.writer.end(thread.step + 1, thread.now, kStep);
      break;
    case Do::kPush:
      push(index, op.value);
      break;
    case Do::kPop:
      if (queue_.tasks.empty()) {
        queue_.idle.push_back(index);
        thread.blocked = thread.idle = true;
      } else {
        const uint64_t task = queue_.tasks.front().first;
        queue_.tasks.erase(queue_.tasks.begin());
        take(index, task);
      }
      break;
  }
}

/// Writes preemptions in batches, thread by thread, as the helper drains the kernel's rings.
void Simulator::write_preemptions(ThreadWriter& helper) const {
  constexpr int64_t kBatch = 300;
  int64_t last = 0;
  for (const Thread& thread : threads_) {
    last = std::max(last, thread.now);
  }
  for (int64_t from = 0; from <= last; from += kBatch) {
    for (size_t t = 0; t < threads_.size(); ++t) {
      for (const auto& [start, end] : threads_[t].preempted) {
        if (end >= from && end < from + kBatch) {
          helper.preempted(static_cast<uint32_t>(t + 1), start, end);
        }
      }
    }
  }
}

std::string Simulator::write(const std::string& directory) const {
  ProcessWriter process;
  process.slots_per_chunk = 20;
  for (size_t t = 0; t < threads_.size(); ++t) {
    process.threads[static_cast<uint32_t>(t + 1)] = threads_[t].writer;
  }
  write_preemptions(process.threads[0]);
  process.write(directory);
  return sites_.write(directory);
}

}  // namespace vprof::test
