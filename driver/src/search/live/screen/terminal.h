// The terminal while it shows a screen: its modes, what is drawn, its keys. The only part that
// knows ncurses.
//
// The terminal is as it was before whenever vprof does not show a screen: after it, while Ctrl-Z
// has stopped vprof, and when vprof is killed by a signal that can be handled.
#pragma once

#include <memory>

#include "search/live/screen/keys.h"
#include "vprof/report/live_screen.h"

namespace vprof::driver {

/// At most one exists at a time. All but open(), the destructor and wake() belong to one thread,
/// which must block the signals that block_signals() blocks.
class ScreenTerminal {
 public:
  /// Null: standard input and output are no terminal that can show a screen, or vprof is in the
  /// background.
  static std::unique_ptr<ScreenTerminal> open();
  virtual ~ScreenTerminal() = default;

  /// As of now.
  virtual report::ScreenSize size() = 0;
  /// Does nothing while vprof is in the background.
  virtual void draw(const std::vector<report::ScreenLine>& lines) = 0;
  /// Waits for a key or for wake(), at most `milliseconds`.
  virtual void wait(int milliseconds) = 0;
  /// The next key that was pressed; kNone: there is none.
  virtual KeyPress read() = 0;
  virtual void wake() = 0;

  /// Leaves the handling of signals to other threads, but for crashes of the calling one.
  static void block_signals();
};

}  // namespace vprof::driver
