// What somebody who looks at a live search asks of it, and what that changes.
#pragma once

#include "search/live/epoch.h"
#include "search/live/screen/onlooker.h"
#include "search/policy.h"
#include "workspace/session.h"

namespace vprof::driver {

/// The search asks it what to do next before it decides by itself. Without an onlooker nobody ever
/// wishes anything.
class Guidance {
 public:
  Guidance(Session& session, const instrumenter::Program& program, Onlooker* onlooker)
      : session_(session), program_(program), onlooker_(onlooker) {}

  /// Takes what was asked for since the last call. Returns whether there was anything.
  bool take(const analyzer::Profile* measured);
  /// What the present epoch is to do about it.
  Pace pace() const;

  /// What to break down in the next iteration; nothing: the policy decides. Forgets it.
  Decision take_decision();
  /// Ids of the factors that take_decision() will break down.
  const std::vector<std::string>& next() const { return next_; }
  bool wants_to_stop() const { return stop_; }

 private:
  /// What became of the wish, in words.
  std::string fulfil(const Wish& wish, const analyzer::Factor& factor,
                     const analyzer::Profile& measured);
  std::string expand_next(const analyzer::Factor& factor, const analyzer::Profile& measured);

  Session& session_;
  const instrumenter::Program& program_;
  Onlooker* const onlooker_;
  Decision decision_;
  std::vector<std::string> next_;
  bool stop_ = false;
};

}  // namespace vprof::driver
