#include "intervals.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {
namespace {

constexpr uint32_t kMaxKinds = 1u << 10;  // an index beyond is damage

struct IntervalKey {
  uint64_t id, scope;
  uint32_t kind;
  bool operator==(const IntervalKey&) const = default;
};

struct KeyHash {
  size_t operator()(const IntervalKey& key) const {
    uint64_t h = key.id * 0x9e3779b97f4a7c15ull;
    h ^= (key.scope + 0x7f4a7c15) * 0xbf58476d1ce4e5b9ull + key.kind;
    return static_cast<size_t>(h ^ (h >> 29));
  }
};

struct MarkRef {
  int64_t time;
  uint32_t thread;
  uint32_t index;
};

class Builder {
 public:
  Builder(Recording& recording, bool want_segments)
      : recording_(recording),
        want_segments_(want_segments),
        works_for_(recording.threads.size()) {}

  Intervals run() {
    for (const MarkRef& ref : in_order()) {
      const Mark& mark = recording_.threads[ref.thread].marks[ref.index];
      if (mark.event != VPROF_EV_LABEL && mark.index >= kMaxKinds) continue;
      apply(ref.thread, mark);
    }
    if (want_segments_) finish_segments();
    return std::move(result_);
  }

 private:
  struct Work {
    uint32_t interval = kNone;
    int64_t since = 0;
  };

  /// By time; marks of one thread stay in their own order.
  std::vector<MarkRef> in_order() const {
    std::vector<MarkRef> refs;
    for (uint32_t t = 0; t < recording_.threads.size(); ++t) {
      const auto& marks = recording_.threads[t].marks;
      for (uint32_t i = 0; i < marks.size(); ++i) refs.push_back({marks[i].time, t, i});
    }
    std::sort(refs.begin(), refs.end(), [](const MarkRef& a, const MarkRef& b) {
      return std::tie(a.time, a.thread, a.index) < std::tie(b.time, b.thread, b.index);
    });
    return refs;
  }

  void apply(uint32_t thread, const Mark& mark) {
    switch (mark.event) {
      case VPROF_EV_BEGIN:
        begin(thread, mark);
        break;
      case VPROF_EV_END:
        end(thread, mark);
        break;
      case VPROF_EV_SWITCH:
        work_for(thread, find_for_switch(mark), mark.time);
        break;
      default:
        label(thread, mark);
        break;
    }
  }

  void begin(uint32_t thread, const Mark& mark) {
    const auto interval = static_cast<uint32_t>(result_.all.size());
    Interval& made = result_.all.emplace_back();
    made.kind = mark.index;
    made.begin = made.end = mark.time;
    open_[{mark.id, mark.scope, mark.index}] =
        interval;  // one that was open under this id stays incomplete
    kinds_ = std::max(kinds_, mark.index + 1);
    work_for(thread, interval, mark.time);
  }

  void end(uint32_t thread, const Mark& mark) {
    const auto found = open_.find({mark.id, mark.scope, mark.index});
    if (found == open_.end()) {
      if (result_.unmatched_ends.size() <= mark.index)
        result_.unmatched_ends.resize(mark.index + 1);
      ++result_.unmatched_ends[mark.index];
      return;
    }
    const uint32_t interval = found->second;
    open_.erase(found);
    Interval& done = result_.all[interval];
    done.end = mark.time;
    if (done.latency() <= kLongestInterval) done.end_thread = thread;
    if (works_for_[thread].interval == interval) work_for(thread, kNone, mark.time);
  }

  /// A switch function may serve several kinds of intervals, and then only one of them knows the
  /// id.
  uint32_t find_for_switch(const Mark& mark) const {
    if (mark.id == 0) return kNone;
    const auto exact = open_.find({mark.id, mark.scope, mark.index});
    if (exact != open_.end()) return exact->second;
    for (uint32_t kind = 0; kind < kinds_; ++kind) {
      const auto other = open_.find({mark.id, mark.scope, kind});
      if (other != open_.end()) return other->second;
    }
    return kNone;
  }

