#include "simulated_loops.h"

#include <fmt/format.h>

#include <algorithm>

#include "oracle.h"

namespace vprof::test {

LoopSimulator::LoopSimulator(uint64_t seed) : random_(seed) {
  for (uint32_t i = 1; i <= 3; ++i) {
    handlers_.push_back(define(fmt::format("handler{}", i), 3));
    callees_.push_back(define(fmt::format("callee{}", i), 1));
  }
  loop_ = pick(2) == 0 ? define("loop", 6) : 0;
  turn_ = pick(2) == 0 ? define("turn", 5) : 0;
  poll_ = pick(2) == 0 ? define("poll", 1) : 0;
  flags_ = pick(2) == 0 ? VPROF_INTERVAL_PROCESS_LOCAL : 0;
  loops_ = 1 + pick(2);
  threads_.resize(loops_ + pick(2));
  requests_.resize(4 + pick(8));
  for (uint64_t id = 1; id <= requests_.size(); ++id) {
    requests_[id - 1].left = 1 + pick(4);
    schedule(pick(loops_), {1 + some(300), Event::kDescriptor, id, kNobody, 0});
  }
  for (uint64_t others = pick(12); others-- > 0;) {
    const Event event = pick(2) == 0 ? Event::kTimer : Event::kDescriptor;
    schedule(pick(loops_), {1 + some(600), event, 0, kNobody, 0});
  }
  run();
}

uint32_t LoopSimulator::define(const std::string& name, int height) {
  const uint32_t function = sites_.function(name, height);
  names_.push_back(name);
  entry_.push_back(sites_.function_site(function));
  return function;
}

void LoopSimulator::schedule(size_t loop, const Due& due) {
  std::vector<Due>& all = threads_[loop].due;
  const auto at = std::upper_bound(all.begin(), all.end(), due,
                                   [](const Due& a, const Due& b) { return a.time < b.time; });
  all.insert(at, due);
}

void LoopSimulator::scope(Thread& thread, uint32_t function, int64_t start) {
  if (function == 0) {
    return;
  }
  thread.scopes.push_back({function, start, thread.now});
  thread.writer.frame(entry_[function], start, thread.now);
}

/// Always continues with the loop that comes first, so that nothing happens in the past of another.
void LoopSimulator::run() {
  for (;;) {
    size_t next = kNobody;
    int64_t when = INT64_MAX;
    for (size_t i = 0; i < loops_; ++i) {
      const Thread& loop = threads_[i];
      const int64_t at = !loop.blocked      ? loop.now
                         : loop.due.empty() ? INT64_MAX
                                            : std::max(loop.now, loop.due.front().time);
      if (at < when) {
        next = i;
        when = at;
      }
    }
    if (next == kNobody) {
      break;
    }
    poll(next);
  }
  // The server is stopped, or its last waits would not be recorded.
  int64_t stop = 0;
  for (const Thread& thread : threads_) {
    stop = std::max(stop, thread.now + 1);
  }
  for (size_t i = 0; i < loops_; ++i) {
    Thread& loop = threads_[i];
    loop.now = stop;
    loop.writer.epoll_wait(loop.blocked_since, stop);
    loop.waits.push_back({loop.blocked_since, stop, true, true});
    scope(loop, loop_, 0);
  }
}

void LoopSimulator::poll(size_t index) {
  Thread& loop = threads_[index];
  if (!loop.blocked && (loop.due.empty() || loop.due.front().time > loop.now)) {
    loop.blocked = true;
    loop.blocked_since = loop.now;
    loop.marks.push_back({loop.now, 0, 0});
    return;
  }
  const int64_t start = loop.blocked ? loop.blocked_since : loop.now;
  if (loop.blocked) {
    loop.now = std::max(loop.now, loop.due.front().time) + 1 + some(3);
  } else {
    loop.now += some(2);
  }
  const auto last = std::partition_point(loop.due.begin(), loop.due.end(),
                                         [&](const Due& due) { return due.time <= loop.now; });
  std::vector<Due> events(loop.due.begin(), last);
  loop.due.erase(loop.due.begin(), last);
  // Descriptors come first. Without any, the time limit has passed.
  std::stable_sort(events.begin(), events.end(),
                   [](const Due& a, const Due& b) { return a.event > b.event; });
  const Due& first = events.front();
  const bool timed_out = first.event == Event::kTimer;
  if (loop.blocked) {
    const uint64_t object = 0x1000 + first.request;
    const auto is_timer = [](const Due& due) { return due.event == Event::kTimer; };
    const bool timer_set = std::any_of(events.begin(), events.end(), is_timer) ||
                           std::any_of(loop.due.begin(), loop.due.end(), is_timer);
    const bool one_ready = !timed_out && (events.size() == 1 || is_timer(events[1]));
    loop.writer.epoll_wait(start, loop.now,
                           {.address = first.helper == kNobody ? 0 : object,
                            .aux = one_ready ? VPROF_AUX_ONE_READY : 0,
                            .limit = timer_set ? 2 : VPROF_NO_LIMIT},
                           timed_out ? -1 : static_cast<int>(first.request));
    loop.waits.push_back({start, loop.now, true, timed_out, first, one_ready && !timer_set});
  }
  loop.blocked = false;
  loop.polled = loop.now;
  loop.now += some(2);
  scope(loop, poll_, start);
  turn(index, std::move(events));
}

void LoopSimulator::turn(size_t index, std::vector<Due> events) {
  Thread& loop = threads_[index];
  const int64_t start = loop.now;
  for (const Due& due : events) {
    loop.now += 1 + some(3);
    if (pick(4) == 0) {  // the loop's own work for the event
      const int64_t from = loop.now;
      loop.now += 1 + some(5);
      scope(loop, callees_[pick(callees_.size())], from);
    }
    handle(index, due);
  }
  loop.now += some(3);
  scope(loop, turn_, start);
}

void LoopSimulator::handle(size_t index, const Due& due) {
  Thread& loop = threads_[index];
  const uint32_t handler = handlers_[pick(handlers_.size())];
  // A configured mark comes before the frame of its function, an annotation is in it.
  int64_t start = loop.now;
  if (due.request != 0 && flags_ == 0) {
    loop.now += some(2);
  }
  if (due.request != 0) {
    Request& request = requests_[due.request - 1];
    loop.marks.push_back({loop.now, due.request, loop.polled});
    if (request.pieces.empty()) {
      request.begin = loop.now;
      loop.writer.begin(due.request, loop.now, 0, flags_, loop.polled);
    } else {
      loop.writer.work_for(due.request, loop.now, 0, flags_, loop.polled);
    }
    request.pieces.push_back({index, handler, loop.now, loop.marks.size() - 1});
  }
  if (due.request != 0 && flags_ != 0) {
    loop.now += some(2);
    start = loop.now;
  }
  work(index, due.request);
  scope(loop, handler, start);
  if (due.request != 0 && requests_[due.request - 1].end == 0) {
    park(index, due.request);
  }
}

void LoopSimulator::work(size_t index, uint64_t request) {
  Thread& loop = threads_[index];
  loop.now += 1 + some(20);
  for (uint64_t calls = pick(3); calls-- > 0;) {
    const int64_t start = loop.now;
    loop.now += 1 + some(15);
    // A handler may wait for an answer itself, and so keep all others waiting.
    if (request != 0 && loops_ == 1 && pick(5) == 0) {
      const int64_t asked = loop.now;
      loop.now += 1 + some(60);
      loop.writer.epoll_wait(asked, loop.now, {}, 99);
      loop.waits.push_back({asked, loop.now, false});
      loop.now += 1 + some(5);
    }
    scope(loop, callees_[pick(callees_.size())], start);
    loop.now += some(3);
  }
  if (request != 0 && --requests_[request - 1].left == 0) {
    requests_[request - 1].end = loop.now;
    loop.writer.end(request, loop.now, 0, flags_);
    loop.now += some(3);
  }
}

/// The handler has returned. Something will make a loop resume the request.
void LoopSimulator::park(size_t index, uint64_t id) {
  Thread& loop = threads_[index];
  const size_t next = pick(4) == 0 ? pick(loops_) : index;
  if (next != index) {  // another thread may resume it at once, so this one says that it left
    loop.writer.work_for(0, loop.now);
    loop.marks.push_back({loop.now, 0, 0});
  }
  if (threads_.size() > loops_ && pick(3) == 0) {
    Thread& helper = threads_[loops_];
    helper.now = std::max(helper.now, loop.now);
    const int64_t start = helper.now;
    helper.now += 1 + some(60);
    scope(helper, callees_[pick(callees_.size())], start);
    helper.now += some(4);
    helper.writer.release(VPROF_EV_RELEASE_STREAM, {0x1000 + id}, helper.now);
    schedule(next, {helper.now, Event::kDescriptor, id, loops_, start});
    helper.now += 1;
    return;
  }
  const Event event = pick(2) == 0 ? Event::kTimer : Event::kDescriptor;
  schedule(next, {loop.now + some(120), event, id, kNobody, 0});
}

std::string LoopSimulator::write(const std::string& directory) const {
  ProcessWriter process;
  process.slots_per_chunk = 20;
  for (size_t t = 0; t < threads_.size(); ++t) {
    process.threads[static_cast<uint32_t>(t + 1)] = threads_[t].writer;
  }
  process.write(directory);
  return sites_.write(directory);
}

// ---- the truth

/// What a thread does in [t, t + 1), below `path`.
std::string LoopSimulator::doing(size_t index, int64_t t, std::string path) const {
  const Thread& thread = threads_[index];
  std::vector<const Scope*> around;
  for (const Scope& scope : thread.scopes) {
    if (scope.start <= t && t < scope.end) {
      around.push_back(&scope);
    }
  }
  const bool own = path == "request";
  std::reverse(around.begin(), around.end());  // they were written when they ended
  for (const Scope* scope : around) {
    path += "/" + names_[scope->function];
  }
  for (const Blocked& wait : thread.waits) {
    if (wait.start <= t && t < wait.end) {
      return path + "/wait(poll)";
    }
  }
  return path + (around.empty() && !own ? "/untracked(thread)" : "/body");
}

/// When the thread of a piece stopped to work for the request: at its next mark of another request,
/// or when its loop waited.
int64_t LoopSimulator::left_at(const Request& request, size_t piece) const {
  const Piece& at = request.pieces[piece];
  const auto id = static_cast<uint64_t>(&request - requests_.data()) + 1;
  const std::vector<Mark>& marks = threads_[at.thread].marks;
  const auto other = std::find_if(marks.begin() + static_cast<ptrdiff_t>(at.mark), marks.end(),
                                  [&](const Mark& mark) { return mark.request != id; });
  return other == marks.end() ? request.end : std::min(request.end, other->from);
}

bool LoopSimulator::first_thing(size_t index, int64_t from, int64_t to) const {
  const Thread& thread = threads_[index];
  return std::none_of(thread.scopes.begin(), thread.scopes.end(),
                      [&](const Scope& scope) { return scope.start >= from && scope.end <= to; }) &&
         std::none_of(thread.marks.begin(), thread.marks.end(), [&](const Mark& mark) {
           return mark.request != 0 && mark.from >= from && mark.from < to;
         });
}

/// The last wait of the loop from which it came to the next piece.
const LoopSimulator::Blocked* LoopSimulator::poll_of(const Piece& next, int64_t left) const {
  const Blocked* last = nullptr;
  for (const Blocked& wait : threads_[next.thread].waits) {
    if (wait.of_loop && wait.end > left && wait.end <= next.from) {
      last = &wait;
    }
  }
  return last;
}

/// Where a nanosecond goes in which the request is parked before piece `next`.
std::string LoopSimulator::parked(const Request& request, size_t next, int64_t left,
                                  int64_t t) const {
  const Piece& to = request.pieces[next];
  const Piece& from = request.pieces[next - 1];
  const Blocked* const poll = poll_of(to, left);
  if (poll == nullptr && from.thread != to.thread) {
    return doing(to.thread, t, "request/queue(hand-off)");
  }
  const std::string path =
      fmt::format("request/parked({}), resumed by {}", names_[from.handler], names_[to.handler]);
  if (poll == nullptr || t >= poll->end) {
    return doing(to.thread, t, path);
  }
  const bool is_last = threads_[to.thread].marks[to.mark].polled == poll->end;
  if (is_last && poll->timed_out) {
    return path + "/timer";
  }
  if (!is_last || (!poll->one_event && !first_thing(to.thread, poll->end, to.from))) {
    return path + "/unknown event";
  }
  if (poll->first.helper == kNobody) {
    return path + "/readiness";
  }
  const bool ready = t >= poll->first.time || t == poll->end - 1;
  return ready ? path + "/wait(readiness)/body"
               : doing(poll->first.helper, t, path + "/wait(readiness)");
}

void LoopSimulator::explain(const Request& request, std::map<std::string, int64_t>& times) const {
  for (size_t piece = 0; piece < request.pieces.size(); ++piece) {
    const bool is_last = piece + 1 == request.pieces.size();
    const int64_t until = is_last ? request.end : request.pieces[piece + 1].from;
    const int64_t left = std::min(left_at(request, piece), until);
    for (int64_t t = request.pieces[piece].from; t < until; ++t) {
      ++times[t < left ? doing(request.pieces[piece].thread, t, "request")
                       : parked(request, piece + 1, left, t)];
    }
  }
}

std::map<std::string, int64_t> LoopSimulator::truth() const {
  std::map<std::string, int64_t> times;
  for (const Request& request : requests_) {
    explain(request, times);
  }
  return with_named_bodies(times, "wait");
}

}  // namespace vprof::test
