// The screen of `vprof live`: drawn and listened to by a thread of its own, so that the search
// never waits for it.
//
//   search ── show(), answer() ──▶ ┌─────────────┐ ──▶ lines ──▶ terminal
//   search ◀── take_wishes() ───── │ this thread │ ◀── keys ──── terminal
//   say(), warn() ── log ────────▶ └─────────────┘
#pragma once

#include <memory>

#include "search/live/screen/onlooker.h"
#include "vprof/instrumenter/program.h"
#include "workspace/session.h"

namespace vprof::driver {

class LiveScreen : public Onlooker {
 public:
  /// Null: standard input and output are no terminal that can show a screen. While one exists,
  /// what say() and warn() are given is shown on it, and printed when it ends.
  /// @param session only what does not change during the search is read
  static std::unique_ptr<LiveScreen> open(const Session& session,
                                          const instrumenter::Program& program);
};

}  // namespace vprof::driver
