// The entry points, as lists of passes.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "analysis/collector.h"
#include "critical_path/interval_scan.h"
#include "factors/factor_selection.h"
#include "factors/latency_summary.h"
#include "factors/reliability.h"
#include "factors/variance_tree.h"
#include "profile/profile_file.h"
#include "trace/sites.h"

namespace vprof::analyzer {
namespace {

/// One pass over a recording: what all kinds of intervals that are asked for took.
class Pass {
 public:
  Pass(TraceStream& stream, const Sites& sites, const Options& options)
      : stream_(stream),
        sites_(sites),
        options_(options),
        crew_(options.threads),
        builder_(stream.window()) {}

  std::vector<Account> run() {
    scan(stream_, builder_, options_, crew_, [&](const std::vector<Interval>& ready) {
      links_.build(stream_.window());
      add(ready);
    });
    builder_.finish();
    return finish();
  }

 private:
  bool wanted(uint32_t kind) const {
    return options_.interval.empty() || sites_.interval_name(kind) == options_.interval;
  }

  void add(const std::vector<Interval>& ready) {
    std::vector<std::vector<const Interval*>> of_kind(builder_.kinds());
    for (const Interval& interval : ready) {
      if (!wanted(interval.kind)) {
        continue;
      }
      if (stream_.skips(interval.begin, options_.skip_ns)) {
        ++skipped_;
      } else {
        of_kind[interval.kind].push_back(&interval);
      }
    }
    if (kinds_.size() < of_kind.size()) {
      kinds_.resize(of_kind.size());
    }
    for (uint32_t kind = 0; kind < of_kind.size(); ++kind) {
      if (of_kind[kind].empty()) {
        continue;
      }
      if (kinds_[kind] == nullptr) {
        kinds_[kind] = std::make_unique<KindCollector>(kind, stream_.window(), sites_, links_,
                                                       crew_, stream_.begin());
      }
      kinds_[kind]->add(of_kind[kind], builder_.labels());
    }
  }

  std::vector<Account> finish() {
    Losses losses;
    Overhead overhead;
    stream_.add_losses(losses, overhead);
    if (builder_.given_up() != 0) {
      losses.notes.push_back(fmt::format(
          "{} intervals were given up: more than {} records stand between their begin and end",
          builder_.given_up(), kMostHeld));
    }
    if (skipped_ != 0) {
      losses.notes.push_back(
          fmt::format("{} intervals of the first {:.3g} s were left out (--skip)", skipped_,
                      static_cast<double>(options_.skip_ns) / 1e9));
    }
    std::vector<Account> accounts;
    const size_t kinds = std::max<size_t>({1, sites_.intervals.size(), builder_.kinds()});
    for (uint32_t kind = 0; kind < kinds; ++kind) {
      Account account;
      if (kind < kinds_.size() && kinds_[kind] != nullptr) {
        account = kinds_[kind]->finish(stream_.run());
      }
      account.interval = sites_.interval_name(kind);
      account.incomplete = builder_.incomplete(kind);
      const Losses found = account.losses;
      account.losses = losses;
      account.losses.exact_edges = found.exact_edges;
      account.losses.inferred_edges = found.inferred_edges;
      account.losses.outside_waits = found.outside_waits;
      account.losses.unmatched_waits = found.unmatched_waits;
      account.losses.notes.insert(account.losses.notes.end(), found.notes.begin(),
                                  found.notes.end());
      account.overhead = overhead;
      accounts.push_back(std::move(account));
    }
    return accounts;
  }

  TraceStream& stream_;
  const Sites& sites_;
  const Options& options_;
  Crew crew_;
  IntervalBuilder builder_;
  Links links_;
  uint64_t skipped_ = 0;
  std::vector<std::unique_ptr<KindCollector>> kinds_;
};

/// The kind asked for, or the one that completed most often.
Result<Account> choose(std::vector<Account> accounts, const std::string& trace_dir,
                       const std::string& wanted) {
  auto chosen =
      std::max_element(accounts.begin(), accounts.end(),
                       [](const Account& a, const Account& b) { return a.count() < b.count(); });
  if (!wanted.empty()) {
    std::string names;
    for (const Account& account : accounts) {
      names += (names.empty() ? "" : ", ") + account.interval;
    }
    chosen = std::find_if(accounts.begin(), accounts.end(),
                          [&](const Account& account) { return account.interval == wanted; });
    if (chosen == accounts.end()) {
      return fail("no interval is named '{}'; there are: {}", wanted, names);
    }
  }
  if (chosen->count() == 0) {
    return fail(ErrorKind::kNoInterval,
                "{}: no completed interval '{}' ({} incomplete); was it annotated, and did the "
                "workload reach it?",
                trace_dir, chosen->interval, chosen->incomplete);
  }
  return std::move(*chosen);
}

Result<Account> collect(const std::string& trace_dir, const std::string& sites_json,
                        const Options& options) {
  const auto sites = VPROF_TRY(read_sites(sites_json));
  auto stream = VPROF_TRY(TraceStream::open(trace_dir, sites));
  return choose(Pass(stream, sites, options).run(), trace_dir, options.interval);
}

Profile profile_of(const Account& account, const Options& options) {
  const VarianceTree tree = make_variance_tree(account);
  Profile profile;
  profile.k = options.k;
  profile.threshold = options.threshold;
  profile.interval = summarize(account);
  profile.factors = rank_factors(tree, account.batches, account.samples, options);
  profile.tree = to_public(tree);
  profile.losses = account.losses;
  profile.overhead = account.overhead;
  note_reliability(account, profile.interval, profile.losses.notes);
  profile.sums = to_bytes(account);
  return profile;
}

}  // namespace

Result<Profile> analyze(const std::string& trace_dir, const std::string& sites_json,
                        const Options& options) {
  const auto account = VPROF_TRY(collect(trace_dir, sites_json, options));
  return profile_of(account, options);
}

Result<Profile> merge(const std::vector<std::string>& profiles, const Options& options,
                      const std::vector<std::string>& names) {
  const auto name = [&](size_t i) { return i < names.size() ? names[i] : std::to_string(i + 1); };
  AccountSum sum;
  std::string interval;
  for (size_t i = 0; i < profiles.size(); ++i) {
    const auto account = from_bytes(profiles[i]);
    if (!account) {
      return fail("{}: {}", name(i), account.error().message);
    }
    if (profiles.size() == 1) {  // not a sum: the same Profile as analyze() returned
      return profile_of(*account, options);
    }
    if (i != 0 && account->interval != interval) {
      return fail("{}: it is of the interval '{}', the first of '{}'", name(i), account->interval,
                  interval);
    }
    interval = account->interval;
    sum.add(*account);
  }
  if (profiles.empty()) {
    return fail("no profiles to merge");
  }
  return profile_of(sum.finish(), options);
}

}  // namespace vprof::analyzer
