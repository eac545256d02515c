// Ctrl-C: the first asks the running step to stop, the second kills it at once. Ctrl-Z stops the
// running command together with vprof, and `fg` or `bg` lets both go on.
//
// State on disk is replaced atomically after each step, so dying at any moment loses at most the
// current step.
#pragma once

#include <sys/types.h>

namespace vprof::driver::interrupt {

/// Handles SIGINT, SIGTERM, SIGHUP and SIGTSTP from now on. main() calls it once, before it starts
/// a thread.
void install();

/// Whether one of them has arrived.
bool requested();

/// The exit code that a shell expects after that signal: 130 for Ctrl-C.
int exit_code();

/// Whether it was Ctrl-C that arrived.
bool by_ctrl_c();

/// As if none had arrived: the user meant the command that was running.
void forget();

/// Sets the process group that a second signal kills and that Ctrl-Z stops; 0: none.
void set_child_group(pid_t group);

/// For how long vprof has been stopped by Ctrl-Z, in all.
double stopped_s();

/// Somebody who has the whole terminal. Signal handlers call both, so they may do only what those
/// may.
struct TerminalUser {
  void (*leave)();      ///< before vprof stops or dies
  void (*come_back)();  ///< after it was stopped
};

/// From now on these leave the terminal as it was before vprof stops, or dies by a second signal;
/// nullptr: nobody does. `user` must live until another one is set.
void set_terminal_user(const TerminalUser* user);

/// While one exists, the first signal ends the program immediately: for long computations that have
/// no side effects before they end.
class DieAtOnce {
 public:
  DieAtOnce();
  ~DieAtOnce();
  DieAtOnce(const DieAtOnce&) = delete;
  DieAtOnce& operator=(const DieAtOnce&) = delete;
};

}  // namespace vprof::driver::interrupt
