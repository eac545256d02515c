#include "simulator.h"

#include <fmt/format.h>

#include <algorithm>

namespace vprof::test {
namespace {

std::string text_of(const std::vector<std::string>& path) {
  std::string text;
  for (const std::string& part : path) {
    text += (text.empty() ? "" : "/") + part;
  }
  return text;
}

}  // namespace

Simulator::Simulator(uint64_t seed) : random_(seed) {
  define_sites();
  plan();
  run();
}

void Simulator::define_sites() {
  sites_.sync("enqueue", "push");
  sites_.sync("dequeue", "pop");
  functions_ = 3 + pick(5);
  for (uint32_t f = 1; f <= functions_; ++f) {
    sites_.function(fmt::format("f{}", f), static_cast<int>(f));
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
/// taken in order of their number, so there is no deadlock.
void Simulator::calls(std::vector<Op>& ops, uint32_t caller, int depth, size_t lock) {
  const uint64_t count = pick(depth > 3 ? 2 : 4);
  for (uint64_t i = 0; i < count; ++i) {
    ops.push_back({Do::kWork, 1 + pick(20)});
    if (pick(4) == 0 && lock < mutexes_.size()) {
      const size_t mutex = lock + pick(mutexes_.size() - lock);
      ops.push_back({Do::kLock, mutex});
      ops.push_back({Do::kWork, pick(30)});
      calls(ops, caller, depth + 1, mutex + 1);
      ops.push_back({Do::kUnlock, mutex});
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

/// One stage of an interval on one thread: works, then hands over through the queue, or ends.
void Simulator::stage_ops(std::vector<Op>& ops, uint64_t interval) {
  calls(ops, static_cast<uint32_t>(1 + pick(functions_)), 0, 0);
  ops.push_back({Do::kWork, 1 + pick(5)});
  ops.push_back({Do::kPush, interval});
  ops.push_back({Do::kWork, 1 + pick(5)});
  if (pick(2) == 0) {
    ops.push_back({Do::kWorkFor, 0});
  }
  ops.push_back({Do::kWork, 1 + pick(5)});
}

void Simulator::plan() {
  mutexes_.resize(1 + pick(3));
  const size_t producers = 1 + pick(2);
  const size_t workers = 1 + pick(3);
  threads_.resize(producers + workers);
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
  for (size_t w = producers; w < threads_.size(); ++w) {
    threads_[w].ops.push_back({Do::kPop, 0});
  }
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

void Simulator::unlock(size_t index, size_t number) {
  Mutex& mutex = mutexes_[number];
  const int64_t now = threads_[index].now;
  if (mutex.waiting.empty()) {
    mutex.held = false;
    return;
  }
  const auto [waiter, since] = mutex.waiting.front();
  mutex.waiting.erase(mutex.waiting.begin());
  const uint64_t address = 0x1000 + number;
  threads_[index].writer.release(VPROF_EV_RELEASE_MUTEX, {address}, now, ++mutex.sequence);
  Thread& woken = threads_[waiter];
  const int64_t end = std::max(now, since) + 1 + static_cast<int64_t>(pick(5));
  woken.writer.wait(VPROF_EV_WAIT_MUTEX, {address}, since, end, mutex.sequence);
  woken.waits.push_back({since, now, end, index});
  woken.now = end;
  woken.blocked = false;
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
  threads_[worker].blocked = false;
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
    case Do::kLock: {
      Mutex& mutex = mutexes_[op.value];
      if (mutex.held) {
        mutex.waiting.emplace_back(index, thread.now);
        thread.blocked = true;
      }
      mutex.held = true;
      break;
    }
    case Do::kUnlock:
      unlock(index, op.value);
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
    case Do::kPush:
      push(index, op.value);
      break;
    case Do::kPop:
      if (queue_.tasks.empty()) {
        queue_.idle.push_back(index);
        thread.blocked = true;
      } else {
        const uint64_t task = queue_.tasks.front().first;
        queue_.tasks.erase(queue_.tasks.begin());
        take(index, task);
      }
      break;
  }
}

/// Recursion folds onto the first occurrence of the function since the last wait.
void Simulator::descend(std::vector<std::string>& path, const std::string& function,
                        const std::string& node) {
  for (size_t i = path.size(); i-- > 0;) {
    if (path[i].starts_with("wait(") || path[i].starts_with("queue(")) {
      break;
    }
    if (path[i].starts_with(function + "@")) {
      path.resize(i + 1);
      return;
    }
  }
  path.push_back(node);
}

/// Where a thread spends the nanosecond [t, t + 1), below `path`.
std::vector<std::string> Simulator::where(size_t index, int64_t t,
                                          std::vector<std::string> path) const {
  const Thread& thread = threads_[index];
  const Blocked* wait = nullptr;
  for (const Blocked& w : thread.waits) {
    if (w.start <= t && t < w.end) {
      wait = &w;
    }
  }
  const Scope* outer = nullptr;
  std::vector<std::string> outside = path;  // of the outer scope
  bool in_frame = false;
  for (const Scope& scope : thread.scopes) {
    if (scope.start > t || scope.end <= t) {
      continue;
    }
    const SiteTruth& truth = site_truth_[scope.site];
    const bool argument =
        outer != nullptr && truth.caller != 0 && site_truth_[outer->site].caller == truth.caller;
    if (argument) {
      path = outside;
    }
    outside = path;
    const std::string function = fmt::format("f{}", truth.function);
    descend(path, function, fmt::format("{}@{}", function, scope.site));
    outer = &scope;
    in_frame = true;
  }
  if (wait == nullptr) {
    for (const auto& [from, to] : thread.preempted) {
      if (from <= t && t < to) {
        path.emplace_back("preempted");
        return path;
      }
    }
    path.emplace_back(in_frame || path.size() == 1 ? "body" : "untracked(thread)");
    return path;
  }
  // A chain of waits in one function folds onto the first wait.
  const std::string name = "wait(pthread_mutex_lock)";
  const auto function_of = [](const std::string& node) { return node.substr(0, node.find('@')); };
  const bool in_function = path.back().find('@') != std::string::npos;
  bool folded = false;
  for (size_t i = path.size(); in_function && i-- > 1;) {
    if (path[i] == name && path[i - 1].find('@') != std::string::npos &&
        function_of(path[i - 1]) == function_of(path.back())) {
      path.resize(i + 1);
      folded = true;
      break;
    }
  }
  if (!folded) {
    path.push_back(name);
  }
  if (t >= wait->released) {
    path.emplace_back("body");
    return path;
  }
  return where(wait->waker, t, path);
}

std::vector<std::map<std::string, int64_t>> Simulator::truth() const {
  std::vector<std::map<std::string, int64_t>> result;
  for (const uint64_t id : done_) {
    const Interval& interval = intervals_[id - 1];
    auto& times = result.emplace_back();
    int64_t until = interval.end;
    for (size_t s = interval.stages.size(); s-- > 0;) {
      const Stage& stage = interval.stages[s];
      for (int64_t t = stage.from; t < until; ++t) {
        ++times[text_of(where(stage.thread, t, {"request"}))];
      }
      // A task that a thread queued for itself waits from the moment the thread stops working for
      // the interval.
      int64_t waiting = stage.enqueued;
      if (s > 0 && interval.stages[s - 1].thread == stage.thread) {
        waiting = std::max(waiting, std::min(interval.stages[s - 1].left, stage.from));
      }
      for (int64_t t = waiting; t < stage.from; ++t) {
        ++times[text_of(where(stage.thread, t, {"request", "queue(pop)"}))];
      }
      until = waiting;
    }
  }
  return result;
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
