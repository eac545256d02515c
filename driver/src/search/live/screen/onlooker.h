// Between a live search and somebody who looks at it: what there is to see, and what they ask for.
// The search never waits for an onlooker.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "vprof/analyzer/analyzer.h"
#include "vprof/report/live_screen.h"
#include "vprof/support/files.h"

namespace vprof::driver {

/// What a key asks of the search.
struct Wish {
  enum class What : uint8_t { kExpand, kAccept, kSetAside, kQuit };
  What what = What::kQuit;
  std::string factor;  ///< factor_id(); of kQuit: empty
};

/// What was measured last, and where single intervals of it are.
struct Measured {
  std::shared_ptr<const analyzer::Profile> profile;  ///< null: nothing yet
  fs::path trace, sites_json;
};

class Onlooker {
 public:
  virtual ~Onlooker() = default;

  /// `status` is as of now; the onlooker lets its clocks go on.
  virtual void show(const report::LiveStatus& status, const Measured& measured) = 0;
  /// What became of a wish, in words.
  virtual void answer(const std::string& text) = 0;
  /// What was asked for since the last call.
  virtual std::vector<Wish> take_wishes() = 0;
};

}  // namespace vprof::driver
