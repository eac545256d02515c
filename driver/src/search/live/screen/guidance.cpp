#include "search/live/screen/guidance.h"

#include <algorithm>
#include <utility>

#include "process/commands.h"
#include "search/expansion.h"
#include "search/live/screen/status.h"

namespace vprof::driver {

namespace {

/// Takes a decision of the user, or takes it back if it was taken already. Returns whether it
/// stands.
bool toggle(std::vector<DecidedFactor>& list, const analyzer::Factor& factor) {
  const auto same = [id = factor_id(factor)](const DecidedFactor& one) { return one.id == id; };
  const auto known = std::ranges::find_if(list, same);
  if (known != list.end() && known->by_user) {
    list.erase(known);
    return false;
  }
  std::erase_if(list, same);  // the search may find another answer, the user has decided
  list.push_back(decided(factor));
  list.back().by_user = true;
  return true;
}

void forget(std::vector<DecidedFactor>& list, const analyzer::Factor& factor) {
  std::erase_if(list, [id = factor_id(factor)](const DecidedFactor& one) { return one.id == id; });
}

}  // namespace

bool Guidance::take(const analyzer::Profile* measured) {
  if (onlooker_ == nullptr) {
    return false;
  }
  const std::vector<Wish> wishes = onlooker_->take_wishes();
  for (const Wish& wish : wishes) {
    if (wish.what == Wish::What::kQuit) {
      stop_ = true;
      continue;
    }
    const analyzer::Factor* factor =
        measured == nullptr ? nullptr : factor_with(*measured, wish.factor);
    onlooker_->answer(factor == nullptr ? "this factor is not there any more"
                                        : fulfil(wish, *factor, *measured));
  }
  return !wishes.empty();
}

std::string Guidance::fulfil(const Wish& wish, const analyzer::Factor& factor,
                             const analyzer::Profile& measured) {
  State& state = session_.state;
  const std::string name = factor_name(factor);
  std::string text;
  if (wish.what == Wish::What::kExpand) {
    text = expand_next(factor, measured);
  } else if (wish.what == Wish::What::kAccept) {
    forget(state.set_aside, factor);
    text = name + (toggle(state.selected, factor) ? ": accepted as an answer" : ": open again");
  } else {
    forget(state.selected, factor);
    text = name + (toggle(state.set_aside, factor) ? ": set aside" : ": open again");
  }
  if (const auto saved = session_.save(); !saved) {
    warn(saved.error().message);
  }
  return text;
}

std::string Guidance::expand_next(const analyzer::Factor& factor,
                                  const analyzer::Profile& measured) {
  const std::string id = factor_id(factor);
  const std::string name = factor_name(factor);
  if (std::ranges::find(next_, id) != next_.end()) {
    return name + " comes next already";
  }
  const std::vector<std::string> keys = expandable_keys(measured, factor, program_, session_.state);
  if (keys.empty()) {
    return name + " cannot be broken down further";
  }
  forget(session_.state.selected, factor);
  forget(session_.state.set_aside, factor);
  expand(decision_, factor, keys);
  next_.push_back(id);
  return name + " comes next; this epoch ends";
}

Pace Guidance::pace() const {
  if (stop_) {
    return Pace::kStop;
  }
  return next_.empty() ? Pace::kGoOn : Pace::kEndEpoch;
}

Decision Guidance::take_decision() {
  next_.clear();
  Decision decision = std::exchange(decision_, {});
  const auto is_expanded = [&](const std::string& key) {
    const std::vector<std::string>& all = session_.state.expanded;
    return std::ranges::find(all, key) != all.end();
  };
  std::erase_if(decision.expand, is_expanded);
  std::erase_if(decision.open_ended, is_expanded);
  return decision;
}

}  // namespace vprof::driver
