#include "simulated_coroutines.h"

#include <fmt/format.h>

#include <algorithm>

#include "oracle.h"

namespace vprof::test {
namespace {

constexpr int64_t kUs = 1000;
constexpr int64_t kShortest = 5 * kUs;  // on one thread; what is shorter is no wait
constexpr size_t kDeepest = 3;          // coroutines that await one another

}  // namespace

CoroutineSimulator::CoroutineSimulator(uint64_t seed) : random_(seed) {
  task_ = define("task");
  handler_ = define("handler");
  for (size_t i = 0; i < kDeepest; ++i) {
    coroutines_.push_back(define(fmt::format("coroutine{}", i + 1)));
    callees_.push_back(define(fmt::format("callee{}", i + 1)));
  }
  for (const uint32_t coroutine : coroutines_) {
    point(coroutine, "hop");
    point(coroutine, "timer");
    point(coroutine, "tasks", true);
    point(coroutine, "child");
  }
  flags_ = pick(2) == 0 ? VPROF_INTERVAL_COROUTINE : 0;
  threads_.resize(1 + pick(3));
  requests_.resize(3 + pick(6));
  for (uint64_t id = 1; id <= requests_.size(); ++id) {
    requests_[id - 1].chain = {coroutines_[0]};
    requests_[id - 1].left = 1 + pick(8);
    post(pick(threads_.size()), {kUs + some(300), kNobody, Do::kResume, id});
  }
  for (uint64_t others = pick(10); others-- > 0;) {
    post(pick(threads_.size()), {kUs + some(800), kNobody, Do::kOther, 0});
  }
  run();
}

uint32_t CoroutineSimulator::define(const std::string& name) {
  const uint32_t function = sites_.function(name, 1);
  names_.push_back(name);
  entry_.push_back(sites_.function_site(function));
  return function;
}

uint32_t CoroutineSimulator::point(uint32_t coroutine, const std::string& awaited,
                                   bool begins_tasks) {
  points_.push_back({coroutine, awaited, begins_tasks});
  return sites_.suspension(awaited, coroutine,
                           begins_tasks ? std::vector<uint32_t>{task_} : std::vector<uint32_t>{});
}

void CoroutineSimulator::post(size_t executor, const Job& job) {
  std::vector<Job>& queue = threads_[executor].queue;
  const auto at = std::upper_bound(queue.begin(), queue.end(), job,
                                   [](const Job& a, const Job& b) { return a.ready < b.ready; });
  queue.insert(at, job);
}

void CoroutineSimulator::scope(Thread& thread, uint32_t function, int64_t start) {
  const int64_t end = thread.now;
  thread.scopes.push_back({function, start, end});
  thread.records.push_back({end, [site = entry_[function], start, end](ThreadWriter& writer) {
                              writer.frame(site, start, end);
                            }});
}

void CoroutineSimulator::calls(Thread& thread) {
  thread.now += kUs + some(20);
  for (uint64_t calls = pick(3); calls-- > 0;) {
    const int64_t start = thread.now;
    thread.now += kUs + some(30);
    scope(thread, callees_[pick(callees_.size())], start);
    thread.now += kUs + some(3);
  }
}

/// Always continues with the executor that comes first, so that nothing is posted in the past.
void CoroutineSimulator::run() {
  for (;;) {
    size_t next = kNobody;
    int64_t when = INT64_MAX;
    for (size_t i = 0; i < threads_.size(); ++i) {
      const Thread& thread = threads_[i];
      if (!thread.queue.empty() && std::max(thread.now, thread.queue.front().ready) < when) {
        next = i;
        when = std::max(thread.now, thread.queue.front().ready);
      }
    }
    if (next == kNobody) {
      return;
    }
    Thread& thread = threads_[next];
    const Job job = thread.queue.front();
    thread.queue.erase(thread.queue.begin());
    if (job.ready > thread.now) {
      idle_until(next, job);
    }
    thread.now += some(2);
    run_job(next, job);
    thread.now += some(2);
  }
}

void CoroutineSimulator::idle_until(size_t executor, const Job& job) {
  Thread& thread = threads_[executor];
  const int64_t start = thread.now;
  const int64_t end = thread.now = job.ready + kUs + some(3);
  thread.idle.push_back({start, end, job.poster, job.ready});
  if (job.poster == kNobody) {
    thread.polled = end;
    thread.records.push_back({end, [=](ThreadWriter& w) { w.epoll_wait(start, end); }});
    return;
  }
  const Object condition{0x100 + executor}, mutex{0x200 + executor};
  const uint64_t number = ++waits_;
  thread.records.push_back(
      {end, [=](ThreadWriter& w) { w.condition_wait(condition, mutex, start, end, number); }});
  threads_[job.poster].records.push_back({job.ready, [=, at = job.ready](ThreadWriter& w) {
                                            w.release(VPROF_EV_RELEASE_COND, condition, at, number);
                                          }});
}

void CoroutineSimulator::run_job(size_t executor, const Job& job) {
  Thread& thread = threads_[executor];
  const int64_t start = thread.now;
  switch (job.what) {
    case Do::kResume:
      go_on(executor, job.request);
      break;
    case Do::kResumeFromHandler:
      thread.now += kUs;
      calls(thread);
      go_on(executor, job.request);
      thread.now += kUs + some(20);
      scope(thread, handler_, start);
      break;
    case Do::kTask:
      calls(thread);
      scope(thread, task_, start);
      end_task(executor, job.request);
      break;
    case Do::kOther:
      calls(thread);
      scope(thread, handler_, start);
      break;
  }
}

/// The last task of a request posts the continuation.
void CoroutineSimulator::end_task(size_t executor, uint64_t id) {
  Thread& thread = threads_[executor];
  thread.now += kUs + some(2);
  if (--requests_[id - 1].tasks == 0) {
    post(pick(3) == 0 ? pick(threads_.size()) : executor, {thread.now, executor, Do::kResume, id});
    thread.now += kUs;
  }
}

/// Up to where it is suspended, or ends.
void CoroutineSimulator::go_on(size_t executor, uint64_t id) {
  do {
    stretch(executor, id);
  } while (!leave(executor, id));
}

void CoroutineSimulator::stretch(size_t executor, uint64_t id) {
  Thread& thread = threads_[executor];
  Request& request = requests_[id - 1];
  const int64_t from = thread.now;
  if (request.begin < 0) {
    request.begin = from;
    thread.records.push_back({from, [=, this](ThreadWriter& w) { w.begin(id, from, 0, flags_); }});
  } else {
    thread.records.push_back({from, [=, at = request.suspension, polled = thread.polled](
                                        ThreadWriter& w) { w.resume(id, from, at, polled); }});
  }
  calls(thread);
  for (size_t i = request.chain.size(); i-- > 0;) {
    scope(thread, request.chain[i], from);
  }
  request.stretches.push_back({executor, from, thread.now, request.chain, request.suspension});
}

/// The last step of a stretch. True: the thread does not work for the request any more.
bool CoroutineSimulator::leave(size_t executor, uint64_t id) {
  Thread& thread = threads_[executor];
  Request& request = requests_[id - 1];
  const int64_t now = thread.now;
  const auto depth = static_cast<uint32_t>(request.chain.size());
  const bool ends = request.left == 0;
  if (ends && depth == 1) {
    request.end = now;
    thread.records.push_back({now, [=, this](ThreadWriter& w) { w.end(id, now, 0, flags_); }});
    return true;
  }
  request.left -= ends ? 0 : 1;
  thread.records.push_back({now, [=](ThreadWriter& w) { w.suspend(now); }});
  const uint64_t what = ends ? 0 : pick(6);
  if (what == 0 && depth > 1) {  // the innermost coroutine returns
    request.chain.pop_back();
    request.suspension = 4 * (depth - 2) + 3;
    thread.now += some(4);
    return false;
  }
  if (what <= 1 && depth < kDeepest) {  // it awaits another one, which begins at once
    request.chain.push_back(coroutines_[depth]);
    request.suspension = 4 * (depth - 1) + 3;
    thread.now += some(4);
    return false;
  }
  thread.now += kUs + some(2);
  const size_t next = pick(threads_.size());
  if (what <= 3) {
    request.suspension = 4 * (depth - 1);
    const Do how = pick(3) == 0 ? Do::kResumeFromHandler : Do::kResume;
    post(next, {thread.now, executor, how, id});
  } else if (what == 4) {
    request.suspension = 4 * (depth - 1) + 1;
    post(next, {thread.now + some(200), kNobody, Do::kResume, id});
  } else {
    request.suspension = 4 * (depth - 1) + 2;
    request.tasks = 1 + pick(3);
    for (uint64_t i = 0; i < request.tasks; ++i) {
      post(pick(threads_.size()), {thread.now, executor, Do::kTask, id});
    }
  }
  return true;
}

std::string CoroutineSimulator::write(const std::string& directory) const {
  ProcessWriter process;
  process.slots_per_chunk = 40;
  for (size_t t = 0; t < threads_.size(); ++t) {
    std::vector<Record> records = threads_[t].records;
    std::stable_sort(records.begin(), records.end(),
                     [](const Record& a, const Record& b) { return a.time < b.time; });
    for (const Record& record : records) {
      record.write(process.threads[static_cast<uint32_t>(t + 1)]);
    }
  }
  process.write(directory);
  return sites_.write(directory);
}

// ---- the truth

/// What a thread does in [t, t + 1 us), below `path`: frames that begin at `from` or later. `own`:
/// what is outside of them belongs to `path` itself.
std::string CoroutineSimulator::doing(size_t index, int64_t t, std::string path, int64_t from,
                                      bool own) const {
  std::vector<uint32_t> around;
  for (const Scope& scope : threads_[index].scopes) {
    if (scope.start >= from && scope.start <= t && t < scope.end) {
      around.push_back(scope.function);
    }
  }
  std::reverse(around.begin(), around.end());  // they were written when they ended
  for (const uint32_t function : around) {
    path += "/" + names_[function];
  }
  return path + (around.empty() && !own ? "/untracked(thread)" : "/body");
}

/// Where a microsecond goes between two stretches of a request.
std::string CoroutineSimulator::suspended(const Stretch& before, const Stretch& after,
                                          int64_t t) const {
  const Point& at = points_[after.suspension];
  std::string path = "request";
  for (const uint32_t coroutine : after.chain) {
    path += "/" + names_[coroutine];
    if (coroutine == at.coroutine) {
      break;
    }
  }
  if (before.thread == after.thread && after.from - before.to < kShortest) {
    return doing(after.thread, t, path, before.to, true);
  }
  return kept_by(after.thread, before.to, after.from, t, path + "/co_await(" + at.awaited + ")",
                 &after);
}

/// What kept a coroutine suspended, that was resumed (or whose resumption was made possible) at
/// `until`. `resumed` is null of a thread that only woke another one.
std::string CoroutineSimulator::kept_by(size_t thread, int64_t left, int64_t until, int64_t t,
                                        const std::string& path, const Stretch* resumed) const {
  const Idle* const idle = last_idle(thread, left, until);
  if (idle == nullptr || t >= idle->end) {
    return doing(thread, t, path, 0, false);
  }
  if (idle->woken_by == kNobody) {
    return path + "/timer";
  }
  if (resumed != nullptr && !was_for_it(*idle, *resumed)) {
    return path + "/unknown event";
  }
  return t >= idle->woken_at ? path + "/body"
                             : kept_by(idle->woken_by, left, idle->woken_at, t, path, nullptr);
}

const CoroutineSimulator::Idle* CoroutineSimulator::last_idle(size_t thread, int64_t left,
                                                              int64_t until) const {
  const Idle* last = nullptr;
  for (const Idle& idle : threads_[thread].idle) {
    last = idle.end > left && idle.end <= until ? &idle : last;
  }
  return last;
}

/// Whether the thread did nothing else before, or resumed it from within what it did, or ran first
/// what the request had handed over.
bool CoroutineSimulator::was_for_it(const Idle& idle, const Stretch& resumed) const {
  const Scope* first = nullptr;
  for (const Scope& scope : threads_[resumed.thread].scopes) {
    if (scope.start < idle.end || scope.start >= resumed.from) {
      continue;
    }
    if (scope.end > resumed.from) {
      return true;
    }
    first = first == nullptr || scope.start < first->start ? &scope : first;
  }
  return first == nullptr || (points_[resumed.suspension].begins_tasks && first->function == task_);
}

void CoroutineSimulator::explain(const Request& request,
                                 std::map<std::string, int64_t>& times) const {
  for (size_t i = 0; i < request.stretches.size(); ++i) {
    const Stretch& stretch = request.stretches[i];
    for (int64_t t = stretch.from; t < stretch.to; t += kUs) {
      times[doing(stretch.thread, t, "request", stretch.from, true)] += kUs;
    }
    for (int64_t t = stretch.to;
         i + 1 < request.stretches.size() && t < request.stretches[i + 1].from; t += kUs) {
      times[suspended(stretch, request.stretches[i + 1], t)] += kUs;
    }
  }
}

std::map<std::string, int64_t> CoroutineSimulator::truth() const {
  std::map<std::string, int64_t> times;
  for (const Request& request : requests_) {
    explain(request, times);
  }
  return with_named_bodies(times, "co_await");
}

}  // namespace vprof::test
