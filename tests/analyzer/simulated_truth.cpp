// The truth of the simulator: who is to blame for each nanosecond of a wait, and what each thread
// did in it.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "simulator.h"

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

void Simulator::explain_waits() {
  for (size_t t = 0; t < threads_.size(); ++t) {
    if (threads_[t].blocked && !threads_[t].idle) {
      throw std::logic_error("a thread waits forever");
    }
    for (Blocked& wait : threads_[t].waits) {
      explain(t, wait);
    }
  }
}

void Simulator::explain(size_t thread, Blocked& wait) const {
  wait.causes.assign(static_cast<size_t>(wait.end - wait.start), {});
  const Lock& lock = locks_[wait.object];
  if (wait.event == VPROF_EV_WAIT_COND) {
    blame_holder(lock, wait, wait.signalled);
  } else if (lock.kind == Kind::kSem) {
    blame_posts(lock, wait);
  } else if (lock.kind == Kind::kRwlock) {
    blame_writers_and_readers(lock, wait);
  } else {
    blame_holder(lock, wait, wait.start);
  }
  if (!wait.causes.empty()) {
    wait.causes.back() = {};  // a wait keeps its last nanosecond
  }
  if (std::any_of(wait.causes.begin(), wait.causes.end(),
                  [&](const Cause& cause) { return cause.thread == thread; })) {
    throw std::logic_error("a thread is blamed for its own wait");
  }
}

/// Who is to blame for the nanosecond t of a wait, if what matters is that the thread released
/// others at `until`. The signal that ended the last turn before that explains all turns.
Simulator::Cause Simulator::cause_of(const Thread& thread, const Blocked& wait, int64_t t,
                                     int64_t until) const {
  if (wait.event == VPROF_EV_WAIT_COND && t < wait.end - 1) {
    const Blocked* last = &wait;
    for (const size_t turn : wait.turns) {
      const Blocked& later = thread.waits[turn];
      last = later.start > last->start && later.start < until ? &later : last;
    }
    if (t < last->signalled) {
      return {last->signaller, last->signalled};
    }
  }
  return wait.causes[static_cast<size_t>(t - wait.start)];
}

/// Whoever holds the lock, from an instant on.
void Simulator::blame_holder(const Lock& lock, Blocked& wait, int64_t from) {
  for (const Hold& hold : lock.holds) {
    for (int64_t t = std::max(from, hold.from); t < std::min(wait.end, hold.to); ++t) {
      wait.causes[static_cast<size_t>(t - wait.start)] = {hold.thread, hold.to};
    }
  }
}

/// The post that ends each stretch in which the count is 0.
void Simulator::blame_posts(const Lock& lock, Blocked& wait) {
  size_t next = 0;
  uint64_t value = lock.initially;
  for (int64_t t = wait.start; t < wait.end; ++t) {
    for (; next < lock.changes.size() && lock.changes[next].time <= t; ++next) {
      value = lock.changes[next].by > 0 ? value + 1 : value - 1;
    }
    if (value == 0) {
      if (lock.changes.at(next).by < 0) {
        throw std::logic_error("the count of a semaphore is negative");
      }
      const Change& post = lock.changes[next];
      wait.causes[static_cast<size_t>(t - wait.start)] = {post.thread, post.time};
    }
  }
}