  void label(uint32_t thread, const Mark& mark) {
    const std::string& text = recording_.threads[thread].labels[mark.index];
    const auto [known, is_new] =
        label_index_.try_emplace(text, static_cast<uint32_t>(result_.labels.size()));
    if (is_new) result_.labels.push_back(text);
    for (uint32_t kind = 0; kind < kinds_;
         ++kind) {  // a label does not say of which kind its interval is
      const auto found = open_.find({mark.id, mark.scope, kind});
      if (found != open_.end()) result_.all[found->second].label = known->second;
    }
  }

  void work_for(uint32_t thread, uint32_t interval, int64_t time) {
    Work& work = works_for_[thread];
    if (work.interval == interval) return;
    close(thread, time);
    work = {interval, time};
  }

  void close(uint32_t thread, int64_t time) {
    const Work& work = works_for_[thread];
    if (work.interval == kNone || work.since >= time || !want_segments_) return;
    recording_.threads[thread].segments.push_back({work.since, time, work.interval});
  }

  void finish_segments() {
    for (uint32_t t = 0; t < works_for_.size(); ++t) close(t, INT64_MAX);
    // Nobody works for an interval after its end, whoever ended it.
    for (Thread& thread : recording_.threads) {
      for (Segment& segment : thread.segments) {
        const Interval& interval = result_.all[segment.interval];
        if (interval.complete()) segment.end = std::min(segment.end, interval.end);
      }
      std::erase_if(thread.segments, [](const Segment& s) { return s.start >= s.end; });
    }
    index_segments();
  }

  void index_segments() {
    std::vector<size_t>& first = result_.first;
    first.assign(result_.all.size() + 1, 0);
    for (const Thread& thread : recording_.threads) {
      for (const Segment& segment : thread.segments) ++first[segment.interval + 1];
    }
    for (size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
    result_.segments.resize(first.back());
    std::vector<size_t> fill(first.begin(), first.end() - 1);
    for (uint32_t t = 0; t < recording_.threads.size(); ++t) {
      for (const Segment& s : recording_.threads[t].segments) {
        result_.segments[fill[s.interval]++] = {s.start, s.end, t, 0};
      }
    }
    for (size_t i = 0; i + 1 < first.size(); ++i) {
      const auto from = result_.segments.begin() + static_cast<ptrdiff_t>(first[i]);
      const auto to = result_.segments.begin() + static_cast<ptrdiff_t>(first[i + 1]);
      std::sort(from, to, [](const IntervalSegment& a, const IntervalSegment& b) {
        return std::tie(a.start, a.thread) < std::tie(b.start, b.thread);
      });
      int64_t latest = INT64_MIN;
      for (auto it = from; it != to; ++it) it->latest_end = latest = std::max(latest, it->end);
    }
  }

  Recording& recording_;
  const bool want_segments_;
  std::vector<Work> works_for_;
  Intervals result_;
  uint32_t kinds_ = 0;
  std::unordered_map<IntervalKey, uint32_t, KeyHash> open_;
  std::unordered_map<std::string, uint32_t> label_index_ = {{"", 0}};
};

}  // namespace

Intervals build_intervals(Recording& recording, bool want_segments) {
  return Builder(recording, want_segments).run();
}

Result<uint32_t> choose_kind(const Intervals& intervals, const Sites& sites,
                             const std::string& wanted) {
  std::vector<uint64_t> completed(std::max<size_t>(1, sites.intervals.size()));
  for (const Interval& interval : intervals.all) {
    if (completed.size() <= interval.kind) completed.resize(interval.kind + 1);
    if (interval.complete()) ++completed[interval.kind];
  }
  if (wanted.empty()) {
    const auto most = std::max_element(completed.begin(), completed.end());  // the first of equals
    return static_cast<uint32_t>(most - completed.begin());
  }
  std::string names;
  for (uint32_t kind = 0; kind < completed.size(); ++kind) {
    if (sites.interval_name(kind) == wanted) return kind;
    names += (names.empty() ? "" : ", ") + sites.interval_name(kind);
  }
  return tl::make_unexpected(
      fmt::format("no interval is named '{}'; there are: {}", wanted, names));
}

}  // namespace vprof::analyzer
