// Ctrl-C: the first one asks the running step to stop, the second one kills at once.
//
// State on disk is replaced atomically after each step, so dying at any moment loses at most the
// step under way.
#pragma once

#include <sys/types.h>

namespace vprof::driver::interrupt {

/// Takes over SIGINT, SIGTERM and SIGHUP; called once by main() before any thread is made.
void install();

/// Whether one of them has come.
bool requested();

/// What the shell expects of a program ended by that signal: 130 for Ctrl-C.
int exit_code();

/// The process group that a second signal kills; 0: none.
void set_child_group(pid_t group);

/// While one of these lives the first signal ends the program on the spot: for long computations of
/// our own, which have no side effects before they end.
class DieAtOnce {
 public:
  DieAtOnce();
  ~DieAtOnce();
  DieAtOnce(const DieAtOnce&) = delete;
  DieAtOnce& operator=(const DieAtOnce&) = delete;
};

}  // namespace vprof::driver::interrupt