/// A moment with several holders counts for one of them: each explains a part of the stretch with
/// the same holders. A reader within another one's time is not to blame: without it the wait would
/// have been as long.
void Simulator::blame_writers_and_readers(const Lock& lock, Blocked& wait) {
  struct Part {
    int64_t from, to;
    Cause cause;
  };
  std::vector<Part> parts;
  for (const Hold& hold : lock.holds) {
    const Part part = {
        std::max(hold.from, wait.start), std::min(hold.to, wait.end - 1), {hold.thread, hold.to}};
    const bool both_read = wait.event == VPROF_EV_WAIT_RDLOCK && hold.how == How::kRead;
    if (part.from < part.to && !both_read) {
      parts.push_back(part);
    }
  }
  const std::vector<Part> all = parts;
  std::erase_if(parts, [&](const Part& part) {
    return std::any_of(all.begin(), all.end(), [&](const Part& around) {
      return around.from <= part.from && part.to <= around.to &&
             (around.from < part.from || part.to < around.to);
    });
  });
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return std::tie(a.from, a.to, a.cause.thread) < std::tie(b.from, b.to, b.cause.thread);
  });
  const auto holders_at = [&](int64_t t) {
    std::vector<const Part*> holders;
    for (const Part& part : parts) {
      if (part.from <= t && t < part.to) {
        holders.push_back(&part);
      }
    }
    return holders;
  };
  for (int64_t lo = wait.start; lo < wait.end - 1;) {
    const auto holders = holders_at(lo);
    int64_t hi = lo + 1;
    while (hi < wait.end - 1 && holders_at(hi) == holders) {
      ++hi;
    }
    const auto k = static_cast<int64_t>(holders.size());
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t t = lo + (hi - lo) * i / k; t < lo + (hi - lo) * (i + 1) / k; ++t) {
        wait.causes[static_cast<size_t>(t - wait.start)] = holders[static_cast<size_t>(i)]->cause;
      }
    }
    lo = hi;
  }
}

std::map<std::string, uint64_t> Simulator::waits() const {
  std::map<std::string, uint64_t> result;
  for (const Thread& thread : threads_) {
    for (const Blocked& wait : thread.waits) {
      ++result[vprof_wait_function(wait.event)];
    }
  }
  return result;
}

/// Recursion folds onto the latest occurrence of the function since the last wait. A library
/// function folds only if no function of the program is between, and a function of the program only
/// if a library function between has called nothing of the program that is new.
void Simulator::descend(std::vector<std::string>& path, const std::string& function,
                        const std::string& node) {
  size_t first = path.size();  // of what is on the path since the last wait
  while (first > 0 && !path[first - 1].starts_with("wait(") &&
         !path[first - 1].starts_with("queue(")) {
    --first;
  }
  const auto function_at = [&](size_t i) {
    const size_t at = path[i].find('@');
    return path[i][0] == 'f' && at != std::string::npos ? path[i].substr(0, at) : "";
  };
  const auto is_program = [&](size_t i) {
    return !function_at(i).empty() && !is_library(function_at(i));
  };
  for (size_t i = path.size(); i-- > first;) {
    if (function_at(i) == function) {
      bool is_new = false;
      for (size_t j = i + 1; j < path.size() && !is_library(function); ++j) {
        const bool called = is_program(j) && !function_at(j - 1).empty() && !is_program(j - 1);
        bool before = false;
        for (size_t k = first; k <= i; ++k) {
          before = before || function_at(k) == function_at(j);
        }
        is_new = is_new || (called && !before);
      }
      if (!is_new) {
        path.resize(i + 1);
        return;
      }
      break;
    }
    if (is_library(function) && is_program(i)) {
      break;
    }
  }
  path.push_back(node);
}

/// Where a thread that released others at `until` spends the nanosecond [t, t + 1), below `path`.
std::vector<std::string> Simulator::where(size_t index, int64_t t, int64_t until,
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
  const std::string name = fmt::format("wait({})", vprof_wait_function(wait->event));
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
  const Cause cause = cause_of(thread, *wait, t, until);
  if (cause.thread == kNobody) {
    path.emplace_back("body");
    return path;
  }
  return where(cause.thread, t, cause.until, path);
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
        ++times[text_of(where(stage.thread, t, until, {"request"}))];
      }
      // A task that a thread queued for itself waits from the moment the thread stops working for
      // the interval.
      int64_t waiting = stage.enqueued;
      if (s > 0 && interval.stages[s - 1].thread == stage.thread) {
        waiting = std::max(waiting, std::min(interval.stages[s - 1].left, stage.from));
      }
      for (int64_t t = waiting; t < stage.from; ++t) {
        ++times[text_of(where(stage.thread, t, stage.from, {"request", "queue(pop)"}))];
      }
      until = waiting;
    }
  }
  return result;
}

std::vector<std::map<std::string, int64_t>> Simulator::truth_of_steps() const {
  std::vector<std::map<std::string, int64_t>> result;
  for (const Step& step : steps_) {
    auto& times = result.emplace_back();
    for (int64_t t = step.begin; t < step.end; ++t) {
      ++times[text_of(where(step.thread, t, step.end, {"step"}))];
    }
  }
  return result;
}

}  // namespace vprof::test
