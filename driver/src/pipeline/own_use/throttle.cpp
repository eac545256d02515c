#include "pipeline/own_use/throttle.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>

#include "process/interrupt.h"

namespace vprof::driver {

namespace {

constexpr int64_t kSecond = 1'000'000'000;  // ns
/// Of processor time between two rests. The kernel looks at its timers at each tick, so it is
/// rather 4 ms, or 10.
constexpr long kBetweenRests = 2'000'000;
/// The thread may hold a lock that another one wants, such as the heartbeat.
constexpr int64_t kLongestRest = kSecond;
/// So that Ctrl-C does not take long, whichever thread its signal goes to.
constexpr int64_t kLongestNap = 50'000'000;

// What the handler uses.
std::atomic<double> rest_for_each{0};  // ns of rest for each of work
std::atomic<int64_t> worked{0};        // processor time of the thread at the last rest, ns

int64_t now(clockid_t clock) {
  struct timespec time{};
  ::clock_gettime(clock, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

void nap(int64_t ns) {
  const struct timespec time{ns / kSecond, ns % kSecond};
  ::nanosleep(&time, nullptr);
}

/// Where the thread happens to be; calls nothing that may not be called there.
void rest(int) {
  const int errno_before = errno;
  const int64_t work = now(CLOCK_THREAD_CPUTIME_ID);
  const double wanted = static_cast<double>(work - worked) * rest_for_each;
  const auto ns = static_cast<int64_t>(std::min(wanted, static_cast<double>(kLongestRest)));
  worked = work;
  const int64_t end = now(CLOCK_MONOTONIC) + ns;
  for (int64_t left = ns; left > 0 && !interrupt::requested(); left = end - now(CLOCK_MONOTONIC)) {
    nap(std::min(left, kLongestNap));
  }
  errno = errno_before;
}

int rest_signal() { return SIGRTMIN + 1; }

}  // namespace

Throttle::Throttle(double processors) {
  limit(processors);
  worked = now(CLOCK_THREAD_CPUTIME_ID);
  struct sigaction action{};
  action.sa_handler = rest;
  action.sa_flags = SA_RESTART;
  struct sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = rest_signal();
  event._sigev_un._tid = ::gettid();
  is_set_ = ::sigaction(rest_signal(), &action, nullptr) == 0 &&
            ::timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) == 0;
  if (is_set_) {
    const struct itimerspec every{{0, kBetweenRests}, {0, kBetweenRests}};
    ::timer_settime(timer_, 0, &every, nullptr);
  }
}

Throttle::~Throttle() {
  if (is_set_) {
    ::timer_delete(timer_);
  }
  limit(1);  // a signal may have arrived meanwhile
}

void Throttle::limit(double processors) {
  rest_for_each = 1 / std::clamp(processors, 1e-6, 1.0) - 1;
}

}  // namespace vprof::driver
