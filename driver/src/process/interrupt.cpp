#include "process/interrupt.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string_view>

namespace vprof::driver::interrupt {

namespace {

// Lock-free atomics are the only state that a signal handler may share.
std::atomic<int> g_signal{0};
std::atomic<pid_t> g_group{0};
std::atomic<int> g_die_at_once{0};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<pid_t>::is_always_lock_free);

std::atomic<int64_t> g_stopped_ns{0};
static_assert(std::atomic<int64_t>::is_always_lock_free);

std::atomic<const TerminalUser*> g_terminal_user{nullptr};
static_assert(std::atomic<const TerminalUser*>::is_always_lock_free);

void leave_terminal() {
  if (const TerminalUser* user = g_terminal_user.load(); user != nullptr) {
    user->leave();
  }
}

void say(std::string_view text) {
  // If the terminal is gone, a handler can do nothing about it.
  [[maybe_unused]] const ssize_t unused = ::write(STDERR_FILENO, text.data(), text.size());
}

void handle(int signal) {
  const int saved = errno;
  const bool first = g_signal.exchange(signal) == 0;
  const pid_t group = g_group.load();
  if (!first && group > 0) {
    ::kill(-group, SIGKILL);
  }
  if (g_die_at_once.load() > 0 || (!first && group <= 0)) {
    leave_terminal();
    say("\nvprof: interrupted; run the same command again to resume\n");
    ::_exit(128 + signal);
  }
  errno = saved;
}

int64_t now_ns() {
  struct timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

/// The running command is in a process group of its own, which the terminal does not stop. The
/// signal must still stop us as it would without a handler: only the kernel knows whether anybody
/// could let us go on.
void stop(int signal) {
  const int saved = errno;
  const pid_t group = g_group.load();
  const int64_t from = now_ns();
  if (group > 0) {
    ::kill(-group, SIGSTOP);
  }
  leave_terminal();
  struct sigaction standard{};
  struct sigaction ours{};
  standard.sa_handler = SIG_DFL;
  sigemptyset(&standard.sa_mask);
  ::sigaction(signal, &standard, &ours);
  sigset_t open;
  sigset_t before;
  sigemptyset(&open);
  sigaddset(&open, signal);
  ::raise(signal);
  ::pthread_sigmask(SIG_UNBLOCK, &open, &before);  // we stop here
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::sigaction(signal, &ours, nullptr);
  if (group > 0) {
    ::kill(-group, SIGCONT);
  }
  g_stopped_ns.fetch_add(now_ns() - from);
  if (const TerminalUser* user = g_terminal_user.load(); user != nullptr) {
    user->come_back();
  }
  errno = saved;
}

}  // namespace

void install() {
  struct sigaction action{};
  action.sa_handler = handle;  // no SA_RESTART: a signal must interrupt a prompt
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before{};
    ::sigaction(signal, nullptr, &before);
    // nohup, or a shell that starts a background job, ignores the signal on purpose.
    if (before.sa_handler != SIG_IGN) {
      ::sigaction(signal, &action, nullptr);
    }
  }
  action.sa_handler = stop;
  action.sa_flags = SA_RESTART;  // what we were doing goes on after `fg`
  struct sigaction before{};
  ::sigaction(SIGTSTP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) {
    ::sigaction(SIGTSTP, &action, nullptr);
  }
  ::signal(SIGPIPE, SIG_IGN);
}

bool requested() { return g_signal.load() != 0; }

int exit_code() { return 128 + g_signal.load(); }

bool by_ctrl_c() { return g_signal.load() == SIGINT; }

void forget() { g_signal.store(0); }

void set_child_group(pid_t group) { g_group.store(group); }

double stopped_s() { return static_cast<double>(g_stopped_ns.load()) / 1e9; }

void set_terminal_user(const TerminalUser* user) { g_terminal_user.store(user); }

DieAtOnce::DieAtOnce() { g_die_at_once.fetch_add(1); }

DieAtOnce::~DieAtOnce() { g_die_at_once.fetch_sub(1); }

}  // namespace vprof::driver::interrupt
